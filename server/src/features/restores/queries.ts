import type { Queries } from '../../postgres/connect.ts'

/** Who had access, and to what, in the database that a restore replaces. */
export interface Access {
  communities: { id: number; created_at: string; enabled: boolean; reason: string | null }[]
  partners: CommunityRow[]
  clients: CommunityRow[]
  roles: CommunityRow[]
  subscriptions: CommunityRow[]
  hidden_members: (CommunityRow & { id: number })[]
  passwords: object[]
}

interface CommunityRow {
  community_id: number
}

/** Reads columns only that exist since the first versions: the replaced database may be older than this program. */
export async function readAccess(sql: Queries): Promise<Access> {
  const [row] = await sql<[{ access: Access }]>`
    select json_build_object(
      'communities', (select coalesce(json_agg(json_build_object('id', id, 'created_at', created_at::text,
          'enabled', partner_api_enabled, 'reason', partner_api_disabled_reason)), '[]') from communities),
      'partners', (select coalesce(json_agg(json_build_object('community_id', community_id, 'id', id, 'status', status,
          'scopes', scopes, 'allowed_networks', allowed_networks, 'rate_limit_per_minute', rate_limit_per_minute,
          'daily_limit_centihours', daily_limit_centihours)), '[]') from partners),
      'clients', (select coalesce(json_agg(json_build_object('community_id', community_id, 'id', id, 'status', status,
          'scopes', scopes, 'revoked_at', revoked_at, 'secret_hash', secret_hash, 'secret_last_four', secret_last_four,
          'secret_created_at', secret_created_at, 'previous_secret_hash', previous_secret_hash,
          'previous_secret_until', previous_secret_until,
          -- Databases of earlier versions have no such column.
          'expires_at', to_jsonb(clients) ->> 'expires_at')), '[]') from clients),
      'roles', (select coalesce(json_agg(json_build_object('community_id', community_id, 'admin_id', admin_id,
          'role', role)), '[]') from community_admins),
      'subscriptions', (select coalesce(json_agg(json_build_object('community_id', community_id, 'id', id,
          'status', status, 'status_reason', status_reason, 'event_types', event_types, 'target_url', target_url,
          'secret', secret, 'previous_secret', previous_secret, 'previous_secret_until', previous_secret_until)), '[]')
        from subscriptions),
      'hidden_members', (select coalesce(json_agg(json_build_object('community_id', community_id, 'id', id)), '[]')
        from members where hidden),
      'passwords', (select coalesce(json_agg(json_build_object('id', id, 'email', email, 'password_hash', password_hash,
          'password_one_time', password_one_time)), '[]') from admins)
    ) as access`
  return row.access
}

/** Returns the ids of the communities that are in both databases, and of all restored ones. */
export async function matchCommunities(
  tx: Queries,
  replaced: Access['communities'],
): Promise<{ shared: Set<number>; restored: number[] }> {
  const rows = await tx<{ id: number; is_shared: boolean }[]>`
    select c.id, r.id is not null as is_shared from communities c
    left join json_to_recordset(${JSON.stringify(replaced)}::text::json) as r(id int8, created_at timestamptz)
      on r.id = c.id and r.created_at = c.created_at
    order by c.id`
  return {
    shared: new Set(rows.filter(({ is_shared }) => is_shared).map(({ id }) => id)),
    restored: rows.map(({ id }) => id),
  }
}

/** Each returns the communities of the changed rows, one for each row. */
type Withdraw = (tx: Queries, replaced: object[]) => Promise<number[]>

const communityIds = (rows: { community_id: number }[]) => rows.map(({ community_id }) => community_id)

export const switchOffAgain: Withdraw = async (tx, replaced) =>
  communityIds(
    await tx<{ community_id: number }[]>`
      update communities c set partner_api_enabled = false, partner_api_disabled_reason = r.reason, updated_at = now()
      from json_to_recordset(${JSON.stringify(replaced)}::text::json) as r(id int8, enabled boolean, reason text)
      where c.id = r.id and not r.enabled and c.partner_api_enabled
      returning c.id as community_id`,
  )

/** A partner that the replaced database does not have was deleted there. */
export const withdrawPartners: Withdraw = async (tx, replaced) =>
  communityIds(
    await tx<{ community_id: number }[]>`
      with wanted as (
        select p.community_id, p.id,
          case when r.id is null or r.status = 'suspended' then 'suspended' else p.status end as status,
          array(select scope from unnest(p.scopes) as s(scope) where r.id is null or scope = any (r.scopes)) as scopes,
          case when cardinality(r.allowed_networks) > 0 then r.allowed_networks else p.allowed_networks end as networks,
          least(p.rate_limit_per_minute, r.rate_limit_per_minute) as rate_limit,
          least(p.daily_limit_centihours, r.daily_limit_centihours) as daily_limit
        from partners p
        left join json_to_recordset(${JSON.stringify(replaced)}::text::json) as r(community_id int8, id int8, status text,
          scopes text[], allowed_networks text[], rate_limit_per_minute int4, daily_limit_centihours int8)
          on r.community_id = p.community_id and r.id = p.id
      )
      update partners p set status = w.status, scopes = w.scopes, allowed_networks = w.networks,
        rate_limit_per_minute = w.rate_limit, daily_limit_centihours = w.daily_limit, updated_at = now()
      from wanted w
      where w.community_id = p.community_id and w.id = p.id
        and (p.status, p.scopes, p.allowed_networks, p.rate_limit_per_minute, p.daily_limit_centihours)
          is distinct from (w.status, w.scopes, w.networks, w.rate_limit, w.daily_limit)
      returning p.community_id`,
  )

/** The secrets are those of the replaced database: a secret that was rotated because it leaked must not work again. */
export const withdrawClients: Withdraw = async (tx, replaced) =>
  communityIds(
    await tx<{ community_id: number }[]>`
      with wanted as (
        select c.community_id, c.id, r.revoked_at,
          case when r.id is null or r.status = 'revoked' then 'revoked' else c.status end as status,
          array(select scope from unnest(c.scopes) as s(scope) where r.id is null or scope = any (r.scopes)) as scopes,
          case when r.id is null then c.secret_hash else r.secret_hash end as secret_hash,
          case when r.id is null then c.secret_last_four else r.secret_last_four end as last_four,
          case when r.id is null then c.secret_created_at else r.secret_created_at end as secret_created_at,
          r.previous_secret_hash, r.previous_secret_until, least(c.expires_at, r.expires_at) as expires_at
        from clients c
        left join json_to_recordset(${JSON.stringify(replaced)}::text::json) as r(community_id int8, id int8, status text,
          scopes text[], revoked_at timestamptz, secret_hash bytea, secret_last_four text,
          secret_created_at timestamptz, previous_secret_hash bytea, previous_secret_until timestamptz,
          expires_at timestamptz)
          on r.community_id = c.community_id and r.id = c.id
      )
      update clients c set status = w.status, scopes = w.scopes, secret_hash = w.secret_hash,
        secret_last_four = w.last_four, secret_created_at = w.secret_created_at,
        previous_secret_hash = w.previous_secret_hash, previous_secret_until = w.previous_secret_until,
        expires_at = w.expires_at,
        revoked_at = case when w.status = 'revoked' then coalesce(c.revoked_at, w.revoked_at, now()) end
      from wanted w
      where w.community_id = c.community_id and w.id = c.id
        and (c.status, c.scopes, c.secret_hash, c.previous_secret_hash, c.previous_secret_until, c.expires_at)
          is distinct from
          (w.status, w.scopes, w.secret_hash, w.previous_secret_hash, w.previous_secret_until, w.expires_at)
      returning c.community_id`,
  )

export const withdrawRoles: Withdraw = async (tx, replaced) =>
  communityIds(
    await tx<{ community_id: number }[]>`
      with replaced as (
        select * from json_to_recordset(${JSON.stringify(replaced)}::text::json)
          as r(community_id int8, admin_id int8, role text)
      ), removed as (
        delete from community_admins a
        where not exists (select 1 from replaced r where r.community_id = a.community_id and r.admin_id = a.admin_id)
        returning a.community_id
      ), lowered as (
        update community_admins a set role = r.role from replaced r
        where r.community_id = a.community_id and r.admin_id = a.admin_id
          and array_position('{viewer,manager,owner}', r.role) < array_position('{viewer,manager,owner}', a.role)
        returning a.community_id
      )
      select community_id from removed union all select community_id from lowered`,
  )

/** The targets and secrets are those of the replaced database. One that it does not have was deleted there. */
export const withdrawSubscriptions: Withdraw = async (tx, replaced) =>
  communityIds(
    await tx<{ community_id: number }[]>`
      with replaced as (
        select * from json_to_recordset(${JSON.stringify(replaced)}::text::json)
          as r(community_id int8, id int8, status text, status_reason text, event_types text[], target_url text,
            secret bytea, previous_secret bytea, previous_secret_until timestamptz)
      ), gone as materialized (
        select community_id, id from subscriptions s
        where not exists (select 1 from replaced r where r.community_id = s.community_id and r.id = s.id)
      ), answers as (
        delete from attempts a using deliveries d, gone g
        where d.community_id = g.community_id and d.subscription_id = g.id
          and a.community_id = d.community_id and a.delivery_id = d.id
      ), removed as (
        delete from subscriptions s using gone g where s.community_id = g.community_id and s.id = g.id
        returning s.community_id
      ), wanted as (
        select r.*, r.status <> 'active' and s.status = 'active' as is_stopped
        from replaced r join subscriptions s on s.community_id = r.community_id and s.id = r.id
      ), changed as (
        update subscriptions s set event_types = w.event_types, target_url = w.target_url, secret = w.secret,
          previous_secret = w.previous_secret, previous_secret_until = w.previous_secret_until,
          status = case when w.is_stopped then w.status else s.status end,
          status_reason = case when w.is_stopped then w.status_reason else s.status_reason end, updated_at = now()
        from wanted w
        where w.community_id = s.community_id and w.id = s.id and (w.is_stopped
          or (s.event_types, s.target_url, s.secret, s.previous_secret)
            is distinct from (w.event_types, w.target_url, w.secret, w.previous_secret))
        returning s.community_id
      )
      select community_id from removed union all select community_id from changed`,
  )

/** A password that was replaced after the backup does not work again. Returns the number of people. */
export async function restorePasswords(tx: Queries, replaced: object[]): Promise<number> {
  const { count } = await tx`
    update admins a set password_hash = r.password_hash, password_one_time = r.password_one_time,
      one_time_until = case when r.password_one_time then now() end, updated_at = now()
    from json_to_recordset(${JSON.stringify(replaced)}::text::json)
      as r(id int8, email text, password_hash text, password_one_time boolean)
    where r.id = a.id and lower(r.email) = lower(a.email) and r.password_hash <> a.password_hash`
  return count
}

export async function listShownMembers(
  tx: Queries,
  hidden: Access['hidden_members'],
): Promise<Access['hidden_members']> {
  return tx<Access['hidden_members']>`
    select m.community_id, m.id from members m
    join json_to_recordset(${JSON.stringify(hidden)}::text::json) as r(community_id int8, id int8)
      on r.community_id = m.community_id and r.id = m.id
    where not m.hidden and m.erased_at is null order by m.community_id, m.id`
}

/** Keeps the reason of a partner API that was off before. Returns all communities. */
export async function holdCommunities(tx: Queries, backupMadeAt: string, reason: string): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update communities set review_backup_at = ${backupMadeAt}::timestamptz, partner_api_enabled = false, updated_at = now(),
      partner_api_disabled_reason = case when partner_api_enabled then ${reason} else partner_api_disabled_reason end
    returning id`
  return rows.map(({ id }) => id)
}
