import { Redis } from 'ioredis'
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Awaitable } from '../../core/awaitable.ts'
import type { Counters, RedisState } from './counters.ts'
import { countInMemory, type Count } from './memory-counter.ts'

const REDIS_CONNECT_TIMEOUT_MS = 2000
/** Failures with less time between them are one outage. */
const OUTAGE_QUIET_MS = 5_000

export function openRedisCounters(redisUrl: string, commandTimeoutMs: number, state: RedisState): Counters {
  const redis = new Redis(redisUrl, {
    // A request must not wait for Redis to reconnect.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: REDIS_CONNECT_TIMEOUT_MS,
  })
  let failedAtMs: number | undefined
  let isClosed = false

  function noteFailure(error: Error): void {
    if (isClosed) return
    if (failedAtMs === undefined) state.onAway(error)
    failedAtMs = performance.now()
  }

  function noteSuccess(): void {
    if (failedAtMs === undefined || performance.now() - failedAtMs < OUTAGE_QUIET_MS) return
    failedAtMs = undefined
    state.onBack()
  }

  /** A connected Redis can fail too: it is full, or has become a replica. */
  async function orInMemory<T>(inRedis: Promise<T>, inMemory: () => Awaitable<T>): Promise<T> {
    try {
      return await inRedis
    } catch (error) {
      noteFailure(error as Error)
      return inMemory()
    }
  }

  redis.on('error', noteFailure)

  return {
    counter(name, windowSeconds) {
      const limiter = new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `hourbank:${name}`,
        // Limits differ between partners, so the library only counts and the caller compares.
        points: Number.MAX_SAFE_INTEGER,
        duration: windowSeconds,
      })
      const memory = countInMemory(windowSeconds)

      async function add(key: string, events: number): Promise<Count> {
        const count = toCount(await limiter.consume(key, events), windowSeconds)
        // Only here, because a Redis that cannot write may still read.
        noteSuccess()
        return count
      }

      async function read(key: string): Promise<Count> {
        return toCount(await limiter.get(key), windowSeconds)
      }

      return {
        add: (key, events = 1) => orInMemory(add(key, events), () => memory.add(key, events)),
        read: (key) => orInMemory(read(key), () => memory.read(key)),
      }
    },
    close() {
      isClosed = true
      redis.disconnect()
    },
  }
}

function toCount(result: RateLimiterRes | null, windowSeconds: number): Count {
  if (!result) return { count: 0, resetSeconds: windowSeconds, isShared: true }
  // The library ignores errors of the commands with which it reads.
  if (!Number.isInteger(result.consumedPoints)) throw new Error('Redis returned no count.')
  const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000))
  return { count: result.consumedPoints, resetSeconds, isShared: true }
}
