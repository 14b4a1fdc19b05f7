import type { Queries } from '../../postgres/connect.ts'

export interface MonthTotal {
  month: string
  exchanges: number
  centihours_exchanged: number
  centihours_credited: number
}

export interface PartnerCalls {
  partner_id: number
  name: string
  status: 'active' | 'suspended'
  calls: number
  errors: number
  last_call_at: string | null
}

export interface WebhookHealth {
  active: number
  paused: number
  disabled: number
  failing: number
  /** Deliveries, up to one more than the limit. */
  waiting: number
}

export interface FirstSteps {
  has_members: boolean
  has_partner: boolean
  has_call: boolean
  has_credit: boolean
}

/** Returns the last `months` months including the current one, with the stored totals for the current time zone. */
export async function findMonthTotals(
  sql: Queries,
  communityId: number,
  { timeZone, months }: { timeZone: string; months: number },
): Promise<(MonthTotal & { is_stored: boolean; is_over: boolean })[]> {
  return sql<(MonthTotal & { is_stored: boolean; is_over: boolean })[]>`
    with present as (select date_trunc('month', now() at time zone ${timeZone}) as month)
    select to_char(m.month, 'YYYY-MM') as month, t.month is not null as is_stored,
      -- A transaction that began before the end of the month commits within this time.
      (m.month + interval '1 month') at time zone ${timeZone} < now() - interval '1 hour' as is_over,
      coalesce(t.exchanges, 0) as exchanges, coalesce(t.centihours_exchanged, 0) as centihours_exchanged,
      coalesce(t.centihours_credited, 0) as centihours_credited
    from present p,
      generate_series(p.month - make_interval(months => ${months - 1}), p.month, interval '1 month') as m(month)
    left join month_totals t on t.community_id = ${communityId} and t.month = m.month and t.time_zone = ${timeZone}
    order by m.month`
}

/** A reversal is subtracted in the month in which it is made, so the totals of past months never change. */
export async function sumMonth(
  sql: Queries,
  communityId: number,
  { timeZone, month }: { timeZone: string; month: string },
): Promise<MonthTotal> {
  const [row] = await sql<[Omit<MonthTotal, 'month'>]>`
    with span as (
      select to_date(${month}, 'YYYY-MM')::timestamp at time zone ${timeZone} as since,
        (to_date(${month}, 'YYYY-MM') + interval '1 month') at time zone ${timeZone} as until
    ), moved as (
      select t.kind = 'reversal' as is_reversal, coalesce(o.kind, t.kind) as kind, t.amount
      from span s
      join transfers t on t.community_id = ${communityId} and t.created_at >= s.since and t.created_at < s.until
      left join transfers o on o.community_id = ${communityId} and o.id = t.reverses_id
    )
    select
      coalesce(sum(case when is_reversal then -1 else 1 end) filter (where kind = 'exchange'), 0)::int8 as exchanges,
      coalesce(sum(case when is_reversal then -amount else amount end) filter (where kind = 'exchange'), 0)::int8
        as centihours_exchanged,
      coalesce(sum(case when is_reversal then -amount else amount end) filter (where kind = 'credit'), 0)::int8
        as centihours_credited
    from moved`
  return { month, ...row }
}

export async function saveMonthTotal(
  sql: Queries,
  communityId: number,
  timeZone: string,
  total: MonthTotal,
): Promise<void> {
  await sql`
    insert into month_totals (community_id, month, time_zone, exchanges, centihours_exchanged, centihours_credited)
    values (${communityId}, to_date(${total.month}, 'YYYY-MM'), ${timeZone}, ${total.exchanges},
      ${total.centihours_exchanged}, ${total.centihours_credited})
    on conflict (community_id, month) do update set time_zone = excluded.time_zone, exchanges = excluded.exchanges,
      centihours_exchanged = excluded.centihours_exchanged, centihours_credited = excluded.centihours_credited`
}

export async function countActiveMembers(sql: Queries, communityId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from accounts where community_id = ${communityId} and kind = 'member' and active`
  return row.count
}

/** Counts the calls of the partners that called last: to sum up those of all would take as long as there are partners. */
export async function countCalls(
  sql: Queries,
  communityId: number,
  days: number,
  limit: number,
): Promise<PartnerCalls[]> {
  return sql<PartnerCalls[]>`
    with recent as materialized (
      select p.id, p.name, p.status from partners p cross join lateral (
        select max(last_used_at) as at from clients where community_id = ${communityId} and partner_id = p.id
      ) c
      where p.community_id = ${communityId} order by c.at desc nulls last, p.id limit ${limit}
    )
    select p.id as partner_id, p.name, p.status, c.calls, c.errors, c.last_call_at
    from recent p cross join lateral (
      select coalesce(sum(g.calls), 0)::int8 as calls,
        coalesce(sum(g.calls) filter (where g.status >= 400), 0)::int8 as errors, max(g.second_at) as last_call_at
      from call_groups g
      where g.community_id = ${communityId} and g.partner_id = p.id
        and g.second_at > now() - make_interval(days => ${days})
    ) c
    order by c.calls desc, p.id`
}

export async function countPartners(sql: Queries, communityId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from partners where community_id = ${communityId}`
  return row.count
}

export async function readWebhookHealth(sql: Queries, communityId: number, waitingMax: number): Promise<WebhookHealth> {
  const [row] = await sql<[WebhookHealth]>`
    select count(*) filter (where status = 'active') as active, count(*) filter (where status = 'paused') as paused,
      count(*) filter (where status = 'disabled') as disabled,
      count(*) filter (where status = 'active' and failing_since is not null) as failing,
      (
        select count(*) from (
          select 1 from deliveries where community_id = ${communityId} and status = 'pending' limit ${waitingMax + 1}) few
      ) as waiting
    from subscriptions where community_id = ${communityId}`
  return row
}

export async function readFirstSteps(sql: Queries, communityId: number): Promise<FirstSteps> {
  const [row] = await sql<[FirstSteps]>`
    select exists (select 1 from members where community_id = ${communityId}) as has_members,
      exists (select 1 from partners where community_id = ${communityId}) as has_partner,
      exists (select 1 from clients where community_id = ${communityId} and last_used_at is not null) as has_call,
      exists (select 1 from credits where community_id = ${communityId}) as has_credit`
  return row
}

export interface RestoreReview {
  backup_at: string
  partners: { partner_id: number; name: string; clients: number; webhooks: number }[]
  administrators: { admin_id: number; name: string; role: string }[]
}

/** Lists who has access while a restored community waits for its review; undefined at other times. */
export async function findReview(sql: Queries, communityId: number, limit: number): Promise<RestoreReview | undefined> {
  const [row] = await sql<RestoreReview[]>`
    select c.review_backup_at as backup_at,
      coalesce((select json_agg(p order by p.name, p.partner_id) from (
        select p.id as partner_id, p.name,
          (select count(*) from clients k
            where k.community_id = ${communityId} and k.partner_id = p.id and k.status = 'active') as clients,
          (select count(*) from subscriptions s
            where s.community_id = ${communityId} and s.partner_id = p.id and s.status = 'active') as webhooks
        from partners p where p.community_id = ${communityId} and p.status = 'active'
        order by p.name, p.id limit ${limit}) p), '[]') as partners,
      coalesce((select json_agg(a order by a.name, a.admin_id) from (
        select a.id as admin_id, coalesce(r.name, r.email, a.email) as name, r.role
        from community_admins r join admins a on a.id = r.admin_id
        where r.community_id = ${communityId} order by 2, a.id limit ${limit}) a), '[]') as administrators
    from communities c where c.id = ${communityId} and c.review_backup_at is not null`
  return row
}
