import { Json, type Queries, type Transaction } from '../../postgres/connect.ts'
import type { Month, Published } from './published.ts'
import type { Holdings } from './restate-stocks.ts'
import type { Contributions } from './rule.ts'

export async function findDocument(sql: Queries, communityId: number): Promise<string | undefined> {
  const [row] = await sql<{ body: string }[]>`
    select body from aggregate_documents where community_id = ${communityId}`
  return row?.body
}

/** Inserts the document of a community that has none. */
export async function ensureDocument(sql: Queries, communityId: number, body: string, now: Date): Promise<void> {
  await sql`
    insert into aggregate_documents (community_id, body, next_close_at)
    values (${communityId}, ${body}, ${now.toISOString()}::timestamptz)
    on conflict (community_id) do nothing`
}

/** Keeps others from closing this community until commit. Returns undefined if it is locked and `wait` is false. */
export async function lockDocument(
  sql: Queries,
  communityId: number,
  { wait }: { wait: boolean },
): Promise<{ published: Published | null } | undefined> {
  const [row] = await sql<{ published: Published | null }[]>`
    select published from aggregate_documents where community_id = ${communityId}
    for no key update ${wait ? sql`` : sql`skip locked`}`
  return row
}

export async function updateDocument(
  sql: Queries,
  communityId: number,
  document: { body: string; published: Published; closedAt: Date },
): Promise<void> {
  await sql`
    update aggregate_documents set body = ${document.body}, published = ${new Json(document.published as never)},
      closed_at = ${document.closedAt.toISOString()}::timestamptz
    where community_id = ${communityId}`
}

export async function postponeClose(sql: Queries, communityId: number, until: string): Promise<void> {
  await sql`
    update aggregate_documents set next_close_at = ${until}::timestamptz where community_id = ${communityId}`
}

export interface MonthRow {
  month: Month
  starts_at: string
  ends_at: string
  closes_at: string
  is_due: boolean
}

/**
 * Lists the open months up to the current one. They start where the last closed month ended, whatever the time zone was
 * then. Without a closed month they start with the community or its first member: demo data is older than its community.
 */
export async function findOpenMonths(
  sql: Queries,
  communityId: number,
  { now, graceDays, monthsMax }: { now: Date; graceDays: number; monthsMax: number },
): Promise<MonthRow[]> {
  return sql<MonthRow[]>`
    with last as (
      select month, ends_at from aggregate_periods where community_id = ${communityId} order by month desc limit 1
    ), span as (
      select c.time_zone, coalesce(
          (select month + interval '1 month' from last),
          date_trunc('month', least(c.created_at, (
            select min(recorded_at) from members where community_id = ${communityId})) at time zone c.time_zone)
        ) as first,
        date_trunc('month', ${now.toISOString()}::timestamptz at time zone c.time_zone) as present
      from communities c where c.id = ${communityId}
    ), months as (
      select m.month, m.month = s.first as is_first, s.time_zone
      from span s, generate_series(s.first, greatest(s.first, s.present), interval '1 month') as m(month)
      order by m.month limit ${monthsMax}
    ), bounds as (
      select month, is_first, month at time zone time_zone as starts_at,
        (month + interval '1 month') at time zone time_zone as ends_at,
        (month + interval '1 month' + make_interval(days => ${graceDays})) at time zone time_zone as closes_at
      from months
    )
    select to_char(month, 'YYYY-MM') as month,
      case when is_first then coalesce((select ends_at from last), starts_at) else starts_at end as starts_at,
      ends_at, closes_at, closes_at <= ${now.toISOString()}::timestamptz as is_due
    from bounds order by bounds.month`
}

/** Returns the start of each closed month. */
export async function findMonthStarts(sql: Queries, communityId: number): Promise<Map<Month, string>> {
  const rows = await sql<{ month: Month; starts_at: string }[]>`
    select to_char(month, 'YYYY-MM') as month, starts_at from aggregate_periods where community_id = ${communityId}`
  return new Map(rows.map(({ month, starts_at }) => [month, starts_at]))
}

export async function insertPeriod(sql: Queries, communityId: number, month: MonthRow, closedAt: Date): Promise<void> {
  await sql`
    insert into aggregate_periods (community_id, month, starts_at, ends_at, closed_at)
    values (${communityId}, to_date(${month.month}, 'YYYY-MM'), ${month.starts_at}::timestamptz,
      ${month.ends_at}::timestamptz, ${closedAt.toISOString()}::timestamptz)`
}

export interface Window {
  since: string
  until: string
}

export interface ExchangeRow {
  members: number
  exchanges: number
  exchanges_largest: number
  exchanges_second: number
  centihours: number
  centihours_largest: number
  centihours_second: number
}

/**
 * Sums exchanges by the time they were recorded, not by the day they happened. An exchange reversed within the window is
 * ignored; reversals of earlier exchanges are subtracted.
 */
export async function sumExchanges(sql: Queries, communityId: number, { since, until }: Window): Promise<ExchangeRow> {
  const [row] = await sql<[ExchangeRow]>`
    with reversals as materialized (
      select reverses_id from transfers
      where community_id = ${communityId} and kind = 'reversal'
        and created_at >= ${since}::timestamptz and created_at < ${until}::timestamptz
    ), movements as materialized (
      select t.debit_account_id, t.credit_account_id, t.amount, 1 as sign
      from transfers t
      where t.community_id = ${communityId} and t.kind = 'exchange'
        and t.created_at >= ${since}::timestamptz and t.created_at < ${until}::timestamptz
        and not exists (select 1 from reversals r where r.reverses_id = t.id)
      union all
      select t.debit_account_id, t.credit_account_id, t.amount, -1
      from reversals r
      join transfers t on t.community_id = ${communityId} and t.id = r.reverses_id
      where t.kind = 'exchange' and t.created_at < ${since}::timestamptz
    ), sides as (
      select debit_account_id as account_id, amount, sign from movements
      union all
      select credit_account_id, amount, sign from movements
    ), traders as materialized (
      select count(*) as exchanges, sum(amount)::int8 as centihours, bool_or(sign > 0) as counts
      from sides group by account_id
    )
    select
      (select count(*) from traders where counts) as members,
      (select coalesce(sum(sign), 0)::int8 from movements) as exchanges,
      (select coalesce(max(exchanges), 0) from traders) as exchanges_largest,
      coalesce((select exchanges from traders order by exchanges desc offset 1 limit 1), 0) as exchanges_second,
      (select coalesce(sum(sign * amount), 0)::int8 from movements) as centihours,
      (select coalesce(max(centihours), 0) from traders) as centihours_largest,
      coalesce((select centihours from traders order by centihours desc offset 1 limit 1), 0) as centihours_second`
  return row
}

/** Counts members by the time they were recorded, not by `joined_at`. */
export async function countNewMembers(sql: Queries, communityId: number, { since, until }: Window): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from members
    where community_id = ${communityId}
      and recorded_at >= ${since}::timestamptz and recorded_at < ${until}::timestamptz`
  return row.count
}

/**
 * Sums each partner's credits by member, from `since` or from the partner's first unpublished month. Reversals are treated
 * as in sumExchanges.
 */
export async function sumCredits(
  sql: Queries,
  communityId: number,
  { since, until }: Window,
  waiting: { partnerId: number; since: string }[],
): Promise<(Contributions & { partner_id: number })[]> {
  const oldest = [since, ...waiting.map((partner) => partner.since)].toSorted(
    (a, b) => Date.parse(a) - Date.parse(b),
  )[0]!
  return sql<(Contributions & { partner_id: number })[]>`
    with waiting as (
      select * from unnest(${waiting.map(({ partnerId }) => partnerId)}::int8[], ${waiting.map((partner) => partner.since)}::timestamptz[])
        as w(partner_id, since)
    ), source as materialized (
      select p.id as partner_id, a.id as account_id, coalesce(w.since, ${since}::timestamptz) as since
      from partners p
      join accounts a on a.community_id = ${communityId} and a.partner_id = p.id
      left join waiting w on w.partner_id = p.id
      where p.community_id = ${communityId}
    ), reversals as materialized (
      select reverses_id, created_at from transfers
      where community_id = ${communityId} and kind = 'reversal'
        and created_at >= ${oldest}::timestamptz and created_at < ${until}::timestamptz
    ), credits as materialized (
      -- Filter by time before joining the partners. Otherwise all credits that a partner ever made would be read.
      select t.debit_account_id, t.credit_account_id, t.amount, t.created_at from transfers t
      where t.community_id = ${communityId} and t.kind = 'credit'
        and t.created_at >= ${oldest}::timestamptz and t.created_at < ${until}::timestamptz
        and not exists (select 1 from reversals r where r.reverses_id = t.id)
    ), movements as (
      select s.partner_id, c.credit_account_id as account_id, c.amount, 1 as sign
      from credits c join source s on s.account_id = c.debit_account_id
      where c.created_at >= s.since
      union all
      select s.partner_id, t.credit_account_id, t.amount, -1
      from reversals r
      join transfers t on t.community_id = ${communityId} and t.id = r.reverses_id
      join source s on s.account_id = t.debit_account_id
      where t.kind = 'credit' and r.created_at >= s.since and t.created_at < s.since
    ), parts as (
      select partner_id, sum(amount)::int8 as part, sum(sign * amount)::int8 as net, bool_or(sign > 0) as counts
      from movements group by partner_id, account_id
    ), ranked as (
      select *, row_number() over (partition by partner_id order by part desc) as place from parts
    )
    select partner_id, count(*) filter (where counts) as members, sum(net)::int8 as total,
      max(part) as largest, coalesce(max(part) filter (where place = 2), 0) as second
    from ranked group by partner_id order by partner_id`
}

/** Stores the current holdings, of members and listings that partners can see. Writes only differences. */
export async function recordHoldings(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    with present as materialized (
      select 'active_members' as stock, id as member_id, 1 as held
      from members where community_id = ${communityId} and visible
      union all
      select s.stock, l.member_id, count(*)::int4
      from listings l
      join categories c on c.community_id = ${communityId} and c.name = l.category
      cross join lateral (
        values (case l.type when 'service' then 'active_services' else 'active_requests' end), ('category:' || c.id)
      ) as s(stock)
      where l.community_id = ${communityId} and l.visible
      group by s.stock, l.member_id
    ), gone as (
      update aggregate_holdings h set held = 0
      where h.community_id = ${communityId} and h.held <> 0
        and not exists (select 1 from present p where p.stock = h.stock and p.member_id = h.member_id)
    )
    insert into aggregate_holdings (community_id, stock, member_id, held)
    select ${communityId}, p.stock, p.member_id, p.held
    from present p
    left join aggregate_holdings h
      on h.community_id = ${communityId} and h.stock = p.stock and h.member_id = p.member_id
    where h.held is distinct from p.held
    on conflict (community_id, stock, member_id) do update set held = excluded.held`
}

export async function sumHoldings(sql: Queries, communityId: number): Promise<Holdings[]> {
  return sql<Holdings[]>`
    select stock, count(*) filter (where held <> stated) as changed, count(*) filter (where held > 0) as members,
      sum(held)::int8 as total, max(held) as largest, coalesce(max(held) filter (where place = 2), 0) as second
    from (
      select stock, held, stated, row_number() over (partition by stock order by held desc) as place
      from aggregate_holdings where community_id = ${communityId}
    ) h
    group by stock order by stock`
}

/** Restarts the count of changes for these stocks. */
export async function settleHoldings(tx: Transaction, communityId: number, stocks: string[]): Promise<void> {
  await tx`
    update aggregate_holdings set stated = held
    where community_id = ${communityId} and stock = any (${stocks}::text[]) and stated <> held`
  await tx`
    delete from aggregate_holdings where community_id = ${communityId} and stated = 0 and held = 0`
}

/** Returns category names by the keys used in holdings. */
export async function findCategoryNames(sql: Queries, communityId: number): Promise<Map<string, string>> {
  const rows = await sql<{ key: string; name: string }[]>`
    select 'category:' || id as key, name from categories where community_id = ${communityId}`
  return new Map(rows.map(({ key, name }) => [key, name]))
}
