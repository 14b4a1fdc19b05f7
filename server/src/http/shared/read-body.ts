import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import { parseForm } from './form.ts'
import { repeatsKey } from './json-keys.ts'

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/gi
const UTF8_NAMES = new Set(['utf-8', 'utf8'])

/** Replaces Fastify's body parsers: only JSON is accepted, in valid UTF-8 and without repeated keys. */
export function acceptJson(app: FastifyInstance): void {
  // Fastify's parser also rejects prototype pollution and skips a byte order mark (RFC 8259 section 8.1).
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // Many clients send this type with every call, also with one that has no body.
    if (bytes.length === 0 && !request.routeOptions.schema?.body) return done(null, undefined)
    const text = readText(request, bytes)
    parse(request, text, (error, value) => {
      if (error === null && repeatsKey(text, value)) {
        done(invalid('An object in the JSON body has the same key more than once.'), undefined)
      } else done(error, value)
    })
  })
}

export function acceptForms(app: FastifyInstance, contentType: string): void {
  app.addContentTypeParser<Buffer>(contentType, { parseAs: 'buffer' }, (request, bytes, done) => {
    done(null, parseForm(readText(request, bytes)))
  })
}

/** Decoding would replace invalid bytes, so texts that differ only in those would become equal. */
function readText(request: FastifyRequest, bytes: Buffer): string {
  requireUtf8Charset(request)
  if (!isUtf8(bytes)) throw invalid('The body is not valid UTF-8.')
  return bytes.toString()
}

export function requireUtf8Charset({ headers }: FastifyRequest): void {
  const contentType = headers['content-type']
  if (!contentType?.includes(';')) return
  for (const [, quoted, plain] of contentType.matchAll(CHARSET)) {
    if (UTF8_NAMES.has((quoted ?? plain!).toLowerCase())) continue
    throw new ApiError('unsupported_media_type', { description: 'Send the body in UTF-8.' })
  }
}

function invalid(description: string): ApiError {
  return new ApiError('invalid_request', { description })
}
