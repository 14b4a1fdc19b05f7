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

/** Like `throttle`, with the latest value and how many there were since the last time. */
export function summarize<T>(intervalMs: number, act: (latest: T, count: number) => void): (value: T) => void {
  let count = 0
  let latest: T
  const run = throttle(intervalMs, () => {
    const summed = count
    count = 0
    act(latest, summed)
  })
  return (value) => {
    count += 1
    latest = value
    run()
  }
}
