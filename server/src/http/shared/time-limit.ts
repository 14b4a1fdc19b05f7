import type { FastifyInstance, FastifyReply } from 'fastify'
import { createSlots } from '../../core/slots.ts'
import { ApiError } from './errors.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** As long as it is owed. */
    open: Open | undefined
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
  slot: number
  reply: FastifyReply
  deadlineMs: number
  withinMs: number
}

/**
 * An answer within the limit, come what may. Not Fastify's handlerTimeout: its timer ends with the request's 'close',
 * which Node emits as soon as a body has been read, so that it never holds for a POST. One timer looks at all that is
 * open, instead of a timer and a listener for each request.
 */
export function answerInTime(app: FastifyInstance, limitMs: number): void {
  const slots = createSlots<Open>()

  app.decorateReply('open', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    const withinMs = request.routeOptions.config?.answerWithinMs ?? limitMs
    const open = { slot: -1, reply, deadlineMs: performance.now() + withinMs, withinMs }
    open.slot = slots.add(open)
    reply.open = open
    done()
  })
  app.addHook('onResponse', (_request, { open }, done) => {
    if (open) slots.remove(open.slot, open)
    done()
  })

  function look(): void {
    const nowMs = performance.now()
    slots.forEach((open) => {
      const { slot, reply, deadlineMs, withinMs } = open
      // Whoever has hung up is not told of by onResponse.
      const isGone = reply.raw.closed
      if (!isGone && nowMs < deadlineMs) return
      slots.remove(slot, open)
      if (!isGone) giveUp(reply, withinMs)
    })
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
