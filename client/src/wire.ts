// Made from openapi.json by `npm run openapi`; not to be edited.

export interface AcceptedCredit {
  reference: string
  /** replayed: the credit already existed */
  result: 'created' | 'replayed'
  credit: CreditAnswer
}

export interface Attempt {
  number: number
  at: string
  duration_ms: number
  /** Status of the HTTP response */
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | UnknownName | null
  error: string | null
  /** Its first 1000 characters. Of a success, only while no later one follows */
  response: string | null
}

export interface Balance {
  user_id: number
  balance_hours: number
  /** When the balance last changed */
  as_of: string
}

export interface BalanceChange {
  user_id: number
  balance_hours: number
  /** Counts the changes of the resource, so that you can ignore an event that arrives late */
  version: number
}

export type BatchedCredit = AcceptedCredit | RejectedCredit

export interface Bucket {
  min: number
  max: number
}

export interface CommunityAggregates {
  /** The last closed month; its figures no longer change */
  closed_through: string | null
  closed_at: string | null
  /** Activity in closed months. Totals are the sums of the published periods. */
  flows: {
    /** Exchanges between members, without reversed ones */
    exchanges: Flow
    /** Whole hours, rounded down */
    hours_exchanged: Flow
    /** Credited by partners, in whole hours, rounded down. The credits of a partner count in the period in which they concern enough members. */
    hours_credited: Flow
    /** Distinct members of the period. A member who trades in several periods counts in each, and so in the total. */
    trading_members: Flow
    /** Members recorded */
    new_members: Flow
  }
  /** The state that partners could see when a month was last closed after enough members had changed it. Hidden members and their listings are not counted. */
  stocks: {
    active_members: Figure
    active_services: Figure
    active_requests: Figure
    listings_by_category: {
      category: string
      figure: Figure
    }[]
  }
}

export interface Credit {
  transaction_id: number
  user_id: number
  hours: number
  reference: string
  note: string | null
  settled_on: string | null
  status: 'completed' | 'reversed'
  reversed_at: string | null
  /** The balance right after this credit; only for tokens with wallet.read */
  balance_hours?: number
  created_at: string
}

export interface CreditAnswer {
  transaction_id: number
  user_id: number
  hours: number
  reference: string
  note: string | null
  settled_on: string | null
  status: 'completed' | 'reversed'
  reversed_at: string | null
  /** The balance right after this credit; only for tokens with wallet.read */
  balance_hours?: number
  created_at: string
  /** true if the credit already existed, from an earlier call or from an attempt whose response was lost */
  replayed: boolean
}

export interface CreditBatch {
  /** One result per credit, in the order of the request */
  data: BatchedCredit[]
  meta: CreditBatchMeta
}

export interface CreditBatchMeta {
  created: number
  replayed: number
  rejected: number
}

export interface CreditBatchRequest {
  /** 1 to 1000 credits, executed in this order */
  credits: CreditRequest[]
}

export interface CreditRequest {
  /** The member; for a payment, found by its payment_reference */
  user_id: number
  /** More than 0, with up to two decimals, up to the limit of the community (1000 unless it chose another) */
  hours: number
  /** Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent */
  reference: string
  /** For people, up to 500 characters; may differ when sent again */
  note?: string
  /** The day on which the bank transfer was settled; at most a day ahead of today in the community */
  settled_on?: string
}

export interface CreditsMeta {
  limit: number
  has_more: boolean
  next_cursor: string | null
  /** Use it as updated_since (or since) in the next round: no late commit is missed */
  synced_until?: string
  /** For the whole selection */
  total_count: number
  /** For the whole selection */
  total_hours: number
}

export interface Delivery {
  id: number
  subscription_id: number
  /** The webhook-id */
  event_id: string
  event_type: string
  status: 'pending' | 'held' | 'delivered' | 'failed'
  held_reason: string | null
  next_attempt_at: string | null
  created_at: string
  finished_at: string | null
  /** The newest 10, in the order of their times */
  attempts: Attempt[]
}

export type Error = ReferenceConflictError | ValidationFailedError | OtherError

export interface Event {
  /** The webhook-id */
  id: string
  type: string
  timestamp: string
  data: unknown
}

export interface EventType {
  name: string
  description: string
  /** Required in addition to webhooks.manage */
  scope: string | null
  /** JSON Schema of data */
  schema: unknown
  /** Of data */
  example: unknown
}

export interface FieldError {
  code: string
  field: string
  message: string
}

export type Figure = Bucket | Suppressed

export interface Flow {
  total: Figure
  /** Oldest first. The last one is suppressed until it can be merged with more months; after a year it stays suppressed. */
  periods: Period[]
}

export interface Gone {
  id: number
  /** Counts the changes of the resource, so that you can ignore an event that arrives late */
  version: number
}

export interface Listing {
  id: number
  /** Whether it is offered or requested */
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  /** The expected duration */
  hours: number | null
  user_id: number
  status: 'active'
  created_at: string
  updated_at: string
}

export interface Member {
  id: number
  name: string
  /** Only with the scope users.pii; null for a member without one */
  email?: string | null
  status: 'active'
  /** ISO 11649 creditor reference; its check digits catch typing errors */
  payment_reference: string
  joined_at: string
  updated_at: string
}

export interface OtherError {
  /** A stable code; more may be added */
  error:
    | 'invalid_request'
    | 'unsupported_grant_type'
    | 'invalid_scope'
    | 'invalid_client'
    | 'authentication_required'
    | 'invalid_token'
    | 'insufficient_scope'
    | 'ip_not_allowed'
    | 'not_found'
    | 'user_not_found'
    | 'listing_not_found'
    | 'credit_not_found'
    | 'subscription_not_found'
    | 'delivery_not_found'
    | 'method_not_allowed'
    | 'request_timeout'
    | 'daily_limit_reached'
    | 'subscription_limit_reached'
    | 'cursor_expired'
    | 'resync_required'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'misdirected_request'
    | 'rate_limited'
    | 'headers_too_large'
    | 'internal_error'
    | 'partner_api_disabled'
    | 'overloaded'
    | 'unavailable'
    | UnknownName
  /** For people */
  error_description: string
  /** Also in the header Request-Id */
  request_id: string
}

export interface PageMeta {
  limit: number
  has_more: boolean
  next_cursor: string | null
  /** Use it as updated_since (or since) in the next round: no late commit is missed */
  synced_until?: string
}

export interface Period {
  /** A calendar month in the community's time zone */
  from: string
  /** A calendar month in the community's time zone */
  to: string
  figure: Figure
}

export interface ReferenceConflictError {
  /** A stable code; more may be added */
  error: 'reference_conflict'
  /** For people */
  error_description: string
  /** Also in the header Request-Id */
  request_id: string
  data: Credit
}

export interface RejectedCredit {
  reference: string
  /** The error that the same credit gets in a call of its own; more may be added */
  result: 'user_not_found' | 'reference_conflict' | 'daily_limit_reached' | 'validation_failed' | UnknownName
  /** For people */
  error_description: string
  data?: Credit
}

export interface Removal {
  type: 'user' | 'listing'
  /** Id of the member or listing */
  id: number
  removed_at: string
}

export interface ReplayRequest {
  since: string
}

export interface ReplayStarted {
  deliveries: number
}

export interface Reversal {
  reference: string
  reversal_reference: string
  /** As it was sent; not stored for an erased member */
  reason: string | null
  reversed_at: string
  credit: Credit
  replayed: boolean
}

export interface ReverseRequest {
  /** Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent */
  reference: string
  /** Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent */
  reversal_reference: string
  /** For people, up to 500 characters */
  reason?: string
}

export interface RevokeRequest {
  token?: string
  /** Ignored: there is only one kind of token */
  token_type_hint?: string
  /** Unless HTTP Basic or a client assertion is used */
  client_id?: string
  /** Unless HTTP Basic or a client assertion is used */
  client_secret?: string
  /** urn:ietf:params:oauth:client-assertion-type:jwt-bearer */
  client_assertion_type?: string
  /** Instead of a secret: a JWT signed with the private key of the client (RFC 7523) */
  client_assertion?: string
}

export interface Subscription {
  id: number
  event_types: string[]
  target_url: string
  /** The scopes of the token that created it, which limit what it sends. Tokens without all of them can only list, pause and delete it */
  scopes: (
    | 'users.read'
    | 'users.pii'
    | 'listings.read'
    | 'wallet.read'
    | 'wallet.write'
    | 'aggregates.read'
    | 'webhooks.manage'
    | UnknownName
  )[]
  status: 'active' | 'paused' | 'disabled'
  status_reason: string | null
  status_changed_at: string
  failing_since: string | null
  last_success_at: string | null
  created_at: string
  updated_at: string
}

export interface SubscriptionChange {
  /** Names, prefix.* or *; see GET /webhooks/event-types */
  event_types?: string[]
  /** An https:// address of a host on the internet, without spaces, backslashes, credentials or fragment; by name, not by IP address */
  target_url?: string
  /** active also enables a disabled subscription */
  status?: 'active' | 'paused'
}

export interface SubscriptionMeta {
  /** Accepted, but not emitted yet */
  unknown_event_types: string[]
}

export interface SubscriptionRequest {
  /** Names, prefix.* or *; see GET /webhooks/event-types */
  event_types: string[]
  /** An https:// address of a host on the internet, without spaces, backslashes, credentials or fragment; by name, not by IP address */
  target_url: string
}

export interface SubscriptionWithSecret {
  id: number
  event_types: string[]
  target_url: string
  /** The scopes of the token that created it, which limit what it sends. Tokens without all of them can only list, pause and delete it */
  scopes: (
    | 'users.read'
    | 'users.pii'
    | 'listings.read'
    | 'wallet.read'
    | 'wallet.write'
    | 'aggregates.read'
    | 'webhooks.manage'
    | UnknownName
  )[]
  status: 'active' | 'paused' | 'disabled'
  status_reason: string | null
  status_changed_at: string
  failing_since: string | null
  last_success_at: string | null
  created_at: string
  updated_at: string
  /** The signing key; returned only in this response */
  secret: string
}

export interface Suppressed {
  /** The figure is below 10, or is based on fewer than ten members, or excludes fewer than ten */
  suppressed: boolean
}

export interface TestSent {
  event_id: string
}

export interface Token {
  access_token: string
  token_type: 'Bearer'
  /** Seconds: 3600 */
  expires_in: number
  /** The granted scopes */
  scope: string
}

export interface TokenRequest {
  /** client_credentials */
  grant_type?: string
  /** Unless HTTP Basic or a client assertion is used */
  client_id?: string
  /** Unless HTTP Basic or a client assertion is used */
  client_secret?: string
  /** urn:ietf:params:oauth:client-assertion-type:jwt-bearer */
  client_assertion_type?: string
  /** Instead of a secret: a JWT signed with the private key of the client (RFC 7523) */
  client_assertion?: string
  /** Separated by spaces; if omitted, all scopes of the client. Known scopes: users.read users.pii listings.read wallet.read wallet.write aggregates.read webhooks.manage */
  scope?: string
}

export interface ValidationFailedError {
  /** A stable code; more may be added */
  error: 'validation_failed'
  /** For people */
  error_description: string
  /** Also in the header Request-Id */
  request_id: string
  /** Every problem found, up to 100 */
  errors: FieldError[]
}

export interface VersionedListing {
  id: number
  /** Whether it is offered or requested */
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  /** The expected duration */
  hours: number | null
  user_id: number
  status: 'active'
  created_at: string
  updated_at: string
  /** Counts the changes of the resource, so that you can ignore an event that arrives late */
  version: number
}

export interface VersionedMember {
  id: number
  name: string
  /** Only with the scope users.pii; null for a member without one */
  email?: string | null
  status: 'active'
  /** ISO 11649 creditor reference; its check digits catch typing errors */
  payment_reference: string
  joined_at: string
  updated_at: string
  /** Counts the changes of the resource, so that you can ignore an event that arrives late */
  version: number
}

export interface WalletCredited {
  user_id: number
  balance_hours?: number
  /** Counts the changes of the resource, so that you can ignore an event that arrives late */
  version?: number
  transaction_id?: number
  hours?: number
  reference?: string
  note?: string | null
  settled_on?: string | null
}

export interface WalletReversed {
  user_id: number
  balance_hours?: number
  /** Counts the changes of the resource, so that you can ignore an event that arrives late */
  version?: number
  transaction_id?: number
  hours?: number
  reference?: string
  reversal_reference?: string
}

export interface ListUsersQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
  /** Only what changed since this time, ordered by time of change. Start with the synced_until of your last round. */
  updated_since?: string
  /** Only the member with this reference */
  payment_reference?: string
}

export interface ListListingsQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
  /** Only what changed since this time, ordered by time of change. Start with the synced_until of your last round. */
  updated_since?: string
  /** Whether it is offered or requested */
  type?: 'service' | 'request'
  /** Exact name */
  category?: string
  /** Only listings of this member */
  user_id?: number
  /** Words in title or description */
  q?: string
}

export interface ListRemovalsQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
  /** The synced_until of your last round */
  since?: string
  /** Only members, or only listings */
  type?: 'user' | 'listing'
}

export interface ListCreditsQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
  /** Up to 191 characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent */
  reference?: string
  /** Only to this member */
  user_id?: number
  /** Only completed or only reversed credits */
  status?: 'completed' | 'reversed'
  /** Created at this time or later */
  created_since?: string
  /** Created before this time */
  created_until?: string
  /** Settled on this day */
  settled_on?: string
}

export interface ListSubscriptionsQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
}

export interface ListDeliveriesQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
  /** Only deliveries in this state */
  status?: 'pending' | 'held' | 'delivered' | 'failed'
}

export interface ListEventsQuery {
  /** Up to 100; 25 if omitted */
  limit?: number
  /** Continues a list: meta.next_cursor of the previous page, with the same filters */
  cursor?: string
}

export interface EventDataByType {
  /**
   * A partner credited hours. Reference, note and hours go only to the partner that made the credit.
   *
   * Sent to clients with `webhooks.manage` and `wallet.read`.
   */
  'wallet.credited': WalletCredited
  /**
   * A credit was reversed. References and hours go only to the partner that made the credit.
   *
   * Sent to clients with `webhooks.manage` and `wallet.read`.
   */
  'wallet.reversed': WalletReversed
  /**
   * An exchange or an adjustment: one event per member, without counterparty or listing.
   *
   * Sent to clients with `webhooks.manage` and `wallet.read`.
   */
  'wallet.balance_changed': BalanceChange
  /**
   * A member joined, returned or is no longer hidden. email only with users.pii.
   *
   * Sent to clients with `webhooks.manage` and `users.read`.
   */
  'user.joined': VersionedMember
  /**
   * A member changed. email only with users.pii.
   *
   * Sent to clients with `webhooks.manage` and `users.read`.
   */
  'user.updated': VersionedMember
  /**
   * A member can no longer be seen.
   *
   * Sent to clients with `webhooks.manage` and `users.read`.
   */
  'user.left': Gone
  /**
   * A member was erased: delete everything that you store about them.
   *
   * Sent to clients with `webhooks.manage` and `users.read`.
   */
  'user.erased': Gone
  /**
   * A listing became visible, for the first time or again.
   *
   * Sent to clients with `webhooks.manage` and `listings.read`.
   */
  'listing.published': VersionedListing
  /**
   * A listing changed.
   *
   * Sent to clients with `webhooks.manage` and `listings.read`.
   */
  'listing.updated': VersionedListing
  /**
   * A listing can no longer be seen.
   *
   * Sent to clients with `webhooks.manage` and `listings.read`.
   */
  'listing.closed': Gone
  /**
   * Sent on request to one subscription.
   *
   * Sent to clients with `webhooks.manage`.
   */
  'webhook.test': {
    subscription_id: number
  }
}

export const SCOPES = [
  'users.read',
  'users.pii',
  'listings.read',
  'wallet.read',
  'wallet.write',
  'aggregates.read',
  'webhooks.manage',
] as const

export type ErrorCode =
  | 'reference_conflict'
  | 'validation_failed'
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_client'
  | 'authentication_required'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'ip_not_allowed'
  | 'not_found'
  | 'user_not_found'
  | 'listing_not_found'
  | 'credit_not_found'
  | 'subscription_not_found'
  | 'delivery_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'daily_limit_reached'
  | 'subscription_limit_reached'
  | 'cursor_expired'
  | 'resync_required'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'misdirected_request'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'partner_api_disabled'
  | 'overloaded'
  | 'unavailable'

/** A name that this version does not know. Exists only as a type: no string equals it, so comparisons tell known names from unknown ones. */
export declare enum UnknownName {
  Any = 'any',
}
