/** Runs the work once at a time; a wake during a run starts another one after it. */
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
