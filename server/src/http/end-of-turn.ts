import type { FastifyInstance } from 'fastify'

/**
 * Answers go out at the end of the turn of the event loop in which they were found, all of them together. One by one,
 * between the requests, each would wake whoever reads it (on one machine, the proxy in front) for itself alone.
 */
export function answerAtEndOfTurn(app: FastifyInstance): void {
  let answers: (() => void)[] = []

  function send(): void {
    const found = answers
    answers = []
    for (const answer of found) answer()
  }

  app.addHook('onSend', (_request, reply, payload, done) => {
    const waiting = answers.push(() => {
      // Its time was up in this very turn, and it has been told so.
      if (!reply.raw.headersSent) done(null, payload)
    })
    if (waiting === 1) setImmediate(send)
  })
}
