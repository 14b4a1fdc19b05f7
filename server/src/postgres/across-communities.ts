import type { Queries } from './connect.ts'

/*
 * Every statement is restricted to one community, except those in this file, in alert-causes.ts, prune-queries.ts and
 * unchained-communities.ts, in features/restores/, which compares two whole databases, and those on the global tables:
 * installation, operator_runs, schema_migrations, communities, admins (a person may run several communities),
 * admin_sessions, admin_links, admin_browsers, admin_apps, admin_passkeys, admin_recovery_codes, admin_second_steps,
 * attempt_counts.
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
        select "communityId", "clientId", max(second_at) as at, max(second_at) - interval '1 minute' as at_latest from made
        where "clientId" is not null and status <> ${UNAUTHORIZED} group by 1, 2
      ) u
      where c.community_id = u."communityId" and c.id = u."clientId"
        and (c.last_used_at is null or c.last_used_at < u.at_latest)
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
  second_factor_required: boolean
}

/** Returns the communities an administrator runs, with their role in each. */
export async function communitiesWithRole(sql: Queries, adminId: number): Promise<AdministeredCommunity[]> {
  return sql<AdministeredCommunity[]>`
    select c.id, c.slug, c.name, a.role, c.test, c.time_zone, c.language, c.second_factor_required
    from community_admins a join communities c on c.id = a.community_id
    where a.admin_id = ${adminId} order by c.test, c.name, c.id`
}

export interface ListedAdmin {
  id: number
  email: string
  name: string
  second_factor: boolean
  last_seen_at: string | null
  communities: { slug: string; role: AdminRole }[]
}

/** Returns everybody who administers something, for the operator. */
export async function listAllAdmins(sql: Queries): Promise<ListedAdmin[]> {
  return sql<ListedAdmin[]>`
    select a.id, a.email, a.name, max(r.last_seen_at) as last_seen_at,
      exists (select 1 from admin_apps p where p.admin_id = a.id and p.active_since is not null) as second_factor,
      coalesce(json_agg(json_build_object('slug', c.slug, 'role', r.role) order by c.slug)
        filter (where c.id is not null), '[]') as communities
    from admins a left join community_admins r on r.admin_id = a.id left join communities c on c.id = r.community_id
    group by a.id order by a.email`
}

/** Returns the communities of an administrator, with the name by which each knows them. */
export async function namesOfAdmin(sql: Queries, adminId: number): Promise<{ community_id: number; name: string }[]> {
  return sql<{ community_id: number; name: string }[]>`
    select r.community_id, coalesce(r.name, r.email, a.email) as name
    from community_admins r join admins a on a.id = r.admin_id
    where r.admin_id = ${adminId} order by r.community_id`
}

/** Whether an administrator owns every community of this service. Test communities hold nothing of anybody. */
export async function ownsEveryCommunity(sql: Queries, adminId: number): Promise<boolean> {
  const [row] = await sql<[{ owns: boolean }]>`
    select not exists (
      select 1 from communities where not test and id not in (
        select community_id from community_admins where admin_id = ${adminId} and role = 'owner')
    ) as owns`
  return row.owns
}

export async function communitiesWithSubscriptions(sql: Queries): Promise<number[]> {
  const rows = await sql<{ community_id: number }[]>`
    select distinct community_id from subscriptions order by community_id`
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
  // Locked community by community: a distributed table cannot lock rows of several.
  for (const communityId of await communitiesWithSubscriptions(sql)) {
    for (let lastId = 0; ;) {
      const batch = await sql<SealedSecrets[]>`
        select community_id, id, secret, previous_secret from subscriptions
        where community_id = ${communityId} and id > ${lastId}
        order by id limit ${batchMax} for no key update`
      if (batch.length === 0) break
      yield batch
      lastId = batch.at(-1)!.id
    }
  }
}

export async function replaceSubscriptionSecrets(sql: Queries, secrets: SealedSecrets): Promise<void> {
  await sql`
    update subscriptions set secret = ${secrets.secret}, previous_secret = ${secrets.previous_secret}
    where community_id = ${secrets.community_id} and id = ${secrets.id}`
}

/** Locks all secrets of authenticator apps, for a change of SECRET_KEY. */
export async function sealedApps(sql: Queries): Promise<{ admin_id: number; secret: Buffer }[]> {
  return sql<{ admin_id: number; secret: Buffer }[]>`select admin_id, secret from admin_apps for no key update`
}

export async function replaceAppSecret(sql: Queries, adminId: number, secret: Buffer): Promise<void> {
  await sql`update admin_apps set secret = ${secret} where admin_id = ${adminId}`
}

/** Returns communities with events that have no position yet. */
export async function communitiesToFanOut(sql: Queries): Promise<number[]> {
  const rows = await sql<{ community_id: number }[]>`select distinct community_id from events where position is null`
  return rows.map((row) => row.community_id)
}

export interface DueQueue {
  community_id: number
  subscription_id: number
}

export interface DueQueueLimits {
  now: Date
  /** A lease that ends later than this is not valid. */
  leaseMax: Date
  /** Communities for which the worker has enough queues. */
  fullCommunities: number[]
  perCommunityMax: number
  limit: number
}

/**
 * Returns queues with due deliveries that no worker has leased, in random order: workers that look at the same time
 * rarely choose the same ones. Reads only what is due (migration 0020), and each of those costs one index lookup: an
 * ordinary join compared all queues with all subscriptions until the tables were analyzed. Deliveries wait while a
 * subscription is paused or a community's partner API is switched off.
 */
export async function dueQueues(
  sql: Queries,
  { now, leaseMax, fullCommunities, perCommunityMax, limit }: DueQueueLimits,
): Promise<DueQueue[]> {
  return sql<DueQueue[]>`
    with due as materialized (
      select community_id, subscription_id from delivery_queues q
      where due_at <= ${now} and (leased_until is null or leased_until <= ${now} or leased_until > ${leaseMax})
        and community_id <> all (${fullCommunities}::int8[])
        and (select s.status = 'active' and c.partner_api_enabled from subscriptions s, communities c
          where s.community_id = q.community_id and s.id = q.subscription_id and c.id = q.community_id)
    ), sendable as materialized (
      select community_id, subscription_id, row_number() over (partition by community_id order by random()) as place
      from due
    )
    select community_id, subscription_id from sendable where place <= ${perCommunityMax} order by place limit ${limit}`
}

/**
 * Returns for how many seconds the oldest event has waited to be fanned out, or the oldest due queue for a worker. What
 * waits for a receiver, for an administrator or for its next attempt does not count.
 */
export async function backlogAgeSeconds(sql: Queries): Promise<number> {
  const [row] = await sql<[{ seconds: number }]>`
    select coalesce(greatest(0, extract(epoch from now() - least(
      (select min(created_at) from events where position is null),
      (select min(due_at) from delivery_queues q
        where due_at <= now() and (leased_until is null or leased_until <= now())
          and (select s.status = 'active' and c.partner_api_enabled from subscriptions s, communities c
            where s.community_id = q.community_id and s.id = q.subscription_id and c.id = q.community_id))
    ))), 0)::float8 as seconds`
  return row.seconds
}

/** Returns communities with deliveries that wait for a later time. */
export async function communitiesWithRetries(sql: Queries, now: Date): Promise<number[]> {
  const rows = await sql<{ community_id: number }[]>`
    select distinct community_id from delivery_queues where due_at > ${now}`
  return rows.map((row) => row.community_id)
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
