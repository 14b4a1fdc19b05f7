import { assignments, columnsAndValues, type Fragment, type Queries } from '../../postgres/connect.ts'
import type { Scope } from '../../core/scopes.ts'

export interface PartnerRow {
  id: number
  name: string
  contact: string
  status: 'active' | 'suspended'
  scopes: Scope[]
  rate_limit_per_minute: number
  daily_limit_centihours: number
  allowed_networks: string[]
  created_at: string
}

export type PartnerProperties = Omit<PartnerRow, 'id' | 'created_at'>

export interface ClientRow {
  community_id: number
  id: number
  partner_id: number
  public_id: string
  name: string
  /** By the database's clock. */
  status: 'active' | 'revoked' | 'expired'
  expires_at: string | null
  scopes: Scope[]
  authentication: 'secret' | 'keys' | 'jwks'
  /** The oldest first; none unless `authentication` is `keys`. */
  keys: { thumbprint: string; kty: string; created_at: string }[]
  jwks_url: string | null
  jwks_url_set_at: string | null
  /** Empty unless `authentication` is `secret`. */
  secret_last_four: string
  secret_created_at: string
  /** End of the previous secret's grace period, or null if there is none. */
  grace_until: string | null
  created_at: string
  revoked_at: string | null
  last_used_at: string | null
}

const clientColumns = (sql: Queries, communityId: number) => sql`
  community_id, id, partner_id, public_id, name,
  case when status = 'active' and expires_at <= now() then 'expired' else status end as status, expires_at, scopes,
  authentication, array(
    select json_build_object('thumbprint', k.thumbprint, 'kty', k.jwk->>'kty', 'created_at',
      to_char(k.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
    from client_keys k where k.community_id = ${communityId} and k.client_id = clients.id
    order by k.created_at, k.thumbprint) as keys,
  jwks_url, jwks_url_set_at, secret_last_four, secret_created_at,
  case when previous_secret_until > now() and status = 'active' then previous_secret_until end as grace_until,
  created_at, revoked_at, last_used_at`

const partnerColumns = (sql: Queries) => sql`
  id, name, contact, status, scopes, rate_limit_per_minute, daily_limit_centihours, allowed_networks, created_at`

/** Creates the partner and the account that funds its credits. */
export async function insertPartner(
  sql: Queries,
  communityId: number,
  partner: Omit<PartnerProperties, 'status'>,
): Promise<PartnerRow> {
  const [row] = await sql<[PartnerRow]>`
    with made as (
      insert into partners ${columnsAndValues({ community_id: communityId, ...partner })} returning *
    ), account as (
      insert into accounts (community_id, kind, partner_id) select community_id, 'partner', id from made
    )
    select ${partnerColumns(sql)} from made`
  return row
}

export async function findPartner(
  sql: Queries,
  communityId: number,
  partnerId: number,
): Promise<PartnerRow | undefined> {
  const [row] = await sql<PartnerRow[]>`
    select ${partnerColumns(sql)} from partners where community_id = ${communityId} and id = ${partnerId}`
  return row
}

export async function listPartners(sql: Queries, communityId: number): Promise<PartnerRow[]> {
  return sql<PartnerRow[]>`
    select ${partnerColumns(sql)} from partners where community_id = ${communityId} order by id`
}

/** Locks the row, so that concurrent changes do not overwrite each other. */
export async function findPartnerForChange(
  sql: Queries,
  communityId: number,
  partnerId: number,
): Promise<PartnerRow | undefined> {
  const [row] = await sql<PartnerRow[]>`
    select ${partnerColumns(sql)} from partners
    where community_id = ${communityId} and id = ${partnerId} for no key update`
  return row
}

export async function updatePartner(
  sql: Queries,
  communityId: number,
  partnerId: number,
  change: Partial<PartnerProperties>,
): Promise<PartnerRow> {
  const [row] = await sql<[PartnerRow]>`
    update partners set ${assignments({ ...change, updated_at: new Date() })}
    where community_id = ${communityId} and id = ${partnerId} returning ${partnerColumns(sql)}`
  return row
}

/** Whether the partner never asked for a token, and has nothing that would be lost with it. */
export async function isUnused(sql: Queries, communityId: number, partnerId: number): Promise<boolean> {
  const [row] = await sql<[{ unused: boolean }]>`
    select not exists (
        select 1 from clients c where c.community_id = ${communityId} and c.partner_id = ${partnerId}
          and (c.last_used_at is not null
            or exists (select 1 from tokens where community_id = ${communityId} and client_id = c.id)))
      and not exists (select 1 from credits where community_id = ${communityId} and partner_id = ${partnerId})
      and not exists (select 1 from subscriptions where community_id = ${communityId} and partner_id = ${partnerId})
      as unused`
  return row.unused
}

/** Deletes the partner with its credentials and its empty account. */
export async function deletePartnerRows(sql: Queries, communityId: number, partnerId: number): Promise<void> {
  await sql`delete from clients where community_id = ${communityId} and partner_id = ${partnerId}`
  await sql`delete from accounts where community_id = ${communityId} and partner_id = ${partnerId}`
  await sql`delete from partner_days where community_id = ${communityId} and partner_id = ${partnerId}`
  await sql`delete from partners where community_id = ${communityId} and id = ${partnerId}`
}

export async function insertClient(
  sql: Queries,
  communityId: number,
  client: {
    partner_id: number
    public_id: string
    name: string
    scopes: Scope[]
    authentication: ClientRow['authentication']
    secret_hash: Buffer
    secret_last_four: string
    jwks_url?: string
    jwks_url_set_at?: Date
    expires_at?: string
  },
): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    insert into clients ${columnsAndValues({ community_id: communityId, ...client })} returning id`
  return row.id
}

/** Locks the row, like findPartnerForChange. */
export async function findClientForChange(
  sql: Queries,
  communityId: number,
  publicId: string,
): Promise<ClientRow | undefined> {
  return findUnderLock(sql, communityId, sql`public_id = ${publicId}`)
}

/** Finds the client that a request created, by its row. */
export async function lockClient(sql: Queries, communityId: number, id: number): Promise<ClientRow | undefined> {
  return findUnderLock(sql, communityId, sql`id = ${id}`)
}

/** Reads only when it has the lock: a statement that waits for one shows the client's new row with its old keys. */
async function findUnderLock(sql: Queries, communityId: number, which: Fragment): Promise<ClientRow | undefined> {
  await sql`select 1 from clients where community_id = ${communityId} and ${which} for no key update`
  const [row] = await sql<ClientRow[]>`
    select ${clientColumns(sql, communityId)} from clients where community_id = ${communityId} and ${which}`
  return row
}

/** Lists active clients before revoked ones, newest first, up to the limit. */
export async function listClients(
  sql: Queries,
  communityId: number,
  partnerId: number,
  limit: number,
): Promise<ClientRow[]> {
  return sql<ClientRow[]>`
    select ${clientColumns(sql, communityId)} from clients
    where community_id = ${communityId} and partner_id = ${partnerId}
    order by clients.status, id desc limit ${limit}`
}

/** Counts the calls of each client of a partner, on average per day. */
export async function countCallsPerDay(
  sql: Queries,
  communityId: number,
  partnerId: number,
  days: number,
): Promise<{ client_id: number; calls_per_day: number }[]> {
  return sql<{ client_id: number; calls_per_day: number }[]>`
    select client_id, round(sum(calls) / ${days}::numeric, 1)::float8 as calls_per_day
    from call_groups
    where community_id = ${communityId} and partner_id = ${partnerId} and client_id is not null
      and second_at > now() - make_interval(days => ${days})
    group by 1`
}

/** Null: never. */
export async function setExpiry(sql: Queries, client: ClientRow, expiresAt: string | null): Promise<void> {
  await sql`
    update clients set expires_at = ${expiresAt}::timestamptz
    where community_id = ${client.community_id} and id = ${client.id}`
}

export async function findPartnerOfClient(
  sql: Queries,
  communityId: number,
  publicId: string,
): Promise<number | undefined> {
  const [row] = await sql<{ partner_id: number }[]>`
    select partner_id from clients where community_id = ${communityId} and public_id = ${publicId}`
  return row?.partner_id
}

/**
 * Whether the client is out of use only because it expired, or will be within five minutes: a change of its expiry, which
 * must not miss what is held while it waits for locks, takes less.
 */
export async function isExpiring(sql: Queries, communityId: number, publicId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from clients
    where community_id = ${communityId} and public_id = ${publicId} and status = 'active'
      and expires_at <= now() + interval '5 minutes'`
  return rows.length > 0
}

/** Whether a time is still to come, by the database's clock, and the time as the database writes it. */
export async function readFuture(sql: Queries, time: string): Promise<{ at: string; is_future: boolean }> {
  const [row] = await sql<[{ at: string; is_future: boolean }]>`
    select ${time}::timestamptz as at, ${time}::timestamptz > now() as is_future`
  return row
}

export async function countActiveClients(sql: Queries, communityId: number, partnerId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from clients
    where community_id = ${communityId} and partner_id = ${partnerId} and status = 'active'`
  return row.count
}

/** The previous secret stays valid for the grace period, which may be 0. */
export async function replaceSecret(
  sql: Queries,
  client: ClientRow,
  secret: { hash: Buffer; lastFour: string; graceSeconds: number },
): Promise<void> {
  await sql`
    update clients set previous_secret_hash = secret_hash,
      previous_secret_until = now() + make_interval(secs => ${secret.graceSeconds}),
      secret_hash = ${secret.hash}, secret_last_four = ${secret.lastFour}, secret_created_at = now()
    where community_id = ${client.community_id} and id = ${client.id}`
}

/** Leaves the previous secret and its grace period as they are. */
export async function overwriteSecret(
  sql: Queries,
  client: ClientRow,
  secret: { hash: Buffer; lastFour: string },
): Promise<void> {
  await sql`
    update clients set secret_hash = ${secret.hash}, secret_last_four = ${secret.lastFour}, secret_created_at = now()
    where community_id = ${client.community_id} and id = ${client.id}`
}

export async function dropPreviousSecret(sql: Queries, client: ClientRow): Promise<void> {
  await sql`
    update clients set previous_secret_hash = null, previous_secret_until = null
    where community_id = ${client.community_id} and id = ${client.id}`
}

export async function markClientRevoked(sql: Queries, client: ClientRow): Promise<void> {
  await sql`
    update clients set status = 'revoked', revoked_at = now()
    where community_id = ${client.community_id} and id = ${client.id}`
}
