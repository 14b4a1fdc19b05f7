import type { FastifyReply } from 'fastify'
import { connect, type Sql } from '../../postgres/connect.ts'
import { ApiError } from '../shared/errors.ts'
import { because } from '../../core/reasons.ts'

/** Concurrent imports and exports; each uses one connection. */
const RUNNING_MAX = 2
const WAITING_MAX = 20
/** Shorter than the request time limit, so that the caller gets this specific error. */
const WAIT_TIMEOUT_MS = 5_000
/** A connection that went silent must not occupy a slot forever. */
const TIME_LIMIT_MS = 60 * 60 * 1000

/** Runs imports and exports, few at a time, and aborts them when their response ends. */
export interface FileWork {
  /** Rejects with `overloaded` if no slot becomes free in time. */
  run<T>(reply: FastifyReply, work: (sql: Sql) => Promise<T>): Promise<T>
  end(options?: { timeoutMs?: number }): Promise<void>
}

export function openFileWork(databaseUrl: string, { isStandbyAllowed = false } = {}): FileWork {
  const pool = connect(databaseUrl, {
    connectionsMax: RUNNING_MAX,
    name: 'imports and exports',
    timeLimitMs: TIME_LIMIT_MS,
    isStandbyAllowed,
  })
  const waiting = new Set<() => void>()
  let running = 0

  /** Resolves when a slot may be free, after the timeout, or when the response has ended. */
  function waitForSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => {
        clearTimeout(timer)
        waiting.delete(stop)
        resolve()
      }
      const timer = setTimeout(stop, WAIT_TIMEOUT_MS)
      signal.addEventListener('abort', stop, { once: true })
      waiting.add(stop)
    })
  }

  return {
    async run(reply, work) {
      const signal = responseEndSignal(reply)
      if (running >= RUNNING_MAX && waiting.size < WAITING_MAX) await waitForSlot(signal)
      signal.throwIfAborted()
      if (running >= RUNNING_MAX) throw busyError()
      running += 1
      try {
        return await work(pool.until(signal))
      } finally {
        running -= 1
        const [next] = waiting
        next?.()
      }
    },
    end: pool.end,
  }
}

/** Aborts when the response has been sent or the client has disconnected; nobody needs the work after that. */
function responseEndSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // No client is left to receive the error, and a 4xx error is not logged.
  const abort = () => controller.abort(new ApiError('request_timeout'))
  if (raw.closed) abort()
  else raw.once('close', abort)
  return controller.signal
}

function busyError(): ApiError {
  return new ApiError('overloaded', {
    reason: because('files_busy', { max: RUNNING_MAX }),
    headers: { 'retry-after': '30' },
  })
}
