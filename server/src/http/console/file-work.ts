import type { FastifyReply } from 'fastify'
import { connect, type Sql } from '../../postgres/connect.ts'
import { ApiError } from '../shared/errors.ts'

/** Imports and exports at once, each on a connection of its own. */
const RUNNING_MAX = 2
const WAITING_MAX = 20
/** Shorter than the time limit of a request, so that the caller gets this reason and not a general one. */
const WAIT_MS = 5_000
/** A connection that went silent must not take a place for ever. */
const TIME_LIMIT_MS = 60 * 60 * 1000

/** Imports and exports: few at a time, and ended together with the response they are for. */
export interface FileWork {
  /** Rejects with `overloaded` when no place gets free in time. */
  run<T>(reply: FastifyReply, work: (sql: Sql) => Promise<T>): Promise<T>
  end(options?: { timeoutMs?: number }): Promise<void>
}

export function openFileWork(databaseUrl: string): FileWork {
  const pool = connect(databaseUrl, {
    connectionsMax: RUNNING_MAX,
    name: 'imports and exports',
    timeLimitMs: TIME_LIMIT_MS,
  })
  const waiting = new Set<() => void>()
  let running = 0

  /** Resolves when there is a place, or when it is pointless to wait on. */
  function waitForPlace(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => {
        clearTimeout(timer)
        waiting.delete(stop)
        resolve()
      }
      const timer = setTimeout(stop, WAIT_MS)
      signal.addEventListener('abort', stop, { once: true })
      waiting.add(stop)
    })
  }

  return {
    async run(reply, work) {
      const signal = endOfResponse(reply)
      if (running >= RUNNING_MAX && waiting.size < WAITING_MAX) await waitForPlace(signal)
      signal.throwIfAborted()
      if (running >= RUNNING_MAX) throw busy()
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

/** Aborted when the response has been sent or its receiver is gone: either way nobody needs the work any longer. */
function endOfResponse({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // Nobody is left to read it; as a failure of the caller it is not logged.
  const abort = () => controller.abort(new ApiError('request_timeout'))
  if (raw.closed) abort()
  else raw.once('close', abort)
  return controller.signal
}

function busy(): ApiError {
  return new ApiError('overloaded', {
    description: `${RUNNING_MAX} other imports or exports are running. Try again when one of them has finished.`,
    headers: { 'retry-after': '30' },
  })
}
