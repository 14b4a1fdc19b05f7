/** Thrown when a queue has no room left; the caller should retry later. */
export class QueueFull extends Error {}

export interface WorkQueue {
  readonly isFull: boolean
  /** Rejects with QueueFull if too many wait, and if nobody wants the result any more when its turn comes. */
  run<T>(work: () => Promise<T>, isWanted?: () => boolean): Promise<T>
}

/** Runs expensive work, a few at a time and in order. A short queue that rejects is better than a long one that waits. */
export function createWorkQueue(limits: { runningMax: number; waitingMax: number }): WorkQueue {
  const waiting: (() => void)[] = []
  let running = 0

  const isFull = () => running >= limits.runningMax && waiting.length >= limits.waitingMax

  /** Resolves when a place is free. */
  async function takePlace(): Promise<void> {
    if (isFull()) throw new QueueFull()
    if (running >= limits.runningMax) await new Promise<void>((start) => waiting.push(start))
    else running += 1
  }

  /** Hands the place to the next in line, so that nobody overtakes. */
  function leavePlace(): void {
    const start = waiting.shift()
    if (start) start()
    else running -= 1
  }

  return {
    get isFull() {
      return isFull()
    },
    async run(work, isWanted = () => true) {
      await takePlace()
      try {
        if (!isWanted()) throw new QueueFull('nobody waits for the result')
        return await work()
      } finally {
        leavePlace()
      }
    },
  }
}
