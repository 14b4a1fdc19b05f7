import type { Logger } from 'pino'
import type { Counter } from 'prom-client'
import { insertCalls, type CallGroup } from '../../postgres/across-communities.ts'
import { isOutage, type Queries } from '../../postgres/connect.ts'
import { gatherCalls, type Call } from './call-groups.ts'

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
  let gathering = gatherCalls()
  /** The last is the one that gathers. Those before it stay as they are, so that one that is written twice is seen to be. */
  const batches = [gathering]
  let waiting = 0
  let writing: Promise<void> | undefined
  let again = false

  function startBatch(): void {
    batches.push((gathering = gatherCalls()))
  }

  /**
   * A batch of what waits, then others as long as there is enough for them. What comes while one is written is not enough
   * by itself: a node under load would never stop writing small ones.
   */
  async function write(enough: number): Promise<void> {
    for (let needed = 1; waiting >= needed; needed = enough) {
      const [batch] = batches as [typeof gathering]
      if (batch === gathering) startBatch()
      try {
        await writeGroups(batch.groups)
        again = false
      } catch (error) {
        again = true
        // Kept for the next try; the bound in add() holds meanwhile.
        log.warn({ err: error, waiting }, 'the call log could not be written')
        return
      }
      batches.shift()
      waiting -= batch.calls
    }
  }

  /** A group that the database refuses must not hold up all the others for ever: it is dropped, alone. */
  async function writeGroups(groups: CallGroup[]): Promise<void> {
    try {
      await insertCalls(sql, groups, { again })
    } catch (error) {
      if (isOutage(error)) throw error
      again = true
      if (groups.length > 1) {
        for (const group of groups) await writeGroups([group])
      } else {
        const { requestIds } = groups[0]!
        dropped.inc(requestIds.length)
        log.error({ err: error, requestIds }, 'calls could not be logged')
      }
    }
  }

  function flush(enough = BATCH_MIN): Promise<void> {
    writing ??= write(enough).finally(() => (writing = undefined))
    return writing
  }

  const timer = setInterval(() => flush(), FLUSH_INTERVAL_MS)

  return {
    add(call) {
      if (waiting >= WAITING_MAX) return dropped.inc()
      if (gathering.calls >= BATCH_MAX) startBatch()
      gathering.add(call)
      waiting += 1
      if (waiting === BATCH_MIN) void flush()
    },
    async close() {
      clearInterval(timer)
      // The one under way may have taken its batch before the last calls came.
      await writing
      await flush(1)
    },
  }
}
