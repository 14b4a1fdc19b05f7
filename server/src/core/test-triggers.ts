/*
 * What partners can make go wrong on demand, in test communities only. These tables are the only list: the service
 * reads them, and the tables in docs/testing.md are compared with them.
 */

/** What a triggered call does instead of, or after, its work. */
export type Fault =
  /** Responds with this error and does nothing. */
  | { kind: 'error'; code: string; retryAfterSeconds?: number }
  /** Does nothing and never responds. */
  | { kind: 'silence' }
  /** Does its work, then closes the connection without a response; a repeated call gets its response. */
  | { kind: 'lost-response' }

export interface CallTrigger {
  /** Used in references: `test_NAME`, and `test_NAME:anything`. */
  name: string
  /** A credit of exactly these hours triggers it too, for clients that cannot choose the reference. */
  hours?: number
  operations: readonly ('credit' | 'reversal')[]
  fault: Fault
  /** For the guide. */
  effect: string
}

const BOTH = ['credit', 'reversal'] as const
const RETRY_AFTER_SECONDS = 2

/** The hours begin with the HTTP status that they stand for, if there is one. */
export const CALL_TRIGGERS: readonly CallTrigger[] = [
  {
    name: 'lost_response',
    hours: 200.01,
    operations: BOTH,
    fault: { kind: 'lost-response' },
    effect: 'done, but the connection closes without a response. Send it again: it is replayed',
  },
  {
    name: 'timeout',
    hours: 200.02,
    operations: BOTH,
    fault: { kind: 'silence' },
    effect: 'no response for two minutes, then the connection closes. Nothing is credited',
  },
  error('invalid_token', 401.01, 'as if the token had expired'),
  error('insufficient_scope', 403.01, 'as if the token did not cover the call'),
  error('ip_not_allowed', 403.02, 'as if you called from another address'),
  error('user_not_found', 404.01, 'as if the member had left', ['credit']),
  error('credit_not_found', undefined, 'as if there were no such credit', ['reversal']),
  error('reference_conflict', 409.01, 'as if the reference had been used before; `data` is invented', ['credit']),
  error('daily_limit_reached', 409.02, 'as if your hours for the day were used up', ['credit']),
  error('validation_failed', 422.01, 'as if `reference` were invalid'),
  error('rate_limited', 429.01, `as if you called too often, with \`Retry-After: ${RETRY_AFTER_SECONDS}\``, BOTH, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  }),
  error('internal_error', 500.01, 'as if the service had a defect'),
  error('unavailable', 503.01, `as if the database were away, with \`Retry-After: ${RETRY_AFTER_SECONDS}\``, BOTH, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  }),
  error('overloaded', 503.02, `as if the service were overloaded, with \`Retry-After: ${RETRY_AFTER_SECONDS}\``, BOTH, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  }),
  error('partner_api_disabled', 503.03, 'as if an administrator had switched the partner API off'),
]

function error(
  code: string,
  hours: number | undefined,
  effect: string,
  operations: CallTrigger['operations'] = BOTH,
  details: { retryAfterSeconds?: number } = {},
): CallTrigger {
  return {
    name: code,
    ...(hours !== undefined && { hours }),
    operations,
    fault: { kind: 'error', code, ...details },
    effect,
  }
}

export interface TriggeredFault {
  fault: Fault
  /** Only the first call with this reference fails. */
  once: boolean
}

/** `test_NAME`, `test_NAME_once`, and either with `:` and anything behind it, because a reference is used only once. */
const REFERENCE = /^test_(?<name>[a-z0-9_]+?)(?<once>_once)?(?::.*)?$/s

/** The fault that a call in a test community asks for. Of a reversal, `reference` is its own reference. */
export function findFault(
  operation: 'credit' | 'reversal',
  { reference, hours }: { reference: string; hours?: number },
): TriggeredFault | undefined {
  const { name, once } = REFERENCE.exec(reference)?.groups ?? {}
  const trigger = CALL_TRIGGERS.find(
    (known) =>
      known.operations.includes(operation) && (known.name === name || (hours !== undefined && known.hours === hours)),
  )
  return trigger && { fault: trigger.fault, once: once !== undefined }
}

/** What a triggered delivery does. */
export type DeliveryFault =
  /** Every attempt, or only the first, counts as answered with this status; nothing is sent. */
  { kind: 'status'; status: number; once: boolean } | { kind: 'late' } | { kind: 'twice' }

/** How much later than its event a late delivery is sent. */
export const LATE_MS = 60_000

/** For the guide; NNN is a status from 300 to 599. */
export const DELIVERY_TRIGGERS: readonly { name: string; effect: string }[] = [
  { name: 'status_NNN', effect: 'every attempt fails, as if you had responded with this status. Nothing is sent' },
  { name: 'status_NNN_once', effect: 'the first attempt fails like this; the second is sent' },
  { name: 'late', effect: 'sent a minute after the event, so that newer events arrive before it' },
  { name: 'twice', effect: 'sent twice in a row, with the same `webhook-id`' },
]

/** In the query of a `target_url`, for all deliveries of the subscription. */
export const TARGET_PARAMETER = 'hourbank_test'
const DELIVERY_REFERENCE = /^test_delivery_(?<name>[a-z0-9_]+?)(?::.*)?$/s
const STATUS = /^status_(?<status>[345]\d\d)(?<once>_once)?$/

/** The fault that a delivery in a test community asks for: by the credit's reference, or else by the target. */
export function findDeliveryFault(targetUrl: string, reference: unknown): DeliveryFault | undefined {
  const byReference = typeof reference === 'string' ? DELIVERY_REFERENCE.exec(reference)?.groups?.name : undefined
  const name = byReference ?? new URL(targetUrl).searchParams.get(TARGET_PARAMETER)
  if (name === 'late' || name === 'twice') return { kind: name }
  const { status, once } = STATUS.exec(name ?? '')?.groups ?? {}
  return status === undefined ? undefined : { kind: 'status', status: Number(status), once: once !== undefined }
}
