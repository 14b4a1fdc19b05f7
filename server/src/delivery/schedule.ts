const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** After each attempt that failed, how long until the next; each counted from the one before. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
export const ATTEMPTS_MAX = DELAYS_MS.length + 1
const JITTER = 0.2
/** By the number of attempts made: how far ahead the next one can lie, unless the receiver asked for patience. */
export const LONGEST_DELAYS_MS = [0, ...DELAYS_MS.map((delay) => delay * (1 + JITTER))]
/** The longest delay that `Retry-After` can cause. */
const RETRY_AFTER_MAX_MS = DAY_MS
/** A subscription whose attempts have all failed for this long is disabled. */
export const FAILING_MAX_MS = 5 * DAY_MS
/** Longer than any delay between two attempts. After a gap like this, the five days begin again. */
export const FAILING_GAP_MS = 2 * DAY_MS

/** When to try again after the `attempts`-th attempt failed; undefined: never. `random` from 0 to 1. */
export function nextAttempt(
  attempts: number,
  now: Date,
  retryAfterMs: number | undefined,
  random: number,
): Date | undefined {
  const delay = DELAYS_MS[attempts - 1]
  if (delay === undefined) return undefined
  const jittered = delay * (1 - JITTER + 2 * JITTER * random)
  return new Date(now.getTime() + Math.max(jittered, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS)))
}

/** Seconds or a date (RFC 9110 10.2.3). */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * SECOND_MS
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}
