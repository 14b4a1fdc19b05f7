/** Acts at the first call at once, then at most once per interval; a call within the interval is made up for at its end. */
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
