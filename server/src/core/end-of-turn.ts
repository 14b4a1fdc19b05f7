/**
 * Returns a function that defers work to the end of the current event loop turn and runs all of it at once. Writes to
 * many sockets then wake readers on the same machine, such as a reverse proxy, once instead of once per write.
 */
export function createEndOfTurnQueue(): (work: () => void) => void {
  let pending: (() => void)[] = []

  function runAll(): void {
    const batch = pending
    pending = []
    for (const work of batch) work()
  }

  return (work) => {
    if (pending.push(work) === 1) setImmediate(runAll)
  }
}
