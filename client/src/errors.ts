import type { Credit, ErrorCode, FieldError } from './types.ts'

/**
 * - `network`: no answer, or one that broke off
 * - `timeout`: no answer in time
 * - `aborted`: by the caller's signal
 * - `invalid_response`: an answer that is not of this API, such as the page of a proxy
 * - `closed`: called after `close()`
 * - `api`: refused by the service; the error is an `ApiError`
 */
export type ErrorKind = 'network' | 'timeout' | 'aborted' | 'invalid_response' | 'closed' | 'api'

/** Whatever goes wrong between calling and having the answer. Holds neither token nor secret. */
export class HourbankError extends Error {
  override readonly name: string = 'HourbankError'

  constructor(
    readonly kind: ErrorKind,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

/** What the service, or something in front of it, said. */
export interface Refusal {
  status: number
  code: string
  description: string
  errors: FieldError[]
  requestId: string | undefined
  data: unknown
  retryAfterSeconds: number | undefined
  requiredScopes: string[]
}

/** The service refused the call. */
export class ApiError extends HourbankError {
  override readonly name = 'ApiError'
  readonly status: number
  /** Stable, for programs. `http_502` and the like when the answer did not come from the service itself. */
  readonly code: ErrorCode | (string & {})
  /** For people. */
  readonly description: string
  /** Every problem found with the request, one per field. */
  readonly errors: readonly FieldError[]
  /** Tell this one when you ask the operator for help. */
  readonly requestId: string | undefined
  /** What a conflict is with; see `storedCredit`. */
  readonly data: unknown
  /** How long to leave the service alone, if it said so. */
  readonly retryAfterSeconds: number | undefined
  /** With `insufficient_scope`: one of these is needed. */
  readonly requiredScopes: readonly string[]

  constructor(operation: string, refusal: Refusal) {
    const needs = refusal.requiredScopes.length > 0 ? ` Needs the scope ${refusal.requiredScopes.join(' or ')}.` : ''
    super('api', `${operation}: ${refusal.status} ${refusal.code}: ${refusal.description}${needs}`)
    this.status = refusal.status
    this.code = refusal.code
    this.description = refusal.description
    this.errors = refusal.errors
    this.requestId = refusal.requestId
    this.data = refusal.data
    this.retryAfterSeconds = refusal.retryAfterSeconds
    this.requiredScopes = refusal.requiredScopes
  }

  /** With `reference_conflict`: the credit that this reference stands for. */
  get storedCredit(): Credit | undefined {
    return this.code === 'reference_conflict' && this.data !== undefined ? (this.data as Credit) : undefined
  }
}

/**
 * - `body_not_raw`: pass the body as it came, as text or bytes, not parsed
 * - `missing_header`: not a delivery, or a proxy removed its headers
 * - `invalid_timestamp`, `timestamp_too_old`, `timestamp_too_new`: replayed, or a clock is wrong
 * - `invalid_secret`: one of the secrets given is not one of Standard Webhooks
 * - `no_matching_signature`: forged, changed on its way, or signed with another secret
 * - `malformed_body`: signed, but not an event
 */
export type WebhookVerificationReason =
  | 'body_not_raw'
  | 'missing_header'
  | 'invalid_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'invalid_secret'
  | 'no_matching_signature'
  | 'malformed_body'

/** A delivery that must not be believed. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'

  constructor(
    readonly reason: WebhookVerificationReason,
    message: string,
  ) {
    super(message)
  }
}
