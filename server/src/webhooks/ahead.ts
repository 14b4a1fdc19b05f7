/** For one subscription, beyond the four on the wire. */
const AHEAD_MAX = 16
/** Only for a receiver whose last answer was a success, and this quick. */
const QUICK_MS = 50
/** Access and visibility are judged when a delivery is leased: what has not been sent by then is given back. */
const STALE_MS = 250

interface Waiting<Leased> {
  leased: Leased
  sinceMs: number
}

/**
 * Deliveries that are leased before there is a place on the wire for them. Quick receivers would otherwise wait for the
 * next round of leases after every answer, and each round would be made for a handful.
 */
export interface Ahead<Leased> {
  /** How many more may be leased for this subscription. */
  room(key: string): number
  /** Time to lease more, and enough of them to be worth a round. */
  isLow(key: string): boolean
  put(key: string, leased: Leased): void
  /** The next one, unless those that wait have waited for too long. */
  take(key: string): Leased | undefined
  noteAnswer(key: string, ok: boolean, durationMs: number): void
  /** Gives back all that fit. */
  giveBack(which?: (leased: Leased) => boolean): void
  close(): void
}

export function leaseAhead<Leased>(giveBackOne: (leased: Leased) => void): Ahead<Leased> {
  const waiting = new Map<string, Waiting<Leased>[]>()
  const quick = new Set<string>()

  /** Whatever is leased for it next would have to wait as well. */
  function slowDown(key: string): void {
    quick.delete(key)
    const queue = waiting.get(key) ?? []
    waiting.delete(key)
    for (const { leased } of queue) giveBackOne(leased)
  }

  const count = (key: string) => waiting.get(key)?.length ?? 0
  const isStale = ({ sinceMs }: Waiting<Leased>) => performance.now() - sinceMs > STALE_MS
  const timer = setInterval(() => {
    for (const [key, queue] of waiting) if (queue.some(isStale)) slowDown(key)
  }, STALE_MS)
  timer.unref()

  return {
    room: (key) => (quick.has(key) ? AHEAD_MAX - count(key) : 0),
    isLow: (key) => count(key) <= AHEAD_MAX / 2,
    put(key, leased) {
      const one = { leased, sinceMs: performance.now() }
      const queue = waiting.get(key)
      if (queue) queue.push(one)
      else waiting.set(key, [one])
    },
    take(key) {
      const queue = waiting.get(key)
      if (queue?.[0] && isStale(queue[0])) slowDown(key)
      return waiting.get(key)?.shift()?.leased
    },
    noteAnswer(key, ok, durationMs) {
      if (ok && durationMs <= QUICK_MS) quick.add(key)
      else slowDown(key)
    },
    giveBack(which = () => true) {
      for (const [key, queue] of waiting) {
        waiting.set(
          key,
          queue.filter(({ leased }) => !which(leased)),
        )
        for (const { leased } of queue) if (which(leased)) giveBackOne(leased)
      }
    },
    close: () => clearInterval(timer),
  }
}
