import type { Target } from './raw-request.ts'

/** One kind of request in a mix; kinds are chosen in proportion to their weights. */
export interface Kind extends Pick<Target, 'method' | 'path' | 'body' | 'contentType' | 'cookie'> {
  weight: number
  /** None for requests of the console, which have a cookie. */
  authorizations: string[]
}

/** A mix of requests for a while: either so many per second, whatever the service answers, or one per connection. */
export interface Arrivals {
  port: number
  kinds: Kind[]
  members: number[]
  seconds: number
  perSecond?: number
  connections?: number
}

/** One entry per call, in the order of the responses. */
export interface Arrived {
  /** When the call was due, since the beginning. */
  dueMs: Float64Array
  /** From then until the whole response was there, so it includes every wait on the way. */
  tookMs: Float64Array
  status: Uint16Array
  kind: Uint16Array
  /** 503 without Retry-After. */
  withoutRetryAfter: number
  /** Calls whose connection ended, or that had no response when the time to wait for it was over. */
  unanswered: number
  /** How late the generator itself sent its calls. */
  lateMs: { p99: number; max: number }
}
