import type { FastifyInstance } from 'fastify'
import { createEndOfTurnQueue } from '../../core/end-of-turn.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** The response is ready and waits for the end of the event loop turn. */
    isAnswered: boolean | undefined
  }
}

const ERROR_STATUS_MIN = 400

/**
 * Sends all responses of one event loop turn together at its end. Errors are sent immediately: after a timeout
 * response, a late result in the same turn must find that headers were already sent.
 */
export function sendTogether(app: FastifyInstance): void {
  const atEndOfTurn = createEndOfTurnQueue()
  app.decorateReply('isAnswered')
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode >= ERROR_STATUS_MIN) return done(null, payload)
    reply.isAnswered = true
    atEndOfTurn(() => {
      // An error may have been sent first.
      if (!reply.raw.headersSent) done(null, payload)
    })
  })
}
