/** A question to the person, which calls wait for. Any component may show it. */
export interface Question {
  ask: () => Promise<boolean>
  /** For useSyncExternalStore. */
  watch: (watcher: () => void) => () => void
  /** The answer to give, or undefined while nobody asks. */
  current: () => ((yes: boolean) => void) | undefined
  /** Whether it has been asked since the page was opened. */
  wasAsked: () => boolean
}

/** However many calls ask at once, there is one question, and all of them go on after it. */
export function createQuestion(): Question {
  let asked: { promise: Promise<boolean>; answer: (yes: boolean) => void } | undefined
  let wasAsked = false
  const watchers = new Set<() => void>()
  const become = (next: typeof asked) => {
    asked = next
    for (const watcher of watchers) watcher()
  }
  return {
    ask() {
      if (asked) return asked.promise
      wasAsked = true
      let resolve: ((yes: boolean) => void) | undefined
      const promise = new Promise<boolean>((settle) => {
        resolve = settle
      })
      const answer = (yes: boolean) => {
        become(undefined)
        resolve?.(yes)
      }
      become({ promise, answer })
      return promise
    },
    watch(watcher) {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    current: () => asked?.answer,
    wasAsked: () => wasAsked,
  }
}
