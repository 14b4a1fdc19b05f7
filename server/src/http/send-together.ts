import type { FastifyInstance } from 'fastify'
import { gatherForTurn } from '../end-of-turn.ts'

/** The answers that are found in one turn of the event loop go out at its end. */
export function sendTogether(app: FastifyInstance): void {
  const atEndOfTurn = gatherForTurn()
  app.addHook('onSend', (_request, reply, payload, done) => {
    atEndOfTurn(() => {
      // Its time was up in this very turn, and it has been told so.
      if (!reply.raw.headersSent) done(null, payload)
    })
  })
}
