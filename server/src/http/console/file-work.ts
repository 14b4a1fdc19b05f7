import type { FastifyReply } from 'fastify'
import { connect, type Sql } from '../../postgres/connect.ts'
import { ApiError } from '../shared/errors.ts'
import { because } from '../../core/reasons.ts'

/** Concurrent imports and exports; each uses one connection. */
const RUNNING_MAX = 3
/**
 * Of these for one community, with the test communities made from it, or for one partner: a download that nobody reads
 * must not keep others from theirs.
 */
const OWNER_MAX = 2
const WAITING_MAX = 20
/** Shorter than the request time limit, so that the caller gets this specific error. */
const WAIT_TIMEOUT_MS = 5_000
/** A connection that went silent must not occupy a slot forever. */
const TIME_LIMIT_MS = 60 * 60 * 1000

/** Runs imports and exports, few at a time, and aborts them when their response ends. */
export interface FileWork {
  /** Rejects with `overloaded` if no slot becomes free in time. The owner is the community or partner. */
  run<T>(reply: FastifyReply, owner: string, work: (sql: Sql) => Promise<T>): Promise<T>
  end(options?: { timeoutMs?: number }): Promise<void>
}

export function openFileWork(databaseUrl: string, { isStandbyAllowed = false } = {}): FileWork {
  const pool = connect(databaseUrl, {
    connectionsMax: RUNNING_MAX,
    name: 'imports and exports',
    timeLimitMs: TIME_LIMIT_MS,
    isStandbyAllowed,
  })
  const waiting = new Set<{ owner: string; stop: () => void }>()
  /** The owner of each that is running. */
  const running: string[] = []

  const isOwnerBusy = (owner: string) => running.filter((one) => one === owner).length >= OWNER_MAX

  function isFree(owner: string): boolean {
    return running.length < RUNNING_MAX && !isOwnerBusy(owner)
  }

  /** Resolves when a slot may be free, after the timeout, or when the response has ended. */
  function waitForSlot(owner: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => {
        clearTimeout(timer)
        waiting.delete(one)
        resolve()
      }
      const one = { owner, stop }
      const timer = setTimeout(stop, WAIT_TIMEOUT_MS)
      signal.addEventListener('abort', stop, { once: true })
      waiting.add(one)
    })
  }

  return {
    async run(reply, owner, work) {
      const signal = responseEndSignal(reply)
      if (!isFree(owner) && waiting.size < WAITING_MAX) await waitForSlot(owner, signal)
      signal.throwIfAborted()
      if (!isFree(owner)) throw busyError(isOwnerBusy(owner))
      running.push(owner)
      try {
        return await work(pool.until(signal))
      } finally {
        running.splice(running.indexOf(owner), 1)
        const next = [...waiting].find((one) => isFree(one.owner))
        next?.stop()
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

function busyError(isOwn: boolean): ApiError {
  return new ApiError('overloaded', {
    // Whose the others are is nobody's business.
    ...(isOwn && { reason: because('files_busy', { max: OWNER_MAX }) }),
    headers: { 'retry-after': '30' },
  })
}
