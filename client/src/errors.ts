import type { Credit, ErrorCode, FieldError } from './types.ts'

/**
 * - `network`: no response, or a truncated one
 * - `timeout`: no response in time
 * - `aborted`: by the caller's signal
 * - `invalid_response`: a response that is not from this API, such as a proxy's error page
 * - `closed`: called after `close()`, or waiting for a token at that moment
 * - `api`: rejected by the service; the error is an `ApiError`
 */
export type ErrorKind = 'network' | 'timeout' | 'aborted' | 'invalid_response' | 'closed' | 'api'

/** Any failure of a call. Contains neither tokens nor secrets. */
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

/** An error response of the service, or of a proxy in front of it. */
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

/** The service rejected the call. */
export class ApiError extends HourbankError {
  override readonly name = 'ApiError'
  readonly status: number
  /** Stable code for programs. `http_502` and the like if the response is not from the service itself. */
  readonly code: ErrorCode | (string & {})
  /** Message for people. */
  readonly description: string
  /** Every problem found with the request, one per field. */
  readonly errors: readonly FieldError[]
  /** Quote this when you ask the operator for help. */
  readonly requestId: string | undefined
  /** The resource that causes a conflict; see `storedCredit`. */
  readonly data: unknown
  /** How long to wait before the next try, if the service says so. */
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

  /** With `reference_conflict`: the credit that already has this reference. */
  get storedCredit(): Credit | undefined {
    return this.code === 'reference_conflict' && this.data !== undefined ? (this.data as Credit) : undefined
  }
}

/**
 * - `body_not_raw`: pass the body as received, as text or bytes, not parsed
 * - `missing_header`: not a delivery, or a proxy removed its headers
 * - `invalid_timestamp`, `timestamp_too_old`, `timestamp_too_new`: replayed, or a clock is wrong
 * - `invalid_secret`: one of the secrets is not a Standard Webhooks secret
 * - `no_matching_signature`: forged, changed in transit, or signed with another secret
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

/** The delivery is not authentic. Do not process it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'

  constructor(
    readonly reason: WebhookVerificationReason,
    message: string,
  ) {
    super(message)
  }
}
