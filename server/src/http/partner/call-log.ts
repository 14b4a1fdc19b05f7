import type { Logger } from 'pino'
import type { Counter } from 'prom-client'
import { insertCalls, type CallGroup } from '../../postgres/across-communities.ts'
import { isOutage, type Queries } from '../../postgres/connect.ts'
import { createCallBatch, type Call } from './call-groups.ts'

const FLUSH_INTERVAL_MS = 250
/** Under load, a batch of this size is written without waiting: calls held longer would be promoted to old space. */
const BATCH_MIN = 500
const BATCH_MAX = 1000
/** About ten seconds of a fully loaded node; further calls are dropped and counted. */
const WAITING_MAX = 50_000

export interface CallLog {
  add(call: Call): void
  /** Flushes waiting calls, then stops. */
  close(): Promise<void>
}

/** Writes calls in batches, off the request path; a crash loses at most a second of calls. */
export function openCallLog(sql: Queries, log: Logger, dropped: Counter): CallLog {
  let open = createCallBatch()
  /** The last one is open. The others never change, so that a batch written twice is recognized by its ids. */
  const batches = [open]
  let waiting = 0
  let writing: Promise<void> | undefined
  let isRetry = false

  function startBatch(): void {
    batches.push((open = createCallBatch()))
  }

  /**
   * Writes one batch, then continues while at least `callsMin` calls wait. Without this minimum, a node under load
   * would write small batches all the time.
   */
  async function write(callsMin: number): Promise<void> {
    for (let needed = 1; waiting >= needed; needed = callsMin) {
      const [batch] = batches as [typeof open]
      if (batch === open) startBatch()
      try {
        await writeGroups(batch.groups)
        isRetry = false
      } catch (error) {
        isRetry = true
        // Keep the batch for the next attempt; WAITING_MAX bounds memory in the meantime.
        log.warn({ err: error, waiting }, 'the call log could not be written')
        return
      }
      batches.shift()
      waiting -= batch.calls
    }
  }

  /** A group that the database rejects is dropped, so that it does not block the others. */
  async function writeGroups(groups: CallGroup[]): Promise<void> {
    try {
      await insertCalls(sql, groups, { isRetry })
    } catch (error) {
      if (isOutage(error)) throw error
      isRetry = true
      if (groups.length > 1) {
        for (const group of groups) await writeGroups([group])
      } else {
        const { requestIds } = groups[0]!
        dropped.inc(requestIds.length)
        log.error({ err: error, requestIds }, 'calls could not be logged')
      }
    }
  }

  function flush(callsMin = BATCH_MIN): Promise<void> {
    writing ??= write(callsMin).finally(() => (writing = undefined))
    return writing
  }

  const timer = setInterval(() => flush(), FLUSH_INTERVAL_MS)

  return {
    add(call) {
      if (waiting >= WAITING_MAX) return dropped.inc()
      if (open.calls >= BATCH_MAX) startBatch()
      open.add(call)
      waiting += 1
      if (waiting === BATCH_MIN) void flush()
    },
    async close() {
      clearInterval(timer)
      // The write in flight may have started before the last calls arrived.
      await writing
      await flush(1)
    },
  }
}
