import { vi } from 'vitest'

/** Sets the clock of this process, and nothing else: timers and the monotonic clock go on. */
export function setSystemClock(byMs: number): void {
  const nowMs = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs + byMs })
}

export function resetSystemClock(): void {
  vi.useRealTimers()
}
