import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

/**
 * An answer within the limit, come what may. Not Fastify's handlerTimeout: its timer ends with the request's 'close',
 * which Node emits as soon as a body has been read, so that it never holds for a POST.
 */
export function answerInTime(app: FastifyInstance, limitMs: number): void {
  app.addHook('onRequest', (request, reply, done) => {
    const timer = setTimeout(() => {
      if (reply.sent || reply.raw.headersSent) return
      const cause = new Error(`no answer within ${limitMs} ms`)
      reply.send(
        request.raw.complete
          ? new ApiError('unavailable', { cause })
          : new ApiError('request_timeout', { cause, headers: { connection: 'close' } }),
      )
    }, limitMs)
    reply.raw.once('close', () => clearTimeout(timer))
    done()
  })
}
