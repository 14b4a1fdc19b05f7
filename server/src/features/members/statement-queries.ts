import { identifier, type Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'

export interface StatementTransfer {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment' | 'reversal'
  /** Negative if the hours left the wallet. */
  change: number
  balance_after: number
  occurred_on: string
  created_at: string
  other_kind: 'member' | 'partner' | 'community'
  other_id: number | null
  other_name: string | null
  listing_id: number | null
  listing_title: string | null
  reference: string | null
  note: string | null
  reverses_id: number | null
  reversed_by_id: number | null
}

/** Filters by the day a transfer was recorded in the community's time zone, because balances add up in that order. */
export interface Period {
  timeZone: string
  from?: string
  until?: string
}

/** Lists the transfers into and out of one wallet, newest first. */
export async function listStatement(
  sql: Queries,
  communityId: number,
  memberId: number,
  { limit, after }: ListRequest,
  period: Period,
): Promise<StatementTransfer[]> {
  const side = (own: 'debit' | 'credit', other: 'debit' | 'credit', sign: 1 | -1) => sql`
    select t.id, t.kind, t.amount * ${sign}::int8 as change, t.${identifier(`${own}_balance_after`)} as balance_after, t.occurred_on, t.created_at,
      t.${identifier(`${other}_account_id`)} as other_account_id, t.listing_id, t.reverses_id
    from transfers t
    where t.community_id = ${communityId} and t.${identifier(`${own}_account_id`)} = (
        select id from accounts where community_id = ${communityId} and member_id = ${memberId})
      ${after ? sql`and t.id < ${after.id}` : sql``} ${within(sql, period)}
    order by t.id desc limit ${limit + 1}`
  return sql<StatementTransfer[]>`
    with moved as (
      (${side('debit', 'credit', -1)}) union all (${side('credit', 'debit', 1)}) order by id desc limit ${limit + 1}
    )
    select s.id, s.kind, s.change, s.balance_after, s.occurred_on, s.created_at, a.kind as other_kind,
      coalesce(m.id, p.id) as other_id, coalesce(m.name, p.name) as other_name, l.id as listing_id,
      l.title as listing_title, k.reference, n.note, s.reverses_id, r.id as reversed_by_id
    from moved s
    join accounts a on a.community_id = ${communityId} and a.id = s.other_account_id
    left join members m on m.community_id = ${communityId} and m.id = a.member_id
    left join partners p on p.community_id = ${communityId} and p.id = a.partner_id
    left join listings l on l.community_id = ${communityId} and l.id = s.listing_id
    left join transfers r on r.community_id = ${communityId} and r.reverses_id = s.id
    left join credits k on k.community_id = ${communityId} and k.transfer_id = coalesce(s.reverses_id, s.id)
    left join transfer_notes n on n.community_id = ${communityId} and n.transfer_id = s.id
    order by s.id desc`
}

function within(sql: Queries, { timeZone, from, until }: Period) {
  return sql`
    ${from === undefined ? sql`` : sql`and t.created_at >= ${startOfDay(sql, from, timeZone)}`}
    ${until === undefined ? sql`` : sql`and t.created_at < ${startOfDay(sql, until, timeZone, 1)}`}`
}

/** The start of a day in a time zone, optionally shifted by some days. */
function startOfDay(sql: Queries, day: string, timeZone: string, daysLater = 0) {
  return sql`((${day}::text::date + ${daysLater}::int)::timestamp at time zone ${timeZone})`
}

/** The balance of the wallet before the first day and at the end of the last day. */
export async function findPeriodBalances(
  sql: Queries,
  communityId: number,
  memberId: number,
  { timeZone, from, until }: Period,
): Promise<{ opening: number; closing: number }> {
  const balanceBefore = (moment: ReturnType<typeof startOfDay>) => sql`
    coalesce((
      select balance_after from (
        (select id, debit_balance_after as balance_after from transfers
          where community_id = ${communityId} and debit_account_id = w.id and created_at < ${moment}
          order by id desc limit 1)
        union all
        (select id, credit_balance_after from transfers
          where community_id = ${communityId} and credit_account_id = w.id and created_at < ${moment}
          order by id desc limit 1)
      ) last order by id desc limit 1
    ), 0)`
  const [row] = await sql<[{ opening: number; closing: number }]>`
    select ${from === undefined ? sql`0::int8` : balanceBefore(startOfDay(sql, from, timeZone))} as opening,
      ${until === undefined ? sql`w.balance` : balanceBefore(startOfDay(sql, until, timeZone, 1))} as closing
    from accounts w where w.community_id = ${communityId} and w.member_id = ${memberId}`
  return row
}
