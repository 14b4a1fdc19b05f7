/** Raised when more calls wait than the named limit allows; the caller is told to come back. */
export class QueueFull extends Error {}

export interface CoalesceLimits {
  /** Items in one statement. */
  batchMax: number
  /** Statements under way at once for one key. */
  inFlightMax: number
  /** Items waiting for one key before further ones are refused. */
  waitingMax: number
}

interface Waiting<Item, Outcome> {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (reason: unknown) => void
}

interface Queue<Item, Outcome> {
  waiting: Waiting<Item, Outcome>[]
  inFlight: number
  /** A statement is about to be sent, with all that has arrived until then. */
  gathering: boolean
}

/**
 * Calls of one key (a community) that arrive while a statement is under way share the next one.
 * Nothing waits on a timer: a statement is sent at the end of the turn in which its first call came.
 * `run` answers one outcome per item, in order.
 */
export function coalesce<Key, Item, Outcome>(
  run: (key: Key, items: Item[]) => Promise<Outcome[]>,
  limits: CoalesceLimits,
): (key: Key, item: Item) => Promise<Outcome> {
  const queues = new Map<Key, Queue<Item, Outcome>>()

  /**
   * The rest of this turn of the event loop is waited for: what the other connections have brought meanwhile joins in.
   * Every statement costs a write to the database, which took a seventh of the time of reads by id under load; and a
   * first call that goes alone has the others wait for it.
   */
  function gather(key: Key, queue: Queue<Item, Outcome>): void {
    queue.gathering = true
    setImmediate(() => {
      queue.gathering = false
      void sendNext(key, queue)
      if (queue.waiting.length > 0 && queue.inFlight < limits.inFlightMax) gather(key, queue)
    })
  }

  async function sendNext(key: Key, queue: Queue<Item, Outcome>): Promise<void> {
    queue.inFlight += 1
    const batch = queue.waiting.splice(0, limits.batchMax)
    try {
      await settle(key, batch)
    } finally {
      queue.inFlight -= 1
      if (queue.waiting.length > 0 && !queue.gathering) gather(key, queue)
      else if (queue.inFlight === 0 && !queue.gathering) queues.delete(key)
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
      // One bad item must not fail its neighbours; but repeating a batch in an outage would multiply the load by its size.
      if (batch.length > 1 && isErrorOfAnItem(error)) {
        for (const one of batch) await settle(key, [one])
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      let queue = queues.get(key)
      if (!queue) queues.set(key, (queue = { waiting: [], inFlight: 0, gathering: false }))
      if (queue.waiting.length >= limits.waitingMax) return reject(new QueueFull())
      queue.waiting.push({ item, resolve, reject })
      if (!queue.gathering && queue.inFlight < limits.inFlightMax) gather(key, queue)
    })
}

/** SQLSTATE classes 22 (data exception) and 23 (constraint violation) are about an item, everything else is not. */
function isErrorOfAnItem(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)
}
