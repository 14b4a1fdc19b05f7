/** One run at a time; a wake during a run makes another. */
export function repeat(work: () => Promise<void>, isClosing: () => boolean) {
  let current: Promise<void> | undefined
  let again = false

  async function run(): Promise<void> {
    do {
      again = false
      await work()
    } while (again && !isClosing())
    current = undefined
  }

  return {
    wake() {
      if (isClosing()) return
      again = true
      current ??= run()
    },
    running: () => current,
  }
}
