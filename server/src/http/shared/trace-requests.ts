import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Span, Tracing } from '../../core/tracing.ts'

const SERVER_ERROR_MIN = 500

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | undefined
  }
}

/**
 * A span per request, below the caller's `traceparent` if it sends one. It has the route, never the path or the query,
 * which name members and references.
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.decorateRequest('span', undefined)

  app.addHook('onRequest', (request, reply, done) => {
    const { config, url } = request.routeOptions
    // Probes and scrapes would be most of the traces.
    if (config?.anyHost) return done()
    const { traceparent } = request.headers
    const span = tracing.start(`${request.method} ${url ?? 'unknown route'}`, {
      kind: 'server',
      parent: typeof traceparent === 'string' ? traceparent : undefined,
      attributes: { 'http.request.method': request.method, 'http.route': url, 'hourbank.request_id': request.id },
    })
    if (!span) return done()
    request.span = span
    // There is no onResponse for a client that has disconnected. Ending twice changes nothing.
    reply.raw.once('close', () => span.end())
    span.run(done)
  })
  // Once a body has been read, the code runs in the context of the connection.
  app.addHook('preValidation', ({ span }, _reply, done) => (span ? span.run(done) : done()))
  app.addHook('onResponse', (request, reply, done) => {
    request.span?.end(describe(request, reply))
    done()
  })
}

function describe({ party, failure }: FastifyRequest, { statusCode }: FastifyReply) {
  return {
    'http.response.status_code': statusCode,
    'hourbank.community_id': party?.communityId,
    'hourbank.partner_id': party?.partnerId,
    'hourbank.error': failure?.code,
    'error.type': statusCode >= SERVER_ERROR_MIN ? `${statusCode}` : undefined,
  }
}
