import type { FastifyInstance, FastifyReply } from 'fastify'
import { createSlots } from '../../core/slots.ts'
import { ApiError } from './errors.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Set for every request. */
    open: OpenReply | undefined
  }
  interface FastifyContextConfig {
    /** A longer limit for slow operations: those that an administrator waits for, and large batches. */
    answerWithinMs?: number
  }
}

/** Matches the console's timeout for changes. */
export const LONG_WORK_MS = 120_000
/** Deadlines are checked this often per limit, so a response is at most 2 % late. */
const CHECKS_PER_LIMIT = 50

interface OpenReply {
  slot: number
  reply: FastifyReply
  deadlineMs: number
  withinMs: number
  /** The response was sent, or the client has disconnected; the handler may still be running. */
  isOver: boolean
  /** Called once when it is over. */
  whenOver: (() => void) | undefined
}

/**
 * Guarantees a response within the limit. Fastify's handlerTimeout does not: its timer ends with the request's 'close'
 * event, which Node emits as soon as the body has been read, so it never fires for a POST. One timer checks all open
 * replies, instead of a timer and a listener per request.
 */
export function answerInTime(app: FastifyInstance, limitMs: number): void {
  const slots = createSlots<OpenReply>()

  app.decorateReply('open', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    const withinMs = request.routeOptions.config?.answerWithinMs ?? limitMs
    const deadlineMs = performance.now() + withinMs
    const open = { slot: -1, reply, deadlineMs, withinMs, isOver: false, whenOver: undefined }
    open.slot = slots.add(open)
    reply.open = open
    done()
  })
  app.addHook('onResponse', (_request, { open }, done) => {
    if (open) close(open)
    done()
  })

  function close(open: OpenReply): void {
    slots.remove(open.slot, open)
    if (open.isOver) return
    open.isOver = true
    open.whenOver?.()
  }

  function checkDeadlines(): void {
    const nowMs = performance.now()
    slots.forEach((open) => {
      const { reply, deadlineMs, withinMs } = open
      // onResponse is not called when the client has disconnected.
      const isDisconnected = reply.raw.closed
      if (!isDisconnected && nowMs < deadlineMs) return
      close(open)
      if (!isDisconnected) sendTimeout(reply, withinMs)
    })
  }

  const timer = setInterval(checkDeadlines, Math.ceil(limitMs / CHECKS_PER_LIMIT)).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** Whether the client still waits for the response. */
export function isAwaited(reply: FastifyReply): boolean {
  return !reply.sent && !reply.raw.headersSent && !reply.raw.closed
}

function sendTimeout(reply: FastifyReply, withinMs: number): void {
  if (reply.sent || reply.raw.headersSent) return
  const cause = new Error(`no answer within ${withinMs} ms`)
  reply.send(
    reply.request.raw.complete
      ? new ApiError('unavailable', { cause })
      : new ApiError('request_timeout', { cause, headers: { connection: 'close' } }),
  )
}
