import type { Logger } from 'pino'
import type { Counter } from 'prom-client'
import { insertCalls, type Call } from '../db/across-communities.ts'
import { isOutage, type Queries } from '../db/connect.ts'

const FLUSH_INTERVAL_MS = 250
/** Under load so many are written at once, without waiting: what is kept for longer has to be collected as old. */
const BATCH_MIN = 500
const BATCH_MAX = 1000
/** About ten seconds of a fully loaded node; beyond it calls are dropped and counted rather than kept without bound. */
const WAITING_MAX = 50_000

export interface CallLog {
  add(call: Call): void
  /** Writes what is waiting, then stops. */
  close(): Promise<void>
}

/** Written in batches off the request's path; a crash loses a second's worth at most. */
export function openCallLog(sql: Queries, log: Logger, dropped: Counter): CallLog {
  let waiting: Call[] = []
  let writing: Promise<void> | undefined
  let again = false

  /** As long as there are so many. */
  async function write(batchMin: number): Promise<void> {
    while (waiting.length >= batchMin) {
      const batch = waiting.slice(0, BATCH_MAX)
      try {
        await writeBatch(batch)
        again = false
      } catch (error) {
        again = true
        // Kept for the next try; the bound in add() holds meanwhile.
        log.warn({ err: error, waiting: waiting.length }, 'the call log could not be written')
        return
      }
      waiting = waiting.slice(batch.length)
    }
  }

  /** A call that the database refuses must not hold up all the others for ever: it is dropped, alone. */
  async function writeBatch(batch: Call[]): Promise<void> {
    try {
      await insertCalls(sql, batch, { again })
    } catch (error) {
      if (isOutage(error)) throw error
      again = true
      if (batch.length > 1) {
        for (const call of batch) await writeBatch([call])
      } else {
        dropped.inc()
        log.error({ err: error, requestId: batch[0]!.requestId }, 'a call could not be logged')
      }
    }
  }

  function flush(batchMin = 1): Promise<void> {
    writing ??= write(batchMin).finally(() => (writing = undefined))
    return writing
  }

  const timer = setInterval(() => flush(), FLUSH_INTERVAL_MS)

  return {
    add(call) {
      if (waiting.length >= WAITING_MAX) return dropped.inc()
      waiting.push(call)
      if (waiting.length === BATCH_MIN) void flush(BATCH_MIN)
    },
    async close() {
      clearInterval(timer)
      // The one under way may have taken its batch before the last calls came.
      await flush()
      await flush()
    },
  }
}
