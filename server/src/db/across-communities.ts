import type { Queries } from './connect.ts'

/*
 * Every statement names one community, except those in this file and those on the global tables: installation,
 * schema_migrations, communities, admins (one person may run several communities).
 */

const TEXT_LENGTH_MAX = 500

export interface Call {
  at: Date
  requestId: string
  communityId: number
  partnerId: number | undefined
  clientId: number | undefined
  method: string
  path: string
  route: string | undefined
  status: number
  error: string | undefined
  errorDescription: string | undefined
  durationMs: number
  address: string | undefined
  userAgent: string | undefined
}

/** The calls of all communities in one batch. A token may name a community that never was: such calls are left out. */
export async function insertCalls(sql: Queries, calls: Call[]): Promise<void> {
  const column = <T>(pick: (call: Call) => T | undefined) => calls.map((call) => pick(call) ?? null)
  const cut = (text: string | undefined) => text?.slice(0, TEXT_LENGTH_MAX).toWellFormed().replaceAll('\0', '')
  await sql`
    with calls as (
      insert into call_log (community_id, at, request_id, partner_id, client_id, method, path, route, status, error,
        error_description, duration_ms, address, user_agent)
      select i.* from unnest(
        ${column((call) => call.communityId)}::int8[], ${column((call) => call.at.toISOString())}::timestamptz[],
        ${column((call) => call.requestId)}::uuid[], ${column((call) => call.partnerId)}::int8[],
        ${column((call) => call.clientId)}::int8[], ${column((call) => call.method)}::text[],
        ${column((call) => cut(call.path))}::text[], ${column((call) => call.route)}::text[],
        ${column((call) => call.status)}::int2[], ${column((call) => call.error)}::text[],
        ${column((call) => cut(call.errorDescription))}::text[], ${column((call) => call.durationMs)}::float4[],
        ${column((call) => call.address)}::inet[], ${column((call) => cut(call.userAgent))}::text[]
      ) as i(community_id, at, request_id, partner_id, client_id, method, path, route, status, error,
        error_description, duration_ms, address, user_agent)
      join communities m on m.id = i.community_id
      on conflict do nothing
      returning community_id, client_id, at, status
    )
    update clients c set last_used_at = used.at
    from (
      select community_id, client_id, max(at) as at from calls
      where client_id is not null and status <> 401 group by 1, 2
    ) used
    where c.community_id = used.community_id and c.id = used.client_id
      and (c.last_used_at is null or c.last_used_at < used.at - interval '1 minute')`
}

/** Sign-in begins with an email address, whatever the communities. */
export async function findAdmin(sql: Queries, email: string): Promise<{ id: number } | undefined> {
  const [row] = await sql<{ id: number }[]>`select id from admins where lower(email) = lower(${email})`
  return row
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

/** All webhook secrets, for a change of SECRET_KEY. */
export async function subscriptionSecrets(sql: Queries): Promise<SealedSecrets[]> {
  return sql<SealedSecrets[]>`select community_id, id, secret, previous_secret from subscriptions`
}

export async function replaceSubscriptionSecrets(sql: Queries, secrets: SealedSecrets): Promise<void> {
  await sql`
    update subscriptions set secret = ${secrets.secret}, previous_secret = ${secrets.previous_secret}
    where community_id = ${secrets.community_id} and id = ${secrets.id}`
}

/** Communities with events that have no position yet. */
export async function communitiesToFanOut(sql: Queries): Promise<number[]> {
  const rows = await sql<{ community_id: number }[]>`select distinct community_id from events where position is null`
  return rows.map((row) => row.community_id)
}

export interface DueSubscription {
  community_id: number
  id: number
}

/** Subscriptions with something to deliver. By subscription, since a dead endpoint has many deliveries waiting. */
export async function dueSubscriptions(sql: Queries, now: Date): Promise<DueSubscription[]> {
  return sql<DueSubscription[]>`
    select s.community_id, s.id from subscriptions s
    where s.status = 'active' and exists (
      select from deliveries d where d.community_id = s.community_id and d.subscription_id = s.id
        and d.status = 'pending' and d.next_attempt_at <= ${now})`
}

/** Communities with a month to close, or with none of their months closed yet. */
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
