/** For one subscription, beyond the four on the wire. */
const AHEAD_MAX = 48
/** So few left: time to read more. Earlier, each round would be made for a handful. */
const LOW = AHEAD_MAX / 8
/** Only for a receiver whose last answer was a success, and this quick. */
const QUICK_MS = 50
/** Access and visibility are judged when a delivery is read: what has not been sent by then is given back. */
const STALE_MS = 250

interface Waiting<Taken> {
  taken: Taken
  sinceMs: number
}

/**
 * Deliveries that are read before there is a place on the wire for them. Quick receivers would otherwise wait for the
 * next round of reading after every answer, and each round would be made for a handful.
 */
export interface Ahead<Taken> {
  isQuick(key: string): boolean
  /** How many more may be read for this subscription. */
  room(key: string): number
  /** Time to read more. */
  isLow(key: string): boolean
  put(key: string, taken: Taken): void
  /** The next one, unless those that wait have waited for too long. */
  take(key: string): Taken | undefined
  noteAnswer(key: string, ok: boolean, durationMs: number): void
  /** Gives back all that fit. */
  giveBack(which?: (taken: Taken) => boolean): void
  close(): void
}

export function readAhead<Taken>(giveBackOne: (taken: Taken) => void, staleMs = STALE_MS): Ahead<Taken> {
  const waiting = new Map<string, Waiting<Taken>[]>()
  const quick = new Set<string>()

  /** Whatever is read for it next would have to wait as well. */
  function slowDown(key: string): void {
    quick.delete(key)
    const queue = waiting.get(key) ?? []
    waiting.delete(key)
    for (const { taken } of queue) giveBackOne(taken)
  }

  const count = (key: string) => waiting.get(key)?.length ?? 0
  const isStale = ({ sinceMs }: Waiting<Taken>) => performance.now() - sinceMs > staleMs
  const timer = setInterval(() => {
    for (const [key, queue] of waiting) if (queue.some(isStale)) slowDown(key)
  }, staleMs)
  timer.unref()

  return {
    isQuick: (key) => quick.has(key),
    room: (key) => (quick.has(key) ? AHEAD_MAX - count(key) : 0),
    isLow: (key) => count(key) <= LOW,
    put(key, taken) {
      const one = { taken, sinceMs: performance.now() }
      const queue = waiting.get(key)
      if (queue) queue.push(one)
      else waiting.set(key, [one])
    },
    take(key) {
      const queue = waiting.get(key)
      if (queue?.[0] && isStale(queue[0])) slowDown(key)
      return waiting.get(key)?.shift()?.taken
    },
    noteAnswer(key, ok, durationMs) {
      if (!ok) slowDown(key)
      else if (durationMs <= QUICK_MS) quick.add(key)
      // What was read may still be in time.
      else quick.delete(key)
    },
    giveBack(which = () => true) {
      for (const [key, queue] of waiting) {
        waiting.set(
          key,
          queue.filter(({ taken }) => !which(taken)),
        )
        for (const { taken } of queue) if (which(taken)) giveBackOne(taken)
      }
    },
    close: () => clearInterval(timer),
  }
}
