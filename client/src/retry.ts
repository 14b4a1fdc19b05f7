import { aborted, onAbort } from './abort.ts'
import { ApiError, HourbankError, type ErrorKind } from './errors.ts'

/** As many as fit into the call's time limit, which is long enough for a restart of the service. */
export const RETRIES_DEFAULT = Infinity
export const RETRIES_MAX = 20
export const TIMEOUT_MS_DEFAULT = 30_000
export const TOTAL_TIMEOUT_MS_DEFAULT = 120_000
/** Longer ones come close to overflowing the platform's timers, which then fire at once. */
export const TIMEOUT_MS_MAX = 24 * 60 * 60 * 1000
const BACKOFF_BASE_MS = 500
/** Short enough to notice soon that a restarted service is back. */
const BACKOFF_MAX_MS = 10_000
/** Time has to pass, because only time ends the retries. */
const PAUSE_MS_MIN = 5

/** Responses of a proxy or of a service that is briefly unavailable: the same call may succeed later. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])
const TRANSIENT_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['network', 'timeout', 'invalid_response'])

/** Injectable, so that tests need not wait. */
export interface Clock {
  now(): number
  wait(ms: number, signal?: AbortSignal): Promise<void>
  /** From 0 up to, not including, 1. */
  random(): number
}

export interface Limits {
  /** For each attempt. */
  timeoutMs: number
  /** For the whole call: token, attempts and the pauses between them. */
  totalTimeoutMs: number
  /** Attempts after the first. */
  retries: number
  signal: AbortSignal | undefined
}

/** Tells whether the next attempt may succeed. Whether this one was carried out is not always known. */
export function isTransient(error: unknown): boolean {
  // An administrator switched the API off. That does not change within seconds, so report the reason immediately.
  if (error instanceof ApiError) return TRANSIENT_STATUSES.has(error.status) && error.code !== 'partner_api_disabled'
  return error instanceof HourbankError && TRANSIENT_KINDS.has(error.kind)
}

/** `repeatable`: the operation is idempotent. */
export function isWorthRepeating(error: unknown, repeatable: boolean): boolean {
  // 429 means that nothing was done, so even an operation that is not idempotent can be sent again.
  return isTransient(error) && (repeatable || (error instanceof ApiError && error.status === 429))
}

/** Retries within the limits, then throws the last error. */
export async function withRetries<T>(
  { retries, totalTimeoutMs, signal }: Limits,
  clock: Clock,
  isWorthIt: (error: unknown) => boolean,
  attempt: (leftMs: () => number, failures: number) => Promise<T>,
): Promise<T> {
  const deadline = clock.now() + totalTimeoutMs
  const leftMs = () => deadline - clock.now()
  for (let failures = 0; ; failures++) {
    try {
      return await attempt(leftMs, failures)
    } catch (error) {
      const pauseMs = pauseAfter(error, failures, clock.random())
      // Do not start a pause that ends after the limit: the caller learns immediately when to retry.
      if (failures >= retries || !isWorthIt(error) || pauseMs >= leftMs()) throw error
      await clock.wait(pauseMs, signal)
      if (leftMs() <= 0) throw error
    }
  }
}

/** Exponential backoff with full jitter, so that clients do not return together, but not before Retry-After. */
function pauseAfter(error: unknown, failures: number, random: number): number {
  const askedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
  const backoffMs = random * Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** failures)
  return askedMs + Math.max(PAUSE_MS_MIN, backoffMs)
}

/** Seconds, or a date (RFC 9110 10.2.3), which is compared with the response's Date header if there is one. */
export function readRetryAfter(value: string | null, date: string | null, nowMs: number): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  // Date.parse accepts much that is not an HTTP date, even '-5'.
  const at = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) return undefined
  const sentAt = date === null ? Number.NaN : Date.parse(date)
  return Math.max(0, Math.ceil((at - (Number.isNaN(sentAt) ? nowMs : sentAt)) / 1000))
}

export function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw aborted(signal)
    const timer = setTimeout(() => {
      leave()
      resolve()
    }, ms)
    const leave = onAbort(signal, () => {
      clearTimeout(timer)
      leave()
      reject(aborted(signal))
    })
  })
}
