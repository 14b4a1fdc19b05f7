/**
 * Puts off what it is given to the end of the turn of the event loop, where all of it is done in one go. What is written
 * to many sockets wakes its readers once then, instead of each for itself alone in between (on one machine; the proxy in
 * front is such a reader).
 */
export function gatherForTurn(): (work: () => void) => void {
  let gathered: (() => void)[] = []

  function doAll(): void {
    const all = gathered
    gathered = []
    for (const work of all) work()
  }

  return (work) => {
    if (gathered.push(work) === 1) setImmediate(doAll)
  }
}
