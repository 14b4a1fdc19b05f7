import type { FastifyInstance, RawRequestDefaultExpression } from 'fastify'
import { ApiError } from './errors.ts'
import { sendError } from './send-error.ts'

const ABSOLUTE = /^https?:\/\/([^/?#]*)\/?(.*)$/i

/**
 * For the option `rewriteUrl`. A proxy may send a whole address; its host counts then, instead of the Host header (RFC
 * 9112 section 3.2.2).
 */
export function toOriginForm({ url = '/', headers }: RawRequestDefaultExpression): string {
  const [, host, rest] = ABSOLUTE.exec(url) ?? []
  if (host === undefined) return url
  // A missing header is an error all the same.
  if (headers.host !== undefined) headers.host = host
  return `/${rest}`
}

/**
 * Rejects targets with a fragment, which HTTP does not know. The router ends the path there, but the call log, for
 * example, would store the rest. `headers` are those that every response has.
 */
export function rejectFragments(app: FastifyInstance, headers: Record<string, string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.url.includes('#')) return done()
    const description = 'The address has a fragment (#), which no request may have.'
    sendError(new ApiError('invalid_request', { description, headers }), request, reply)
  })
}
