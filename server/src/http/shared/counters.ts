import { countInMemory, type Counter } from './memory-counter.ts'

export interface Counters {
  counter(name: string, windowSeconds: number): Counter
  close(): void
}

/** Called when counting in Redis fails, once per outage, and when it works again. */
export interface RedisState {
  onAway(error: Error): void
  onBack(): void
}

/** Counts in memory, or in Redis to share counts between nodes. Memory is the fallback while Redis does not count. */
export async function openCounters(
  redisUrl: string | undefined,
  commandTimeoutMs: number,
  state: RedisState,
): Promise<Counters> {
  if (redisUrl === undefined) {
    return { counter: (_name, windowSeconds) => countInMemory(windowSeconds), close: () => {} }
  }
  // Imported on demand, like all that few installations need: each start would take longer.
  const { openRedisCounters } = await import('./redis-counters.ts')
  return openRedisCounters(redisUrl, commandTimeoutMs, state)
}
