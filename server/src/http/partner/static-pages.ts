import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { bestEncoding, COMPRESS_BYTES_MIN, encodeOnce } from '../shared/encoding.ts'
import { ApiError } from '../shared/errors.ts'
import { sendError } from '../shared/send-error.ts'
import { answerNotModified, entityTagOf } from './etag.ts'

/**
 * Prepares `app` for pages that people read at `/docs/`: a strict content security policy, 304 and 404. `more` allows
 * what a page needs beyond resources of our own.
 */
export async function prepareStaticPages(app: FastifyInstance, more: Record<string, string[]> = {}): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        ...more,
      },
    },
    // HSTS applies to the whole host, so it is up to the reverse proxy.
    strictTransportSecurity: false,
  })
  app.addHook('onSend', answerNotModified)
  app.setNotFoundHandler((request, reply) => sendError(new ApiError('not_found'), request, reply))
}

/**
 * Serves a text that does not change; it is read on the first request. Anybody may ask for it as often as they like, so it
 * is compressed and hashed only once. `/` means the prefix with a slash: without it, the relative links of the page would
 * lead elsewhere.
 */
export function serveText(app: FastifyInstance, path: string, type: string, read: () => string): void {
  const encoded = encodeOnce(async () => read())
  let tag: string | undefined
  const options = { schema: { hide: true }, prefixTrailingSlash: 'slash', compress: false } as const
  app.get(path, options, async (request, reply) => {
    const text = await encoded('identity')
    reply.entityTag = tag ??= entityTagOf(text)
    const isShort = text.length < COMPRESS_BYTES_MIN
    const encoding = isShort ? 'identity' : bestEncoding(request.headers['accept-encoding'])
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    reply.headers({ 'cache-control': 'no-cache', vary: 'accept-encoding' })
    return reply.type(type).send(await encoded(encoding))
  })
}
