import { secondFactorExists } from '../../http/console/session-queries.ts'
import type { Queries } from '../../postgres/connect.ts'

/*
 * What somebody should look at. Every statement reads a partial index or a handful of rows, and stops at a limit, so
 * that it takes as long in a community of 100,000 members as in one of 1,000 (migration 0045).
 */

export interface UnhealthySubscription {
  id: number
  name: string
  status: string
  since: string
}

/** Of partners that are suspended nothing is sent anyway. */
export async function findUnhealthySubscriptions(
  sql: Queries,
  communityId: number,
  limit: number,
): Promise<UnhealthySubscription[]> {
  return sql<UnhealthySubscription[]>`
    select s.id, p.name, case when s.status = 'disabled' then 'disabled' else 'failing' end as status,
      case when s.status = 'disabled' then s.status_changed_at else s.failing_since end as since
    from subscriptions s
    join partners p on p.community_id = ${communityId} and p.id = s.partner_id and p.status = 'active'
    where s.community_id = ${communityId} and (s.status = 'disabled' or s.failing_since is not null)
      and s.status <> 'paused'
    order by since desc limit ${limit}`
}

export interface PartnerNearLimit {
  id: number
  name: string
  centihours: number
  limit_centihours: number
}

/** Lists partners that have credited at least `share` of their hours today, by the community's calendar. */
export async function findPartnersNearLimit(
  sql: Queries,
  communityId: number,
  share: number,
  limit: number,
): Promise<PartnerNearLimit[]> {
  return sql<PartnerNearLimit[]>`
    select p.id, p.name, d.centihours, p.daily_limit_centihours as limit_centihours
    from communities m
    join partners p on p.community_id = ${communityId} and p.status = 'active'
    join partner_days d on d.community_id = ${communityId} and d.partner_id = p.id
      and d.day = (now() at time zone m.time_zone)::date
    where m.id = ${communityId} and d.centihours > 0 and d.centihours >= p.daily_limit_centihours * ${share}::float8
    order by d.centihours::float8 / greatest(p.daily_limit_centihours, 1) desc, p.id limit ${limit}`
}

export interface LimitedPartner {
  id: number
  name: string
  calls: number
}

/** Lists partners whose calls were rejected within the hour because they sent too many. */
export async function findLimitedPartners(sql: Queries, communityId: number, limit: number): Promise<LimitedPartner[]> {
  return sql<LimitedPartner[]>`
    select p.id, p.name, c.calls
    from (
      select g.partner_id, sum(g.calls)::int8 as calls from call_groups g
      where g.community_id = ${communityId} and g.second_at > now() - interval '1 hour' and g.status >= 400
        and g.error = 'rate_limited'
      group by 1
    ) c
    join partners p on p.community_id = ${communityId} and p.id = c.partner_id
    order by c.calls desc, p.id limit ${limit}`
}

export interface ExpiringClient {
  id: number
  name: string
  client_id: string
  since: string
  status: string
}

/** Lists clients in use that end within `days`, or have ended in the last `days`. */
export async function findExpiringClients(
  sql: Queries,
  communityId: number,
  days: number,
  limit: number,
): Promise<ExpiringClient[]> {
  return sql<ExpiringClient[]>`
    select p.id, p.name, c.public_id as client_id, c.expires_at as since,
      case when c.expires_at <= now() then 'expired' else 'expiring' end as status
    from clients c
    join partners p on p.community_id = ${communityId} and p.id = c.partner_id and p.status = 'active'
    where c.community_id = ${communityId} and c.status = 'active'
      and c.expires_at between now() - make_interval(days => ${days}) and now() + make_interval(days => ${days})
    order by c.expires_at, c.id limit ${limit}`
}

export interface MemberToLookAt {
  id: number
  name: string
  centihours: number
}

/** Lists members who cannot spend: their balance is at the lower limit. A limit of 0 is where everybody starts. */
export async function findMembersAtLimit(sql: Queries, communityId: number, limit: number): Promise<MemberToLookAt[]> {
  return sql<MemberToLookAt[]>`
    select m.id, m.name, a.balance as centihours
    from (
      select member_id, balance from accounts
      where community_id = ${communityId} and kind = 'member' and active and balance < 0
        and balance <= (select lower_limit_centihours from communities where id = ${communityId})
      order by balance limit ${limit}
    ) a
    join members m on m.community_id = ${communityId} and m.id = a.member_id
    order by a.balance, m.id`
}

/** Lists active members without an exchange for `months` months, by the community's calendar; the longest first. */
export async function findIdleMembers(
  sql: Queries,
  communityId: number,
  months: number,
  limit: number,
): Promise<(MemberToLookAt & { since: string })[]> {
  return sql<(MemberToLookAt & { since: string })[]>`
    select m.id, m.name, a.balance as centihours, a.last_active_on::timestamp at time zone c.time_zone as since
    from (
      select member_id, balance, last_active_on from accounts
      where community_id = ${communityId} and kind = 'member' and active
        and last_active_on < (
          select (now() at time zone time_zone - make_interval(months => ${months}))::date from communities
          where id = ${communityId})
      order by last_active_on limit ${limit}
    ) a
    join members m on m.community_id = ${communityId} and m.id = a.member_id
    join communities c on c.id = ${communityId}
    order by a.last_active_on, m.id`
}

export interface RefusedImport {
  id: number
  name: string
  refused: number
  since: string
}

/** Of the last import of each kind, those that left rows out. The next import without refused rows settles it. */
export async function findRefusedImports(sql: Queries, communityId: number, days: number): Promise<RefusedImport[]> {
  return sql<RefusedImport[]>`
    select l.id, split_part(k.action, '.', 1) as name, l.refused, l.at as since
    from unnest(array['members.imported', 'listings.imported']) as k(action), lateral (
      select id, at, coalesce((detail ->> 'refused')::int8, 0) as refused from audit_log
      where community_id = ${communityId} and action = k.action order by id desc limit 1
    ) l
    where l.refused > 0 and l.at > now() - make_interval(days => ${days})
    order by l.at desc`
}

/** Returns nobody unless the community requires a second factor: elsewhere it is nobody's concern (decision 22). */
export async function findAdminsWithoutFactor(
  sql: Queries,
  communityId: number,
  limit: number,
): Promise<{ id: number; name: string }[]> {
  return sql<{ id: number; name: string }[]>`
    select a.id, coalesce(r.name, r.email, a.email) as name
    from community_admins r join admins a on a.id = r.admin_id join communities c on c.id = ${communityId}
    where r.community_id = ${communityId} and c.second_factor_required and not ${secondFactorExists(sql, sql`a.id`)}
    order by 2, a.id limit ${limit}`
}
