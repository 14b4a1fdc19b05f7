/** Deliveries in flight from this worker, and of one community. */
const IN_FLIGHT_MAX = 256
const PER_COMMUNITY_MAX = 64
/** A subscription with nothing in flight may exceed these, so slow receivers that hold all places delay nobody. */
const FIRST_MAX = 1024
const FIRST_PER_COMMUNITY_MAX = 256

/** Shares the places for deliveries in flight fairly between communities. */
export interface Limiter {
  /**
   * Takes a place. If there is none, `retry` is called once when one may be free. `isFirst`: the subscription has nothing
   * in flight.
   */
  take(communityId: number, isFirst: boolean, retry: () => void): boolean
  /** Returns a place and calls those who wait for it: communities take turns. */
  giveBack(communityId: number): void
}

export function createLimiter(): Limiter {
  const inFlight = new Map<number, number>()
  /** By community, in the order of their turns: who waits, and whether it is for the first place of a subscription. */
  const waiting = new Map<number, Map<() => void, boolean>>()
  let total = 0

  function hasRoom(communityId: number, isFirst: boolean): boolean {
    const count = inFlight.get(communityId) ?? 0
    if (isFirst) return total < FIRST_MAX && count < FIRST_PER_COMMUNITY_MAX
    return total < IN_FLIGHT_MAX && count < PER_COMMUNITY_MAX
  }

  function change(communityId: number, by: 1 | -1): void {
    const count = (inFlight.get(communityId) ?? 0) + by
    if (count === 0) inFlight.delete(communityId)
    else inFlight.set(communityId, count)
    total += by
  }

  return {
    take(communityId, isFirst, retry) {
      if (hasRoom(communityId, isFirst)) {
        change(communityId, 1)
        return true
      }
      const line = waiting.get(communityId)
      if (line) line.set(retry, isFirst)
      else waiting.set(communityId, new Map([[retry, isFirst]]))
      return false
    },
    giveBack(communityId) {
      change(communityId, -1)
      // A queue that is rejected again waits at the end of its line. That ends the loop: nothing there has room any more.
      for (const [id, line] of waiting) {
        for (const [retry, isFirst] of line) {
          if (!hasRoom(id, isFirst)) continue
          line.delete(retry)
          // Moves the community to the end of the turns.
          waiting.delete(id)
          if (line.size > 0) waiting.set(id, line)
          retry()
        }
      }
    },
  }
}
