/** Runs `act` immediately, then at most once per interval. Calls within an interval are merged into one at its end. */
export function throttle(intervalMs: number, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let isCalled = false

  function run(): void {
    isCalled = false
    timer = setTimeout(() => {
      timer = undefined
      if (isCalled) run()
    }, intervalMs)
    timer.unref()
    act()
  }

  return () => {
    isCalled = true
    if (!timer) run()
  }
}

/** Runs `act` at most once per interval, with the latest value and how many there were since the last time. */
export function summarize<T>(intervalMs: number, act: (value: T, count: number) => void): (value: T) => void {
  let count = 0
  let actedAtMs = -Infinity
  return (value) => {
    count += 1
    const nowMs = performance.now()
    if (nowMs - actedAtMs < intervalMs) return
    act(value, count)
    actedAtMs = nowMs
    count = 0
  }
}
