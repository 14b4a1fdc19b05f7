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

export interface Attempt {
  number: number
  at: string
  duration_ms: number
  /** Of the HTTP answer */
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | null
  error: string | null
  /** Its first 16 KiB */
  response: string | null
}

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
  }
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
  status: 'active' | 'revoked'
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
  /** The last month that is closed; closed for good */
  closed_through: string | null
  closed_at: string | null
  /** What happened in closed months. Totals are the sums of the published periods. */
  flows: {
    /** Exchanges between members, less those taken back */
    exchanges: Flow
    /** Whole hours, rounded down */
    hours_exchanged: Flow
    /** By partners; whole hours, rounded down. The credits of a partner count in the period in which they have come to concern enough members. */
    hours_credited: Flow
    /** Distinct members of the period. A member who trades in several periods counts in each, and so in the total. */
    trading_members: Flow
    /** Members recorded */
    new_members: Flow
  }
  /** What partners could see at the last close at which enough members had changed it. Hidden members and their listings are not counted. */
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
}

export interface CommunityOverview {
  months: MonthFigures[]
  active_members: number
  call_days: number
  partners: CallsOfPartner[]
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
  created_at: string
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
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

export interface Error {
  /** A stable code */
  error: string
  /** For people */
  error_description: string
  /** Also in the header Request-Id */
  request_id: string
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
    note?: string | null
  }[]
  /** Record even what looks like a slip that was entered twice */
  confirm_duplicates?: boolean
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface FieldError {
  code: string
  field: string
  message: string
}

export type Figure = Bucket | Suppressed

export interface Flow {
  total: Figure
  /** The oldest first. The last one is suppressed while it waits for more to be merged with; after a year it stays so. */
  periods: Period[]
}

export interface FoundMember {
  id: number
  name: string
  email: string | null
  external_id: string | null
  payment_reference: string
  status: 'active' | 'inactive'
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
  /** Of a dry run all rows, otherwise the refused ones; so many of each outcome at most */
  fates: RowOutcome[]
  fates_left_out: number
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

export interface LastAttempt {
  number: number
  at: string
  duration_ms: number
  /** Of the HTTP answer */
  status: number | null
  error_kind: 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'refused_address' | null
  error: string | null
}

export interface LeaveForm {
  /** Whether the hours stay in the wallet, or go to the account of the community by an adjustment */
  balance: 'keep' | 'to_community'
  reason?: string
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
  attempts_count: number
  last_attempt: LastAttempt | null
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
  /** A public key as PEM or JWK: EC on P-256, Ed25519, or RSA with 2048 to 4096 bits */
  public_key?: string
  /** An https:// address on the internet where the client publishes its keys */
  jwks_url?: string
  /** Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice */
  key?: string
}

export interface NewKeyBody {
  /** A public key as PEM or JWK: EC on P-256, Ed25519, or RSA with 2048 to 4096 bits */
  public_key: string
}

export interface NewListingForm {
  member_id: number
  /** Offered, or asked for */
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
  /** Offered, or asked for */
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
  payment_reference: string
  status: 'active' | 'inactive'
  /** From partners, at the request of the member */
  hidden: boolean
  joined_at: string
  left_at: string | null
  erased_at: string | null
  updated_at: string
  balance_hours: number
  /** Changes with every change of the fields that a form can save; goes into If-Match */
  version: string
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
  /** The updated_since (or since) of the next round; nothing that commits late is missed */
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
  /** Why it is refused, or which fields change */
  reason: string | null
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

export interface Session {
  session_id: number
  admin: {
    id: number
    email: string
    name: string
  }
  password_change_required: boolean
  /** Whether the person has one */
  second_factor: boolean
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
  /** The updated_since (or since) of the next round; nothing that commits late is missed */
  synced_until?: string
  /** Before the first day */
  opening_balance_hours: number
  /** At the end of the last day */
  closing_balance_hours: number
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
  /** Those of the token that created it: it sends nothing else. Other tokens need all of them for more than listing, pausing and deleting it */
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
  /** Below 10, or fewer than ten members are behind it, or fewer than ten are not */
  suppressed: true
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
  reference: string | null
  made_by: Maker
  /** What took it back, as part of the same record */
  reversal: {
    id: number
    created_at: string
    reason: string | null
    made_by: Maker
  } | null
}

export interface WebhookCounts {
  active: number
  paused: number
  disabled: number
  failing: number
  /** Deliveries that wait to be sent */
  waiting: number
}
