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
