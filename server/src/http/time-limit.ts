import type { FastifyInstance, FastifyReply } from 'fastify'
import { ApiError } from './errors.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Its place among what is open. */
    slot: number
  }
  interface FastifyContextConfig {
    /** For what an administrator asks that takes long, and waits for. */
    answerWithinMs?: number
  }
}

/** As long as the console waits for a change. */
export const LONG_WORK_MS = 120_000
/** How exactly the limit is kept: looked at so many times within it. */
const LOOKS_PER_LIMIT = 50

interface Open {
  reply: FastifyReply
  deadlineMs: number
  withinMs: number
}

/**
 * An answer within the limit, come what may. Not Fastify's handlerTimeout: its timer ends with the request's 'close',
 * which Node emits as soon as a body has been read, so that it never holds for a POST. One timer looks at all that is
 * open, instead of a timer and a listener for each request.
 *
 * What is open has a slot, not an entry in a Map: a Map that gains and loses an entry with each request leaves old tables
 * behind that point to newer ones, and keeps finished requests from being collected young (a fifth of the time of a
 * short request).
 */
export function answerInTime(app: FastifyInstance, limitMs: number): void {
  const slots: (Open | undefined)[] = []
  const free: number[] = []

  app.decorateReply('slot', -1)
  app.addHook('onRequest', (request, reply, done) => {
    const withinMs = request.routeOptions.config?.answerWithinMs ?? limitMs
    reply.slot = free.pop() ?? slots.length
    slots[reply.slot] = { reply, deadlineMs: performance.now() + withinMs, withinMs }
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    leave(reply)
    done()
  })

  function leave(reply: FastifyReply): void {
    if (slots[reply.slot]?.reply !== reply) return
    slots[reply.slot] = undefined
    free.push(reply.slot)
  }

  function look(): void {
    const nowMs = performance.now()
    for (const open of slots) {
      if (!open) continue
      const { reply, deadlineMs, withinMs } = open
      // Whoever has hung up is not told of by onResponse.
      if (reply.raw.closed) leave(reply)
      else if (nowMs >= deadlineMs) {
        leave(reply)
        giveUp(reply, withinMs)
      }
    }
  }

  const timer = setInterval(look, Math.ceil(limitMs / LOOKS_PER_LIMIT)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

function giveUp(reply: FastifyReply, withinMs: number): void {
  if (reply.isAnswered || reply.sent || reply.raw.headersSent) return
  const cause = new Error(`no answer within ${withinMs} ms`)
  reply.send(
    reply.request.raw.complete
      ? new ApiError('unavailable', { cause })
      : new ApiError('request_timeout', { cause, headers: { connection: 'close' } }),
  )
}
