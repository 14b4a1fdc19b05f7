import { identifier, type Fragment, type Queries } from '../../postgres/connect.ts'
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

/** Filters by the day of the service, like the printed statement. */
export interface Period {
  from?: string
  until?: string
}

/** Lists the transfers into and out of one wallet, the last recorded first: stored balances add up in that order. */
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

function within(sql: Queries, { from, until }: Period) {
  return sql`
    ${from === undefined ? sql`` : sql`and t.occurred_on >= ${from}::text::date`}
    ${until === undefined ? sql`` : sql`and t.occurred_on <= ${until}::text::date`}`
}

/** The balance of what happened before the first day, and until the end of the last day. */
export async function findPeriodBalances(
  sql: Queries,
  communityId: number,
  memberId: number,
  { from, until }: Period,
): Promise<{ opening: number; closing: number }> {
  const moved = (side: 'debit' | 'credit', days: Fragment) => sql`
    coalesce((
      select sum(amount) from transfers
      where community_id = ${communityId} and ${identifier(`${side}_account_id`)} = w.id and ${days}), 0)`
  const balance = (days: Fragment) => sql`(${moved('credit', days)} - ${moved('debit', days)})::int8`
  const [row] = await sql<[{ opening: number; closing: number }]>`
    select ${from === undefined ? sql`0::int8` : balance(sql`occurred_on < ${from}::text::date`)} as opening,
      ${until === undefined ? sql`w.balance` : balance(sql`occurred_on <= ${until}::text::date`)} as closing
    from accounts w where w.community_id = ${communityId} and w.member_id = ${memberId}`
  return row
}
