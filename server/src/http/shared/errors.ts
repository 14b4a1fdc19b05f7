import { because, type Reason } from '../../core/reasons.ts'

/** The error codes of the partner API. */
export const ERRORS = {
  invalid_request: [400, 'The request is malformed.'],
  unsupported_grant_type: [400, 'Only the grant type client_credentials is supported.'],
  invalid_scope: [400, 'None of the requested scopes can be granted.'],
  invalid_client: [401, 'Client authentication failed.'],
  authentication_required: [401, 'This endpoint needs an access token: Authorization: Bearer <token>.'],
  invalid_token: [401, 'The access token is not valid.'],
  insufficient_scope: [403, 'The access token does not cover this operation.'],
  ip_not_allowed: [403, 'Your IP address is not on the allowlist of the partner.'],
  not_found: [404, 'There is no resource at this URL.'],
  user_not_found: [404, 'There is no such member.'],
  listing_not_found: [404, 'There is no such listing.'],
  credit_not_found: [404, 'There is no such credit.'],
  subscription_not_found: [404, 'There is no such subscription.'],
  delivery_not_found: [404, 'There is no such delivery.'],
  method_not_allowed: [405, 'This URL does not support this method.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  reference_conflict: [409, 'This reference was already used for a different credit.'],
  daily_limit_reached: [409, 'This partner has reached its limit of hours per day.'],
  subscription_limit_reached: [409, 'A partner may have at most 20 subscriptions.'],
  cursor_expired: [410, 'This cursor is older than the retained events; read from the beginning.'],
  resync_required: [410, 'This cursor is from before the service was restored; read the list from its beginning.'],
  payload_too_large: [413, 'The request body is larger than 64 KiB.'],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  misdirected_request: [421, 'This service does not answer for the host name in the Host header.'],
  validation_failed: [422, 'The request is well-formed, but its content is invalid.'],
  rate_limited: [429, 'Too many requests; try again after the time in Retry-After.'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong. Report the request_id if it happens again.'],
  partner_api_disabled: [503, 'An administrator has switched the partner API off.'],
  overloaded: [503, 'The service is overloaded; try again shortly.'],
  unavailable: [503, 'The service cannot reach its database; try again shortly.'],
} as const satisfies Record<string, readonly [status: number, description: string]>

/** Error codes that only the console API uses. */
const CONSOLE_ERRORS = {
  sign_in_failed: [401, 'The email address or the password is wrong.'],
  sign_in_required: [401, 'Your session has ended. Sign in again to continue.'],
  second_step_required: [401, 'The password is right. Complete the sign-in with your second factor.'],
  second_step_expired: [401, 'Too much time has passed, or too many codes were wrong. Sign in again.'],
  origin_refused: [403, 'This request does not come from the console.'],
  password_change_required: [403, 'Choose your own password first.'],
  role_insufficient: [403, 'Your role in this community does not allow this.'],
  second_factor_required: [403, 'This community requires a second factor. Set one up on your account page.'],
  proof_required: [403, 'Confirm that it is you: more than 15 minutes have passed since you last did.'],
  refused: [409, 'This is not possible.'],
  changed_meanwhile: [412, 'Somebody else changed this in the meantime. Look at it again before you save.'],
  version_required: [428, 'Say in If-Match which version this change is based on.'],
  link_expired: [410, 'This link was already used or has expired. Ask for a new one.'],
} as const satisfies Record<string, readonly [status: number, description: string]>

/** The complete list of error codes. */
export const ALL_ERRORS = { ...ERRORS, ...CONSOLE_ERRORS }

export type ErrorCode = keyof typeof ALL_ERRORS
export type PartnerErrorCode = keyof typeof ERRORS

/** One problem with one field. */
export interface FieldError {
  code: string
  field: string
  message: string
  /** For the console. */
  reason?: Reason
}

interface Details {
  /** Replaces the default description, and names the sentence of the console. */
  reason?: Reason
  /** The same for what only partners see. ASCII without quotes where OAuth clients read it (RFC 6749 5.2). */
  description?: string
  errors?: FieldError[]
  /** Additional data that explains the error to the caller. */
  data?: object
  headers?: Record<string, string>
  /** For the log only. */
  cause?: unknown
  /** Set by a caller that logs many of them in one line, because a line for each would be a load of its own. */
  isLogged?: boolean
}

export class ApiError extends Error {
  readonly status: number
  readonly description: string
  readonly reason: Reason | undefined
  readonly errors: FieldError[] | undefined
  readonly data: object | undefined
  readonly headers: Record<string, string>
  readonly isLogged: boolean

  constructor(
    readonly code: ErrorCode,
    details: Details = {},
  ) {
    const [status, description] = ALL_ERRORS[code]
    super(details.reason?.message ?? details.description ?? description, { cause: details.cause })
    this.status = status
    this.description = this.message
    this.reason = details.reason
    this.errors = details.errors
    this.data = details.data
    this.isLogged = details.isLogged ?? false
    this.headers = { ...(status === 503 && { 'retry-after': `${RETRY_AFTER_SECONDS}` }), ...details.headers }
  }

  body(requestId: string) {
    return {
      error: this.code,
      error_description: this.description,
      ...(this.errors && { errors: this.errors.map(({ code, field, message }) => ({ code, field, message })) }),
      ...(this.data && { data: this.data }),
      request_id: requestId,
    }
  }

  /** With the reasons, by which the console finds the sentences of its language. */
  consoleBody(requestId: string) {
    const errors = this.errors?.map(({ reason, ...error }) => ({ ...error, ...(reason && named(reason)) }))
    return { ...this.body(requestId), ...(this.reason && named(this.reason)), ...(errors && { errors }) }
  }
}

function named({ code, values }: Reason) {
  return { reason: code, values }
}

/** For a route with a limit of its own. */
export function bodyTooLarge(bytesMax: number, cause?: unknown): ApiError {
  return new ApiError('payload_too_large', {
    description: `The request body is larger than ${bytesMax / 1024} KiB.`,
    cause,
  })
}

const RETRY_AFTER_SECONDS = 5
const FAILURES_RETRY_AFTER_SECONDS = 60

export function tooManyFailures(retryAfterSeconds = FAILURES_RETRY_AFTER_SECONDS): ApiError {
  return new ApiError('rate_limited', {
    reason: because('sign_ins_by_address'),
    headers: { 'retry-after': `${retryAfterSeconds}` },
  })
}
