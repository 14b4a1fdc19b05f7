import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Counters } from './counters.ts'
import type { Count } from './memory-counter.ts'

const REDIS_CONNECT_TIMEOUT_MS = 2000

export function openRedisCounters(
  redisUrl: string,
  commandTimeoutMs: number,
  onRedisError: (error: Error) => void,
): Counters {
  const redis = new Redis(redisUrl, {
    // A request must not wait for Redis to reconnect.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: REDIS_CONNECT_TIMEOUT_MS,
  })
  redis.on('error', onRedisError)

  return {
    counter(name, windowSeconds) {
      // Limits differ between partners, so the library only counts and the caller compares.
      const options = { keyPrefix: `hourbank:${name}`, points: Number.MAX_SAFE_INTEGER, duration: windowSeconds }
      const memory = new RateLimiterMemory(options)
      const limiter = new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter: memory })
      return {
        add: async (key, events) => toCount(await limiter.consume(key, events), windowSeconds),
        read: async (key) => toCount(await limiter.get(key), windowSeconds),
        reset: async (key) => void (await limiter.delete(key)),
      }
    },
    close: () => redis.disconnect(),
  }
}

function toCount(result: RateLimiterRes | null, windowSeconds: number): Count {
  if (!result) return { count: 0, resetSeconds: windowSeconds }
  return { count: result.consumedPoints, resetSeconds: Math.max(1, Math.ceil(result.msBeforeNext / 1000)) }
}
