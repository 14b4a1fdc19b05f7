// What travels on the wire, in the words of the partner API. server/test/client-types.test.ts has the compiler prove that
// these are the server's schemas: change both or neither.

/** What a token can allow, in the order of the specification. */
export const SCOPES = [
  'users.read',
  'users.pii',
  'listings.read',
  'wallet.read',
  'wallet.write',
  'aggregates.read',
  'webhooks.manage',
] as const

export type Scope = (typeof SCOPES)[number]

/** The codes of `ApiError` that the service is known to use; it may come to use more. */
export type ErrorCode =
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
  | 'reference_conflict'
  | 'daily_limit_reached'
  | 'subscription_limit_reached'
  | 'cursor_expired'
  | 'resync_required'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'partner_api_disabled'
  | 'overloaded'
  | 'unavailable'

/** One problem with one field of a request. */
export interface FieldError {
  code: string
  field: string
  message: string
}

export interface TokenResponse {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  scope: string
}

// Lists

export interface PageQuery {
  /** How many at most, 1 to 100; 25 when omitted. */
  limit?: number
  /** `meta.next_cursor` of the page before, with the same filters. */
  cursor?: string
}

export interface PageMeta {
  limit: number
  has_more: boolean
  next_cursor: string | null
  /** Where the next round of a list of changes begins; nothing that commits late is missed. */
  synced_until?: string
}

export interface Page<Item, Meta extends PageMeta = PageMeta> {
  data: Item[]
  meta: Meta
}

// Members and listings

export interface Member {
  id: number
  name: string
  /** Only with the scope `users.pii`; null for a member without one. */
  email?: string | null
  status: 'active'
  /** ISO 11649 creditor reference; its check digits catch typing errors. */
  payment_reference: string
  joined_at: string
  updated_at: string
}

export interface MembersQuery extends PageQuery {
  /** Only what changed since, ordered by change. */
  updated_since?: string
  payment_reference?: string
}

export interface Listing {
  id: number
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  /** What it is expected to take. */
  hours: number | null
  user_id: number
  status: 'active'
  created_at: string
  updated_at: string
}

export interface ListingsQuery extends PageQuery {
  /** Only what changed since, ordered by change. */
  updated_since?: string
  type?: Listing['type']
  category?: string
  user_id?: number
  /** Words in title or description. */
  q?: string
}

/** A member or listing that could be seen and no longer can: a copy has to forget it. */
export interface Removal {
  type: 'user' | 'listing'
  /** Of the member or listing. */
  id: number
  removed_at: string
}

export interface RemovalsQuery extends PageQuery {
  /** The `synced_until` of the last round. */
  since?: string
  type?: Removal['type']
}

// Wallet

export interface Balance {
  user_id: number
  balance_hours: number
  /** When the balance last changed. */
  as_of: string
}

export interface CreditRequest {
  user_id: number
  /** More than 0, at most two decimals, at most the community's limit (1000 unless it chose another). */
  hours: number
  /** 1 to 191 characters, case-sensitive. Hours are credited once per reference, however often it is sent. */
  reference: string
  /** At most 500 characters. */
  note?: string
  /** The day (YYYY-MM-DD) on which the bank transfer was settled. */
  settled_on?: string
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
  /** The balance right after this credit. */
  balance_hours: number
  created_at: string
}

export interface CreditAnswer extends Credit {
  /** true: this reference was credited before, by an earlier call or by an attempt whose answer was lost. */
  replayed: boolean
}

export interface CreditsQuery extends PageQuery {
  reference?: string
  user_id?: number
  status?: Credit['status']
  created_since?: string
  created_until?: string
  settled_on?: string
}

export interface CreditsMeta extends PageMeta {
  /** Of the whole selection, not only of this page. */
  total_count: number
  /** Of the whole selection, not only of this page. */
  total_hours: number
}

export interface ReverseRequest {
  /** Of the credit. */
  reference: string
  /** Of the reversal: it is done once per reversal reference, however often it is sent. */
  reversal_reference: string
  /** At most 500 characters. */
  reason?: string
}

export interface Reversal {
  reference: string
  reversal_reference: string
  reason: string | null
  reversed_at: string
  credit: Credit
  replayed: boolean
}

// Aggregates

/** A bucket, or nothing: below 10, or too few members are behind it. */
export type Figure = { min: number; max: number } | { suppressed: true }

/** `from` and `to` are calendar months (YYYY-MM); several when they had to be merged. */
export interface Period {
  from: string
  to: string
  figure: Figure
}

export interface Flow {
  /** The sum of the published periods. */
  total: Figure
  /** The oldest first. */
  periods: Period[]
}

export interface CommunityAggregates {
  /** The last closed month (YYYY-MM); null before the first. */
  closed_through: string | null
  closed_at: string | null
  flows: {
    exchanges: Flow
    hours_exchanged: Flow
    hours_credited: Flow
    trading_members: Flow
    new_members: Flow
  }
  stocks: {
    active_members: Figure
    active_services: Figure
    active_requests: Figure
    listings_by_category: { category: string; figure: Figure }[]
  }
}

// Webhooks

export interface SubscriptionRequest {
  /** 1 to 50 names, `prefix.*` or `*`. */
  event_types: string[]
  /** An https:// address, at most 2048 characters. */
  target_url: string
}

export interface SubscriptionChange {
  event_types?: string[]
  target_url?: string
  /** `active` also enables what was disabled. */
  status?: 'active' | 'paused'
}

export interface Subscription {
  id: number
  event_types: string[]
  target_url: string
  status: 'active' | 'paused' | 'disabled'
  status_reason: string | null
  status_changed_at: string
  failing_since: string | null
  last_success_at: string | null
  created_at: string
  updated_at: string
}

export interface NewSubscription extends Subscription {
  /** For `verifyWebhook`. Shown only here. */
  secret: string
}

export interface SubscriptionMeta {
  /** Accepted, but not emitted yet. */
  unknown_event_types: string[]
}

export interface Attempt {
  number: number
  at: string
  duration_ms: number
  /** Of the HTTP answer. */
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | null
  error: string | null
  /** Its first 16 KiB. */
  response: string | null
}

export interface Delivery {
  id: number
  subscription_id: number
  /** The webhook-id. */
  event_id: string
  event_type: string
  status: 'pending' | 'held' | 'delivered' | 'failed'
  held_reason: string | null
  next_attempt_at: string | null
  created_at: string
  finished_at: string | null
  attempts: Attempt[]
}

export interface DeliveriesQuery extends PageQuery {
  status?: Delivery['status']
}

export interface TestSent {
  event_id: string
}

export interface ReplayRequest {
  since: string
}

export interface ReplayStarted {
  /** How many are under way. */
  deliveries: number
}

/** An entry of the catalogue of events. */
export interface EventTypeEntry {
  name: string
  description: string
  /** Needed beside `webhooks.manage`. */
  scope: string | null
  /** JSON Schema of `data`. */
  schema: unknown
  example: unknown
}

// Events

interface Versioned {
  /** Grows with every change of the resource: a late event can be told from a newer. */
  version: number
}

export interface BalanceChange extends Versioned {
  user_id: number
  balance_hours: number
}

/** Everything but member and balance goes only to the partner that made the credit. */
export interface WalletCredited extends BalanceChange {
  transaction_id?: number
  hours?: number
  reference?: string
  note?: string | null
  settled_on?: string | null
}

/** Everything but member and balance goes only to the partner that made the credit. */
export interface WalletReversed extends BalanceChange {
  transaction_id?: number
  hours?: number
  reference?: string
  reversal_reference?: string
}

export interface VersionedMember extends Member, Versioned {}
export interface VersionedListing extends Listing, Versioned {}

export interface Gone extends Versioned {
  id: number
}

export interface EventDataByType {
  'wallet.credited': WalletCredited
  'wallet.reversed': WalletReversed
  'wallet.balance_changed': BalanceChange
  'user.joined': VersionedMember
  'user.updated': VersionedMember
  'user.left': Gone
  'user.erased': Gone
  'listing.published': VersionedListing
  'listing.updated': VersionedListing
  'listing.closed': Gone
  'webhook.test': { subscription_id: number }
}

export type EventType = keyof EventDataByType

interface EventOf<Type extends string, Data> {
  /** The webhook-id: the same over retries, redelivery and replay, and in the feed. */
  id: string
  type: Type
  timestamp: string
  data: Data
}

/** One member per type: `switch (event.type)` tells the type of `event.data`. */
export type KnownEvent = { [Type in EventType]: EventOf<Type, EventDataByType[Type]> }[EventType]

/** Nothing at run time. No name can be compared with it, so `switch (event.type)` keeps the known events apart from it. */
declare enum NameUnknownHere {
  Any = 'any',
}

/** A text: the name of an event that this version of the SDK has not heard of. */
export type UnknownEventType = NameUnknownHere

/** An event that this version of the SDK does not know. New ones may come at any time. */
export type UnknownEvent = EventOf<UnknownEventType, unknown>

export type HourbankEvent = KnownEvent | UnknownEvent
