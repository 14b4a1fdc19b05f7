import type { FastifyInstance } from 'fastify'
import { ApiError } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For what an administrator asks that takes long, and waits for. */
    answerWithinMs?: number
  }
}

/** As long as the console waits for a change. */
export const LONG_WORK_MS = 120_000

/**
 * An answer within the limit, come what may. Not Fastify's handlerTimeout: its timer ends with the request's 'close',
 * which Node emits as soon as a body has been read, so that it never holds for a POST.
 */
export function answerInTime(app: FastifyInstance, limitMs: number): void {
  app.addHook('onRequest', (request, reply, done) => {
    const withinMs = request.routeOptions.config?.answerWithinMs ?? limitMs
    const timer = setTimeout(() => {
      if (reply.sent || reply.raw.headersSent) return
      const cause = new Error(`no answer within ${withinMs} ms`)
      reply.send(
        request.raw.complete
          ? new ApiError('unavailable', { cause })
          : new ApiError('request_timeout', { cause, headers: { connection: 'close' } }),
      )
    }, withinMs)
    reply.raw.once('close', () => clearTimeout(timer))
    done()
  })
}
