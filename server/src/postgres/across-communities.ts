import { identifier, type Queries } from './connect.ts'

/*
 * Every statement is restricted to one community, except those in this file and those on the global tables:
 * installation, schema_migrations, communities, admins (a person may run several communities), admin_sessions,
 * admin_links.
 */

const UNAUTHORIZED = 401

export type AdminRole = 'owner' | 'manager' | 'viewer'

/** Calls within one second that differ only in time, path and duration; they are stored in one row. */
export interface CallGroup {
  /** Unix time. */
  second: number
  communityId: number
  partnerId: number | undefined
  clientId: number | undefined
  method: string
  route: string | undefined
  status: number
  error: string | undefined
  errorDescription: string | undefined
  address: string | undefined
  userAgent: string | undefined
  /** The offset of each call within the second. */
  afterMs: number[]
  requestIds: string[]
  durationsMs: number[]
  /** Undefined if every path equals the route. */
  paths: string[] | undefined
}

/**
 * Inserts the calls of all communities in one batch. Calls whose token names a community that does not exist are
 * skipped. Set `isRetry` after a failure: the first attempt may have committed although it reported an error.
 */
export async function insertCalls(sql: Queries, groups: CallGroup[], { isRetry }: { isRetry: boolean }): Promise<void> {
  await sql`
    with made as (
      select to_timestamp(g.second) as second_at, g.*
      from json_to_recordset(${JSON.stringify(groups)}::text::json) as g(second int8, "communityId" int8,
        "partnerId" int8, "clientId" int8, method text, route text, status int2, error text, "errorDescription" text,
        address inet, "userAgent" text, "afterMs" int2[], "requestIds" uuid[], "durationsMs" float4[], paths text[])
    ), used as (
      update clients c set last_used_at = u.at
      from (
        select "communityId", "clientId", max(second_at) as at from made
        where "clientId" is not null and status <> ${UNAUTHORIZED} group by 1, 2
      ) u
      where c.community_id = u."communityId" and c.id = u."clientId"
        and (c.last_used_at is null or c.last_used_at < u.at - interval '1 minute')
    )
    insert into call_groups (community_id, second_at, id, partner_id, client_id, method, route, status, error,
      error_description, address, user_agent, calls, after_ms, request_ids, durations_ms, paths)
    select i."communityId", i.second_at, i."requestIds"[1], i."partnerId", i."clientId", i.method, i.route, i.status,
      i.error, i."errorDescription", i.address, i."userAgent", cardinality(i."requestIds"), i."afterMs", i."requestIds",
      i."durationsMs", i.paths
    from made i join communities m on m.id = i."communityId"
    ${isRetry ? sql`on conflict do nothing` : sql``}`
}

/** Sign-in starts with an email address, before any community is known. */
export async function findAdmin(sql: Queries, email: string): Promise<AdminRow | undefined> {
  const [row] = await sql<AdminRow[]>`
    select id, email, name, password_hash, password_one_time from admins where lower(email) = lower(${email})`
  return row
}

export interface AdminRow {
  id: number
  email: string
  name: string
  password_hash: string
  password_one_time: boolean
}

export interface AdministeredCommunity {
  id: number
  slug: string
  name: string
  role: AdminRole
  test: boolean
  time_zone: string
  language: string
}

/** Returns the communities an administrator runs, with their role in each. */
export async function communitiesWithRole(sql: Queries, adminId: number): Promise<AdministeredCommunity[]> {
  return sql<AdministeredCommunity[]>`
    select c.id, c.slug, c.name, a.role, c.test, c.time_zone, c.language
    from community_admins a join communities c on c.id = a.community_id
    where a.admin_id = ${adminId} order by c.test, c.name, c.id`
}

export async function communitiesOfAdmin(sql: Queries, adminId: number): Promise<number[]> {
  const rows = await sql<{ community_id: number }[]>`
    select community_id from community_admins where admin_id = ${adminId} order by community_id`
  return rows.map((row) => row.community_id)
}

export interface SealedSecrets {
  community_id: number
  id: number
  secret: Buffer
  previous_secret: Buffer | null
}

/** Yields and locks all webhook secrets in batches, for a change of SECRET_KEY. */
export async function* sealedSubscriptions(sql: Queries, batchMax: number): AsyncGenerator<SealedSecrets[]> {
  let last = { community_id: 0, id: 0 }
  for (;;) {
    const batch = await sql<SealedSecrets[]>`
      select community_id, id, secret, previous_secret from subscriptions
      where (community_id, id) > (${last.community_id}::int8, ${last.id}::int8)
      order by community_id, id limit ${batchMax} for no key update`
    if (batch.length === 0) return
    yield batch
    last = batch.at(-1)!
  }
}

export async function replaceSubscriptionSecrets(sql: Queries, secrets: SealedSecrets): Promise<void> {
  await sql`
    update subscriptions set secret = ${secrets.secret}, previous_secret = ${secrets.previous_secret}
    where community_id = ${secrets.community_id} and id = ${secrets.id}`
}

/** Returns communities with events that have no position yet. */
export async function communitiesToFanOut(sql: Queries): Promise<number[]> {
  const rows = await sql<{ community_id: number }[]>`select distinct community_id from events where position is null`
  return rows.map((row) => row.community_id)
}

export interface SubscriptionKey {
  communityId: number
  subscriptionId: number
}

/** Deliveries in flight, as parallel arrays: entry n is event n for subscription n. */
export interface InHandPairs {
  subscriptionIds: number[]
  eventIds: number[]
}

/** Every event up to this position has been delivered or has a delivery row. */
export interface SubscriptionPosition extends SubscriptionKey {
  position: number
}

export interface DueSubscription {
  community_id: number
  id: number
  /** When it was last changed, tested or asked to redeliver. */
  set_going_at: string
}

/**
 * Returns subscriptions that no other worker has leased and that have work beyond the deliveries in flight: untried
 * events after the read position, or rows that are due. Each subscription costs one index lookup, because a dead
 * endpoint may have many pending rows: `exists` is planned as a join that reads all of them (142 ms with 100,000 rows;
 * 0.2 ms this way). Deliveries of a community are held while its partner API is switched off.
 */
export async function dueSubscriptions(
  sql: Queries,
  worker: string,
  inHand: InHandPairs,
  read: SubscriptionPosition[],
  now: Date,
  leaseEndMax: Date,
): Promise<DueSubscription[]> {
  return sql<DueSubscription[]>`
    with in_hand as materialized (
      select * from unnest(${inHand.subscriptionIds}::int8[], ${inHand.eventIds}::int8[])
    )
    select s.community_id, s.id, s.set_going_at
    from subscriptions s join communities c on c.id = s.community_id
    left join delivery_leases l on l.community_id = s.community_id and l.subscription_id = s.id
      and l.worker <> ${worker} and l.until > ${now} and l.until <= ${leaseEndMax}
    left join delivery_cursors k on k.community_id = s.community_id and k.subscription_id = s.id
    left join unnest(${read.map((one) => one.communityId)}::int8[], ${read.map((one) => one.subscriptionId)}::int8[],
      ${read.map((one) => one.position)}::int8[]) as r(community_id, subscription_id, read_to)
      on r.community_id = s.community_id and r.subscription_id = s.id
    where s.status = 'active' and c.partner_api_enabled and l.worker is null
      and (k.wanted_position > greatest(k.done_position, r.read_to) or (
        select true from deliveries where community_id = s.community_id and subscription_id + 0 = s.id
          and status = 'pending' and next_attempt_at <= ${now} and (subscription_id, event_id) not in (select * from in_hand)
        order by next_attempt_at limit 1))`
}

/**
 * Reschedules retries that are further in the future than the retry schedule allows, because the database clock was set
 * back. Safe to run on any number of nodes. Locked rows are skipped: they are being rescheduled anyway.
 */
export async function limitRetryDelays(sql: Queries, longestDelaysMs: number[], now: Date): Promise<number> {
  const rows = await sql`
    with late as materialized (
      select community_id, id, ${now}::timestamptz
        + (${longestDelaysMs}::float8[])[attempts + 1] * interval '1 millisecond' as latest
      from deliveries
      where status = 'pending'
        and next_attempt_at > ${now}::timestamptz
          + (${longestDelaysMs}::float8[])[attempts + 1] * interval '1 millisecond'
      order by community_id, subscription_id, event_id for no key update skip locked
    )
    update deliveries d set next_attempt_at = l.latest from late l
    where d.community_id = l.community_id and d.id = l.id
    returning d.id`
  return rows.length
}

/**
 * Persists how far each subscription has been delivered. Does not wait for locks: a locked cursor is left for the next
 * call. Returns the positions that need not be stored again.
 */
export async function storePositions(sql: Queries, positions: SubscriptionPosition[]): Promise<SubscriptionPosition[]> {
  const rows = await sql<{ index: number }[]>`
    with input as materialized (
      select * from unnest(${positions.map((one) => one.communityId)}::int8[],
        ${positions.map((one) => one.subscriptionId)}::int8[], ${positions.map((one) => one.position)}::int8[])
        with ordinality as i(community_id, subscription_id, position, index)
    ), free as materialized (
      select k.community_id, k.subscription_id, i.position, i.index
      from input i join delivery_cursors k using (community_id, subscription_id)
      order by k.community_id, k.subscription_id for no key update of k skip locked
    ), stored as (
      update delivery_cursors k set done_position = f.position from free f
      where k.community_id = f.community_id and k.subscription_id = f.subscription_id and k.done_position < f.position
    )
    select index from free
    union all
    -- Deleted in the meantime.
    select index from input i where not exists (
      select from delivery_cursors k where k.community_id = i.community_id and k.subscription_id = i.subscription_id)`
  return rows.map(({ index }) => positions[index - 1]!)
}

/** Notifies the listening workers, if any other worker holds a lease. */
export async function notifyOtherWorkers(sql: Queries, channel: string, worker: string): Promise<void> {
  await sql`
    select pg_notify(${channel}, '')
    where exists (select from delivery_leases where worker <> ${worker} and until > now())`
}

/** Returns communities with a month to close, or with no closed month yet. */
export async function communitiesDueForClose(
  sql: Queries,
  { now, after, limit }: { now: Date; after: number; limit: number },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select c.id from communities c left join aggregate_documents d on d.community_id = c.id
    where c.id > ${after} and (d.next_close_at is null or d.next_close_at <= ${now.toISOString()}::timestamptz)
    order by c.id limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Records, per community, the last feed position that is lost when rows older than `before` leave this partition. */
export async function raisePrunedPositions(sql: Queries, table: string, before: Date): Promise<void> {
  await sql`
    update event_heads h set pruned_position = e.position
    from (
      select community_id, max(position) as position from ${identifier(table)}
      where created_at < ${before} and position is not null group by community_id
    ) e
    where h.community_id = e.community_id and h.pruned_position < e.position`
}

/** Whether the table has events without a position, which have not been delivered to anyone yet. */
export async function hasUnorderedEvents(sql: Queries, table: string): Promise<boolean> {
  const rows = await sql`select from ${identifier(table)} where position is null limit 1`
  return rows.length > 0
}

/** Deletes up to `batchMax` rows and returns the count. */
export type DeleteOld = (sql: Queries, before: Date, batchMax: number) => Promise<number>

export const deleteOldTokens: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from tokens where (community_id, hash) in (
      select community_id, hash from tokens where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldSessions: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_sessions where id in (
      select id from admin_sessions where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldLinks: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_links where token_hash in (
      select token_hash from admin_links where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAdminRequests: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_requests where (community_id, key) in (
      select community_id, key from admin_requests where created_at < ${before} limit ${batchMax})`
  return count
}

/** Deletes deliveries in any state, because their events are deleted as well. */
export const deleteOldDeliveries: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from deliveries where (community_id, id) in (
      select community_id, id from deliveries where event_created_at < ${before}
      order by event_created_at limit ${batchMax} for update skip locked)`
  return count
}

/** The default partitions hold rows that were inserted before their partition existed (after a restore). */
export const deleteOldCalls: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from call_groups_default where (community_id, second_at, id) in (
      select community_id, second_at, id from call_groups_default where second_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAttempts: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from attempts_default where (community_id, at, id) in (
      select community_id, at, id from attempts_default where at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldEvents: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from events_default where (community_id, created_at, id) in (
      select community_id, created_at, id from events_default
      where created_at < ${before} and position is not null limit ${batchMax})`
  return count
}

export interface KnownErasure {
  community_id: number
  community: string
  community_created_at: string
  member_id: number
  erased_at: string
}

/** Returns every erased member. A restore needs all of them, because it brings back all communities at once. */
export async function allErasures(sql: Queries): Promise<KnownErasure[]> {
  return sql<KnownErasure[]>`
    select e.community_id, c.slug as community, c.created_at as community_created_at, e.member_id, e.erased_at
    from erasures e join communities c on c.id = e.community_id
    order by e.community_id, e.member_id`
}
