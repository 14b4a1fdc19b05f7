import { tracedBatch, tracing, type QueuedSpan } from '../core/tracing.ts'
import { QueueFull } from '../core/work-queue.ts'

export interface CoalesceLimits {
  /** Items per statement. */
  batchMax: number
  /** Concurrent statements per key. */
  inFlightMax: number
  /** Waiting items per key; more are rejected with QueueFull. */
  waitingMax: number
}

interface Waiting<Item, Outcome> {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (reason: unknown) => void
  group: object | undefined
  span: QueuedSpan | undefined
}

interface Queue<Item, Outcome> {
  waiting: Waiting<Item, Outcome>[]
  inFlight: number
  /** A statement is scheduled for the end of this event loop turn. */
  isScheduled: boolean
}

/**
 * Batches concurrent calls with the same key (a community) into one statement. No timer is involved: a statement is
 * sent at the end of the event loop turn in which its first call arrived. `run` returns one outcome per item, in order.
 *
 * Statements of one key run side by side, so items keep their order only within one. Calls made in one turn with the same
 * object `group`, up to `batchMax` of them, are never divided over two.
 */
export function coalesce<Key, Item, Outcome>(
  run: (key: Key, items: Item[]) => Promise<Outcome[]>,
  limits: CoalesceLimits,
): (key: Key, item: Item, group?: object) => Promise<Outcome> {
  const queues = new Map<Key, Queue<Item, Outcome>>()

  /**
   * Waits for the end of the turn, so that calls from other connections join the batch. Every statement costs a socket
   * write, which took a seventh of the time of reads by id under load, and a first call sent alone delays the others.
   */
  function schedule(key: Key, queue: Queue<Item, Outcome>): void {
    queue.isScheduled = true
    setImmediate(() => {
      queue.isScheduled = false
      void sendNext(key, queue)
      if (queue.waiting.length > 0 && queue.inFlight < limits.inFlightMax) schedule(key, queue)
    })
  }

  async function sendNext(key: Key, queue: Queue<Item, Outcome>): Promise<void> {
    queue.inFlight += 1
    const batch = queue.waiting.splice(0, countNext(queue.waiting, limits.batchMax))
    try {
      if (!tracing) await settle(key, batch)
      else {
        const spans = batch.map(({ span }) => span)
        await tracedBatch(spans, () => settle(key, batch))
      }
    } finally {
      queue.inFlight -= 1
      if (queue.waiting.length > 0 && !queue.isScheduled) schedule(key, queue)
      else if (queue.inFlight === 0 && !queue.isScheduled) queues.delete(key)
    }
  }

  async function settle(key: Key, batch: Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await run(
        key,
        batch.map(({ item }) => item),
      )
      if (outcomes.length !== batch.length) throw new Error(`${outcomes.length} outcomes for ${batch.length} items`)
      batch.forEach(({ resolve }, index) => resolve(outcomes[index]!))
    } catch (error) {
      // One bad item must not fail the others, but retrying one by one during an outage would multiply the load.
      if (batch.length > 1 && isItemError(error)) {
        for (const one of batch) await settle(key, [one])
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }

  return (key, item, group) =>
    new Promise((resolve, reject) => {
      let queue = queues.get(key)
      if (!queue) queues.set(key, (queue = { waiting: [], inFlight: 0, isScheduled: false }))
      if (queue.waiting.length >= limits.waitingMax) return reject(new QueueFull())
      queue.waiting.push({ item, resolve, reject, group, span: tracing?.startQueued() })
      if (!queue.isScheduled && queue.inFlight < limits.inFlightMax) schedule(key, queue)
    })
}

/** Counts the items of the next statement. A group that does not fit as a whole is left for the one after it. */
function countNext(waiting: { group: object | undefined }[], batchMax: number): number {
  const group = waiting[batchMax]?.group
  if (group === undefined) return batchMax
  let count = batchMax
  while (count > 0 && waiting[count - 1]!.group === group) count -= 1
  // More than fits into any statement.
  return count === 0 ? batchMax : count
}

/** Only SQLSTATE classes 22 (data exception) and 23 (constraint violation) are caused by a single item. */
function isItemError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)
}
