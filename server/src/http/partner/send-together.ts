import type { FastifyInstance } from 'fastify'
import { createEndOfTurnQueue } from '../../core/end-of-turn.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Found, and waits for the end of the turn. */
    isAnswered: boolean | undefined
  }
}

const ERROR_STATUS_MIN = 400

/**
 * The answers that are found in one turn of the event loop go out at its end. Errors go out at once: when the time for an
 * answer is up, what then comes in the same turn must find that it is too late.
 */
export function sendTogether(app: FastifyInstance): void {
  const atEndOfTurn = createEndOfTurnQueue()
  app.decorateReply('isAnswered')
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode >= ERROR_STATUS_MIN) return done(null, payload)
    reply.isAnswered = true
    atEndOfTurn(() => {
      // Else an error has overtaken it.
      if (!reply.raw.headersSent) done(null, payload)
    })
  })
}
