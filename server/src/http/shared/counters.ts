import { countInMemory, type Counter } from './memory-counter.ts'

export interface Counters {
  counter(name: string, windowSeconds: number): Counter
  close(): void
}

/** Counts in memory, or in Redis to share counts between nodes. Memory is the fallback while Redis is unreachable. */
export async function openCounters(
  redisUrl: string | undefined,
  commandTimeoutMs: number,
  onRedisError: (error: Error) => void,
): Promise<Counters> {
  if (redisUrl === undefined) {
    return { counter: (_name, windowSeconds) => countInMemory(windowSeconds), close: () => {} }
  }
  // Imported on demand, like all that few installations need: each start would take longer.
  const { openRedisCounters } = await import('./redis-counters.ts')
  return openRedisCounters(redisUrl, commandTimeoutMs, onRedisError)
}
