const FAILURES_TO_OPEN = 5
const PAUSE_MIN_MS = 10_000
const PAUSE_MAX_MS = 5 * 60_000
/** Subscriptions remembered at once; the oldest is forgotten, which only costs it a few attempts. */
const ENTRIES_MAX = 100_000

interface State {
  failures: number
  openUntilMs: number
}

/** Remembers which endpoints fail, so that their backlog is not tried one by one: while open, one probe per pause. */
export interface Breaker {
  /** How many more may be under way for this key, of those that its concurrency allows. */
  room(key: string, free: number, underWay: number, nowMs: number): number
  note(key: string, ok: boolean, nowMs: number): void
}

export function createBreaker(): Breaker {
  const states = new Map<string, State>()
  return {
    room(key, free, underWay, nowMs) {
      const state = states.get(key)
      if (!state || state.failures < FAILURES_TO_OPEN) return free
      return nowMs >= state.openUntilMs && underWay === 0 ? Math.min(1, free) : 0
    },
    note(key, ok, nowMs) {
      const state = states.get(key)
      states.delete(key)
      if (ok) return
      // What was under way when it opened says nothing new, and must not lengthen the pause.
      const isOpen = state !== undefined && state.failures >= FAILURES_TO_OPEN && nowMs < state.openUntilMs
      const failures = (state?.failures ?? 0) + (isOpen ? 0 : 1)
      const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** Math.max(0, failures - FAILURES_TO_OPEN))
      if (states.size >= ENTRIES_MAX) states.delete(states.keys().next().value!)
      states.set(key, isOpen ? state : { failures, openUntilMs: nowMs + pauseMs })
    },
  }
}
