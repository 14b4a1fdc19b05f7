// Made from console/openapi.json by `npm run openapi`; not to be edited.

export interface AdjustmentRequest {
  member_id: number
  hours: number
  reason: string
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface Administrator {
  id: number
  email: string
  name: string
  role: Role
  created_at: string
  /** In this community */
  last_seen_at: string | null
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
  /** Whether they have one; null if the community does not require it */
  second_factor: boolean | null
}

export interface Alert {
  /** 0 for what concerns the whole service */
  id: number
  /** webhook_failing: Nothing has arrived at a webhook for an hour. webhook_disabled: A webhook was disabled. hours_nearly_used: A partner has credited 80 % of its hours of the day. hours_used: A partner has used up its hours of the day. calls_rejected: Many calls were rejected within minutes. credentials_expiring: Credentials expire within two weeks. ledger_wrong: ledger verify found a difference in the books. backup_failed: A backup failed. disk_low: The disk of the database is nearly full. */
  kind: AlertKind
  /** The subscription, the partner or the client; 0 for none */
  subject_id: number
  detail: Record<string, string | number>
  raised_at: string
  ended_at: string | null
}

export interface AlertChoices {
  by_mail: AlertKind[]
  in_console: AlertKind[]
  /** The service can send mail */
  mail: boolean
}

export interface AlertChoicesBody {
  by_mail: AlertKind[]
  in_console: AlertKind[]
}

export type AlertKind =
  | 'webhook_failing'
  | 'webhook_disabled'
  | 'hours_nearly_used'
  | 'hours_used'
  | 'calls_rejected'
  | 'credentials_expiring'
  | 'ledger_wrong'
  | 'backup_failed'
  | 'disk_low'

export interface Attempt {
  number: number
  at: string
  duration_ms: number
  /** Status of the HTTP response */
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | null
  error: string | null
  /** Its first 16 KiB. Of a success the first 1 KiB, and only while no later success follows */
  response: string | null
}

export interface Attention {
  /** webhooks_failing: Endpoints to which nothing arrives, or that were disabled. hours_nearly_used: Partners that have credited four fifths of their hours of today. calls_limited: Partners that sent too many calls within the hour. credentials_expiring: Credentials that expire within two weeks, or have expired in the last two. backup_old: The last backup is more than a week old; only for somebody who owns all communities. import_refused: The last import left rows out. second_factor_missing: Administrators without a second factor where it is required; otherwise the caller alone. members_at_limit: Members whose balance is at the lower limit. members_idle: Active members without an exchange for six months. */
  kind: AttentionKind
  count: Count
  /** The first few */
  examples: {
    /** Of the subscription, the partner, the member or the person */
    id?: number
    name: string
    status?: string
    since?: string
    client_id?: string
    hours?: number
    limit_hours?: number
    calls?: number
    refused?: number
  }[]
}

export type AttentionKind =
  | 'webhooks_failing'
  | 'hours_nearly_used'
  | 'calls_limited'
  | 'credentials_expiring'
  | 'backup_old'
  | 'import_refused'
  | 'second_factor_missing'
  | 'members_at_limit'
  | 'members_idle'

export interface AuditRecord {
  id: number
  at: string
  actor: {
    kind: 'admin' | 'client' | 'command' | 'system'
    id: number | null
    name: string
    /** Whose client it was */
    partner: string | null
  }
  action: string
  subject: {
    kind: string
    id: number | null
    /** As it is called now; null for what is gone or has no name */
    name: string | null
    /** Whose client it is */
    partner: string | null
  }
  /** What the subject moved; null for everything else */
  transfer: {
    hours: number
    giver: {
      id: number
      name: string
    } | null
    receiver: {
      id: number
      name: string
    } | null
  } | null
  detail: Record<string, unknown>
  /** Whose email addresses were read */
  member_ids: number[] | null
}

export interface Bucket {
  min: number
  max: number
}

export interface Call {
  request_id: string
  at: string
  partner_id: number | null
  partner_name: string | null
  method: string
  path: string
  status: number
  error: string | null
  duration_ms: number
}

export interface CallDetail {
  request_id: string
  at: string
  partner_id: number | null
  partner_name: string | null
  method: string
  path: string
  status: number
  error: string | null
  duration_ms: number
  /** The client that called */
  client_id: string | null
  client_name: string | null
  route: string | null
  error_description: string | null
  address: string | null
  user_agent: string | null
}

export interface CallPoint {
  at: string
  answered: number
  /** 401 */
  unauthenticated: number
  /** 403 */
  forbidden: number
  /** 429 */
  limited: number
  /** All other 4xx */
  rejected: number
  /** 5xx */
  failed: number
}

export interface CallsOfPartner {
  partner_id: number
  name: string
  status: 'active' | 'suspended'
  calls: number
  errors: number
  last_call_at: string | null
}

export interface Category {
  id: number
  name: string
  retired_at: string | null
  active_listings: number
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
}

export interface Client {
  client_id: string
  name: string
  status: 'active' | 'revoked' | 'expired'
  /** From then on the client is rejected like one that is revoked */
  expires_at: string | null
  scopes: Scope[]
  /** By a secret, by registered keys, or by the keys published at jwks_url */
  authentication: 'secret' | 'keys' | 'jwks'
  keys: ClientKey[]
  jwks_url: string | null
  jwks_url_set_at: string | null
  /** Empty unless it authenticates by a secret */
  secret_last_four: string
  secret_created_at: string
  /** The secret before is valid until then */
  grace_until: string | null
  created_at: string
  revoked_at: string | null
  last_used_at: string | null
  /** On average in the last seven days, rejected ones included */
  calls_per_day: number
}

export interface ClientKey {
  /** RFC 7638, with SHA-256 */
  thumbprint: string
  /** EC, OKP or RSA */
  kty: string
  created_at: string
}

export interface Community {
  slug: string
  name: string
  role: Role
  test: boolean
  time_zone: string
  language: string
  second_factor_required: boolean
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

export interface CommunityChange {
  name?: string
  time_zone?: string
  language?: string
  lower_limit_hours?: number
  credit_limit_hours?: number
  /** Asks for a fresh proof, and for a second factor of your own */
  second_factor_required?: boolean
  /** Asks for a fresh proof. Empty: none */
  iban?: string | null
  /** Asks for a fresh proof. Empty: the name */
  account_holder?: string | null
}

export interface CommunityOverview {
  /** What somebody should look at, the most urgent first */
  attention: Attention[]
  months: MonthFigures[]
  active_members: number
  call_days: number
  /** The few that called last */
  partners: CallsOfPartner[]
  partner_count: number
  webhooks: WebhookCounts
  /** Who has access again after a restore, until the partner API is switched on */
  review: RestoreReview | null
  first_steps: StepsTaken
}

export interface CommunitySettings {
  slug: string
  name: string
  test: boolean
  time_zone: string
  language: string
  /** How far a wallet may fall by an exchange; 0 or less */
  lower_limit_hours: number
  /** How much a partner may credit at once */
  credit_limit_hours: number
  /** Whether administrators without one are kept out */
  second_factor_required: boolean
  partner_api_enabled: boolean
  partner_api_disabled_reason: string | null
  /** Where members pay money to; printed on statements */
  iban: string | null
  /** Of the bank account, if not the community by its name */
  account_holder: string | null
  created_at: string
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
}

export interface CorrectionRequest {
  /** The exchange as it should be */
  slips: {
    giver_id: number
    receiver_id: number
    hours: number
    occurred_on?: string
    listing_id?: number | null
    /** Without a listing, which has its own */
    category?: string | null
    note?: string | null
  }[]
  reason: string
  /** Record even what looks like a slip that was entered twice */
  confirm_duplicates?: boolean
  /** Why members may fall below the lower limit; stored with the exchanges */
  limit_reason?: string | null
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface Count {
  count: number
  /** There are more than the count: it stops at a limit */
  more: boolean
}

export interface CreatedPartner {
  partner_id: number
  scopes: Scope[]
  client_id: string
  /** Shown only in this answer; a client with keys has none */
  client_secret?: string
  /** Where the partner exchanges them for a token */
  token_url: string
}

export interface Credentials {
  client_id: string
  /** Shown only in this answer; a client with keys has none */
  client_secret?: string
  /** Where the partner exchanges them for a token */
  token_url: string
}

export interface DeliveryDetail {
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
  /** Why it is not sent yet. paused: the subscription is paused. disabled: the subscription is disabled. partner_api: the partner API is switched off. receiver: several deliveries failed in a row, so the next is tried after a pause. retry: the last attempt failed, and the next is scheduled. turn: it is sent as soon as it is its turn. */
  waits_for: WaitsFor | null
  /** The newest first */
  attempts: Attempt[]
  /** What the recipient is sent, by what it may know now */
  body: unknown
}

export interface EmailRead {
  at: string
  partner: {
    id: number
    name: string
  } | null
  client_id: string
  request_id: string | null
}

export interface EndpointPoint {
  at: string
  /** Attempts of events that happened from then on */
  succeeded: number
  failed: number
  /** Until the receiver answered, or the attempt failed */
  median_ms: number | null
  /** One attempt in twenty took longer */
  slow_ms: number | null
}

export interface EndpointStatistics {
  points: EndpointPoint[]
  /** False: only the newest deliveries were counted */
  complete: boolean
}

export interface Error {
  /** A stable code */
  error: string
  /** For people */
  error_description: string
  /** Also in the header Request-Id */
  request_id: string
  /** A stable code, more precise than the error; x-sentences has its sentence */
  reason?: string
  /** What stands in the braces of the sentence */
  values?: Record<string, string | number>
  /** Every problem found, up to 100 */
  errors?: FieldError[]
}

export interface ErrorGroup {
  status: number
  error: string | null
  method: string
  /** The path with its parameters named; null for unknown paths */
  route: string | null
  partner_id: number | null
  partner_name: string | null
  count: number
  last_at: string
}

export interface ExchangesRequest {
  slips: {
    giver_id: number
    receiver_id: number
    hours: number
    occurred_on?: string
    listing_id?: number | null
    /** Without a listing, which has its own */
    category?: string | null
    note?: string | null
  }[]
  /** Record even what looks like a slip that was entered twice */
  confirm_duplicates?: boolean
  /** Why members may fall below the lower limit; stored with the exchanges */
  limit_reason?: string | null
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface ExpiryBody {
  /** From then on the client is rejected like one that is revoked */
  expires_at?: string
}

export interface FieldError {
  code: string
  field: string
  message: string
  /** A stable code, more precise than the error; x-sentences has its sentence */
  reason?: string
  /** What stands in the braces of the sentence */
  values?: Record<string, string | number>
}

export type Figure = Bucket | Suppressed

export interface Flow {
  total: Figure
  /** Oldest first. The last one is suppressed until it can be merged with more months; after a year it stays suppressed. */
  periods: Period[]
}

export interface FoundMember {
  id: number
  name: string
  email: string | null
  external_id: string | null
  payment_reference: string
  status: 'active' | 'inactive'
  balance_hours: number
}

export interface FoundPartner {
  id: number
  name: string
  status: 'active' | 'suspended'
}

export interface ImportResult {
  dry_run: boolean
  written: boolean
  rows: number
  added: number
  changed: number
  unchanged: number
  refused: number
  /** Of a dry run: new rows with the name of a member who is there, or a number that differs only by zeros at its start; omitted if there are none */
  lookalikes?: number
  /** The opening balances that are recorded, if the file has them */
  openings?: {
    members: number
    hours: number
    /** Of each adjustment, in the community's language */
    reason: string
  }
  /** Of a dry run all rows, otherwise the refused ones; so many of each outcome at most */
  fates: RowOutcome[]
  fates_left_out: number
}

export interface InspectedFile {
  encoding: 'utf-8' | 'windows-1252' | 'utf-16le' | 'utf-16be'
  delimiter: 'comma' | 'semicolon' | 'tab'
  /** The decimal sign of numbers */
  decimal: 'point' | 'comma'
  /** Of dates like 5/6/2024. Dates with dots have the day first, and 2024-06-05 is always understood */
  dates: 'day_first' | 'month_first'
  /** The first row */
  header: string[]
  /** A few rows after it */
  rows: string[][]
  /** Which columns of the file, counted from 0, hold what: external_id:0,name:1,name:2. Two are joined by a space */
  columns: string
  /** Whether columns, decimal and dates are those of an earlier import */
  remembered: boolean
  /** Whether the first row has the names of the import, so that no mapping is needed */
  has_own_names: boolean
}

export interface Invitation {
  id: number
  email: string
  name: string
  role: Role
  created_at: string
  expires_at: string
}

export interface JwksUrlBody {
  /** An https:// address on the internet where the client publishes its keys */
  jwks_url: string
}

export type Language = 'en' | 'de' | 'es' | 'fr' | 'ar'

export interface LastAttempt {
  number: number
  at: string
  duration_ms: number
  /** Status of the HTTP response */
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | null
  error: string | null
}

export interface LeaveForm {
  /** Whether the hours stay in the wallet, or go to the account of the community by an adjustment */
  balance: 'keep' | 'to_community'
  reason?: string
}

export interface LedgerHead {
  /** How many transfers of the community are chained */
  position: number
  /** The last of them */
  transfer_id: number
  /** SHA-256, in hexadecimal */
  hash: string
  chained_at: string
}

export interface LinkState {
  purpose: 'invitation' | 'reset'
  email: string
  invitation: {
    community: string
    role: Role
    /** As the owner wrote it */
    name: string
  } | null
  expires_at: string
}

export interface ListedDelivery {
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
  /** Why it is not sent yet. paused: the subscription is paused. disabled: the subscription is disabled. partner_api: the partner API is switched off. receiver: several deliveries failed in a row, so the next is tried after a pause. retry: the last attempt failed, and the next is scheduled. turn: it is sent as soon as it is its turn. */
  waits_for: WaitsFor | null
  attempts_count: number
  last_attempt: LastAttempt | null
}

export interface ListedMember {
  id: number
  name: string
  email: string | null
  /** The office's own number */
  external_id: string | null
  /** One or several numbers */
  phone: string | null
  payment_reference: string
  status: 'active' | 'inactive'
  /** From partners, at the request of the member */
  hidden: boolean
  joined_at: string
  left_at: string | null
  erased_at: string | null
  updated_at: string
  balance_hours: number
  /** The day of the last exchange that was not reversed, or of joining if that is later */
  last_active_on: string
  /** The day of the last exchange that was not reversed */
  last_exchange_on: string | null
  tags: string[]
}

export interface Maker {
  kind: 'admin' | 'client' | 'command' | 'system'
  name: string | null
}

export interface MonthFigures {
  /** Like 2026-01, in the time zone of the community */
  month: string
  exchanges: number
  hours_exchanged: number
  hours_credited: number
}

export interface NewApp {
  /** Base32 */
  secret: string
  /** An otpauth: address, for a QR code */
  address: string
}

export interface NewClientBody {
  name?: string
  scopes?: string[]
  /** From then on the client is rejected like one that is revoked */
  expires_at?: string
  /** A public key as PEM or JWK: EC on P-256, Ed25519, or RSA with 2048 to 4096 bits */
  public_key?: string
  /** An https:// address on the internet where the client publishes its keys */
  jwks_url?: string
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface NewEndpoint {
  id: number
  /** The scopes of the token that created it, which limit what it sends. Tokens without all of them can only list, pause and delete it */
  scopes: (
    | 'users.read'
    | 'users.pii'
    | 'listings.read'
    | 'wallet.read'
    | 'wallet.write'
    | 'aggregates.read'
    | 'webhooks.manage'
  )[]
  /** The signing key; returned only in this response */
  secret: string
}

export interface NewEndpointBody {
  partner_id: number
  /** A client of the partner. Nothing is sent once it is revoked or lacks the scopes of the events */
  client_id: string
  /** Names, prefix.* or *; see GET /webhooks/event-types */
  event_types: string[]
  /** An https:// address of a host on the internet, without spaces, backslashes, credentials or fragment; by name, not by IP address */
  target_url: string
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface NewKeyBody {
  /** A public key as PEM or JWK: EC on P-256, Ed25519, or RSA with 2048 to 4096 bits */
  public_key: string
}

export interface NewListingForm {
  member_id: number
  /** Whether it is offered or requested */
  type: 'service' | 'request'
  title: string
  description?: string
  category: string
  hours?: number | null
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface NewMemberForm {
  name: string
  email?: string | null
  external_id?: string | null
  phone?: string | null
  address?: string | null
  notes?: string | null
  /** Add even if a member has this name already */
  confirm_duplicate?: boolean
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface NewPartnerBody {
  name: string
  contact?: string
  scopes: string[]
  rate_limit_per_minute?: number
  /** How many hours the partner may credit in a day */
  hours_per_day?: number
  /** IP addresses and ranges (CIDR); empty: any address */
  allowed_addresses?: string[]
  /** A public key as PEM or JWK: EC on P-256, Ed25519, or RSA with 2048 to 4096 bits */
  public_key?: string
  /** An https:// address on the internet where the client publishes its keys */
  jwks_url?: string
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface NewPasskey {
  id: string
  rawId: string
  type: 'public-key'
  clientExtensionResults: {}
  response: {
    clientDataJSON: string
    attestationObject: string
    transports?: string[]
  }
}

export interface OfficeListing {
  id: number
  /** Whether it is offered or requested */
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  hours: number | null
  member: {
    id: number
    name: string
    status: 'active' | 'inactive'
    hidden: boolean
  }
  status: 'active' | 'closed'
  /** To partners */
  visible: boolean
  external_id: string | null
  created_at: string
  updated_at: string
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
}

export interface OfficeMember {
  id: number
  name: string
  email: string | null
  /** The office's own number */
  external_id: string | null
  /** One or several numbers */
  phone: string | null
  /** May have several lines */
  address: string | null
  /** The office's own; may have several lines */
  notes: string | null
  payment_reference: string
  status: 'active' | 'inactive'
  /** From partners, at the request of the member */
  hidden: boolean
  joined_at: string
  left_at: string | null
  erased_at: string | null
  updated_at: string
  balance_hours: number
  /** The day of the last exchange that was not reversed, or of joining if that is later */
  last_active_on: string
  /** The day of the last exchange that was not reversed */
  last_exchange_on: string | null
  tags: string[]
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
}

export interface OfficePageMeta {
  limit: number
  has_more: boolean
  next_cursor: string | null
  /** Use it as updated_since (or since) in the next round: no late commit is missed */
  synced_until?: string
  /** What fits the filters, counted up to 5000 or, where that takes long, 1000 */
  total?: number
  /** More than that fits */
  total_is_minimum?: boolean
}

export interface OneTimeLink {
  /** Works once; shown only now */
  url: string
  expires_at: string
}

export interface OpenSession {
  id: number
  current: boolean
  created_at: string
  last_seen_at: string
  address: string | null
  user_agent: string | null
}

export interface PageMeta {
  limit: number
  has_more: boolean
  next_cursor: string | null
  /** Use it as updated_since (or since) in the next round: no late commit is missed */
  synced_until?: string
}

export interface PartnerApiState {
  enabled: boolean
  /** What partners are told while it is off */
  reason: string | null
}

export interface PartnerChange {
  name?: string
  contact?: string
  scopes?: string[]
  rate_limit_per_minute?: number
  /** How many hours the partner may credit in a day */
  hours_per_day?: number
  /** IP addresses and ranges (CIDR); empty: any address */
  allowed_addresses?: string[]
  status?: 'active' | 'suspended'
}

export interface PartnerDetail {
  id: number
  name: string
  contact: string
  status: 'active' | 'suspended'
  scopes: Scope[]
  rate_limit_per_minute: number
  hours_per_day: number
  /** By the calendar of the community */
  hours_used_today: number
  /** Four fifths of the hours of the day are used */
  hours_nearly_used: boolean
  allowed_addresses: string[]
  active_clients: number
  created_at: string
  last_used_at: string | null
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
  clients: Client[]
  /** Never used, so it can be deleted */
  removable: boolean
}

export interface PartnerOverview {
  id: number
  name: string
  contact: string
  status: 'active' | 'suspended'
  scopes: Scope[]
  rate_limit_per_minute: number
  hours_per_day: number
  /** By the calendar of the community */
  hours_used_today: number
  /** Four fifths of the hours of the day are used */
  hours_nearly_used: boolean
  allowed_addresses: string[]
  active_clients: number
  created_at: string
  last_used_at: string | null
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
}

export interface Party {
  kind: 'member' | 'partner' | 'community'
  id: number | null
  name: string
}

export interface Passkey {
  id: number
  name: string
  created_at: string
  last_used_at: string | null
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
}

export interface PasskeyOptions {
  challenge: string
}

export interface PasskeySignature {
  id: string
  rawId: string
  type: 'public-key'
  clientExtensionResults: {}
  response: {
    clientDataJSON: string
    authenticatorData: string
    signature: string
  }
}

export interface Period {
  /** A calendar month in the community's time zone */
  from: string
  /** A calendar month in the community's time zone */
  to: string
  figure: Figure
}

export interface RecordedTransfers {
  transfer_ids: number[]
  /** It had been recorded before, under the same key */
  replayed: boolean
}

export interface RecoveryCodes {
  /** Each works once; shown only now */
  recovery_codes: string[]
}

export interface RestoreReview {
  backup_at: string
  partners: {
    partner_id: number
    name: string
    /** Clients that are not revoked */
    clients: number
    /** Subscriptions that are active */
    webhooks: number
  }[]
  administrators: {
    admin_id: number
    name: string
    role: string
  }[]
}

export type Role = 'owner' | 'manager' | 'viewer'

export interface RotateBody {
  /** How long the old secret stays valid */
  grace: 'none' | '1h' | '24h' | '7d'
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface RowOutcome {
  /** Of the file, where the row begins */
  line: number
  outcome: 'added' | 'changed' | 'unchanged' | 'refused'
  /** Why it is refused, or what to look at in it, in English; or which fields change */
  reason: string | null
  /** Why it is refused */
  reasons: {
    /** x-sentences has its sentence */
    code: string
    values: Record<string, string | number>
  }[]
  /** What a person should look at in a row that is not refused */
  notes: {
    /** x-sentences has its sentence */
    code: string
    values: Record<string, string | number>
  }[]
  external_id: string | null
  name: string | null
}

export type Scope =
  'users.read' | 'users.pii' | 'listings.read' | 'wallet.read' | 'wallet.write' | 'aggregates.read' | 'webhooks.manage'

export interface SearchResults {
  members: FoundMember[]
  partners: FoundPartner[]
}

export interface SecondFactor {
  app: {
    active_since: string
  } | null
  passkeys: Passkey[]
  recovery_codes_left: number
}

export interface SecondStep {
  app: boolean
  passkey: boolean
  recovery_code: boolean
}

export interface ServiceStatement {
  /** Of what happened before the first day */
  opening_balance_hours: number
  /** After the last line */
  closing_balance_hours: number
  /** False if the period has more lines than one statement */
  complete: boolean
  ledger_head: LedgerHead | null
  rows: ServiceStatementRow[]
}

export interface ServiceStatementRow {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment' | 'reversal'
  /** Negative where they left the wallet */
  hours: number
  /** After it, in the order of these lines */
  balance_hours: number
  occurred_on: string
  created_at: string
  other: {
    kind: 'member' | 'partner' | 'community'
    id: number | null
    name: string
  }
  listing: {
    id: number
    title: string
  } | null
  reference: string | null
  note: string | null
  reverses_id: number | null
  reversed_by_id: number | null
  /** In the community's zone */
  recorded_on: string
}

export interface Session {
  session_id: number
  admin: {
    id: number
    email: string
    name: string
    language: Language | null
  }
  password_change_required: boolean
  /** Whether the person has one */
  second_factor: boolean
  /** Only such a person can make links for new passwords */
  owns_every_community: boolean
  communities: Community[]
}

export interface SetupState {
  needed: boolean
  community_needed: boolean
  /** The service can send mail */
  mail: boolean
}

export interface StatementMeta {
  limit: number
  has_more: boolean
  next_cursor: string | null
  /** Use it as updated_since (or since) in the next round: no late commit is missed */
  synced_until?: string
  /** Of what happened before the first day */
  opening_balance_hours: number
  /** Of what happened until the last day */
  closing_balance_hours: number
  ledger_head: LedgerHead | null
}

export interface StatementRow {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment' | 'reversal'
  /** Negative where they left the wallet */
  hours: number
  /** Of the wallet, after it */
  balance_hours: number
  occurred_on: string
  created_at: string
  other: {
    kind: 'member' | 'partner' | 'community'
    id: number | null
    name: string
  }
  listing: {
    id: number
    title: string
  } | null
  reference: string | null
  note: string | null
  reverses_id: number | null
  reversed_by_id: number | null
}

export interface StepsTaken {
  has_members: boolean
  has_partner: boolean
  has_call: boolean
  has_credit: boolean
}

export interface SubscriptionOverview {
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
  )[]
  status: 'active' | 'paused' | 'disabled'
  status_reason: string | null
  status_changed_at: string
  failing_since: string | null
  last_success_at: string | null
  created_at: string
  updated_at: string
  partner: {
    id: number
    name: string
    status: string
  }
  client: {
    client_id: string
    status: string
  }
  waiting: Count
  held: Count
  failures_in_a_row: Count
}

export interface Suppressed {
  /** The figure is below 10, or is based on fewer than ten members, or excludes fewer than ten */
  suppressed: true
}

export interface TagsForm {
  member_ids: number[]
  add?: string[]
  remove?: string[]
}

export interface TestCommunity {
  slug: string
  name: string
  client_id: string
  /** Shown only in this answer */
  client_secret: string
  token_url: string
}

export interface TransferRecord {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment'
  occurred_on: string
  created_at: string
  hours: number
  /** Whose hours these were: the receiver of an exchange pays */
  from: Party
  to: Party
  note: string | null
  listing: {
    id: number
    title: string
  } | null
  category: string | null
  /** Why it was allowed below the lower limit */
  limit_reason: string | null
  reference: string | null
  made_by: Maker
  /** Its reversal, as part of the same record */
  reversal: {
    id: number
    created_at: string
    reason: string | null
    made_by: Maker
  } | null
}

export type WaitsFor = 'paused' | 'disabled' | 'partner_api' | 'receiver' | 'retry' | 'turn'

export interface WebhookCounts {
  active: number
  paused: number
  disabled: number
  failing: number
  waiting: Count
}
