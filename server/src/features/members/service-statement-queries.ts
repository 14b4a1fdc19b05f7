import type { Queries } from '../../postgres/connect.ts'
import type { StatementTransfer } from './statement-queries.ts'

/** A line of a statement by day of service. `balance_after` adds up in that order. */
export interface ServiceTransfer extends StatementTransfer {
  /** The day on which it was recorded, in the community's time zone. */
  recorded_on: string
}

/**
 * Reads the wallet by the day on which each service happened, and the balance before the first day. One statement, so
 * that the lines always add up. `limit` bounds the lines, not what the balances are summed from.
 */
export async function readServiceStatement(
  sql: Queries,
  communityId: number,
  memberId: number,
  { timeZone, from, until, limit }: { timeZone: string; from?: string; until?: string; limit: number },
): Promise<{ opening: number; rows: ServiceTransfer[] }> {
  const found = await sql<(ServiceTransfer & { opening: number; id: number | null })[]>`
    with wallet as materialized (
      select id from accounts where community_id = ${communityId} and member_id = ${memberId}
    ), moved as materialized (
      select t.id, t.kind, -t.amount as change, t.occurred_on, t.created_at, t.credit_account_id as other_account_id,
        t.listing_id, t.reverses_id
      from transfers t where t.community_id = ${communityId} and t.debit_account_id = (select id from wallet)
      union all
      select t.id, t.kind, t.amount, t.occurred_on, t.created_at, t.debit_account_id, t.listing_id, t.reverses_id
      from transfers t where t.community_id = ${communityId} and t.credit_account_id = (select id from wallet)
    ), before as (
      select coalesce(sum(change), 0)::int8 as opening from moved
      where ${from === undefined ? sql`false` : sql`occurred_on < ${from}::date`}
    ), lines as (
      select * from moved
      where ${from === undefined ? sql`true` : sql`occurred_on >= ${from}::date`}
        and ${until === undefined ? sql`true` : sql`occurred_on <= ${until}::date`}
      order by occurred_on, id limit ${limit}
    )
    select b.opening, s.id, s.kind, s.change,
      b.opening + (sum(s.change) over (order by s.occurred_on, s.id))::int8 as balance_after, s.occurred_on, s.created_at,
      (s.created_at at time zone ${timeZone}::text)::date as recorded_on, a.kind as other_kind,
      coalesce(m.id, p.id) as other_id, coalesce(m.name, p.name) as other_name, l.id as listing_id,
      l.title as listing_title, k.reference, n.note, s.reverses_id, r.id as reversed_by_id
    from before b
    left join lines s on true
    left join accounts a on a.community_id = ${communityId} and a.id = s.other_account_id
    left join members m on m.community_id = ${communityId} and m.id = a.member_id
    left join partners p on p.community_id = ${communityId} and p.id = a.partner_id
    left join listings l on l.community_id = ${communityId} and l.id = s.listing_id
    left join transfers r on r.community_id = ${communityId} and r.reverses_id = s.id
    left join credits k on k.community_id = ${communityId} and k.transfer_id = coalesce(s.reverses_id, s.id)
    left join transfer_notes n on n.community_id = ${communityId} and n.transfer_id = s.id
    order by s.occurred_on, s.id`
  return { opening: found[0]?.opening ?? 0, rows: found.filter((row) => row.id !== null) }
}
