import type { Queries } from '../../postgres/connect.ts'

/** One requested credit. */
export interface CreditItem {
  partnerId: number
  clientId: number
  memberId: number
  amount: number
  reference: string
  note: string | null
  settledOn: string | null
}

export type CreditOutcome =
  | 'created'
  | 'replayed'
  | 'conflict'
  | 'no_such_member'
  | 'over_limit'
  /** The day of settlement is yet to come. */
  | 'not_settled'
  | 'daily_limit'
  /** The partner has no row for today yet: insert it and retry. */
  | 'no_day'
  /** Lost a race against another batch, or does not fit into today's limit after earlier items of this batch: retry. */
  | 'again'

/** A stored credit. */
export interface CreditFields {
  id: number
  member_id: number
  amount: number
  reference: string
  note: string | null
  settled_on: string | null
  balance_after: number
  created_at: string
  reversed_at: string | null
}

export interface CreditRow extends CreditFields {
  n: number
  outcome: CreditOutcome
  limit_centihours: number
}

/**
 * Inserts a batch of credits of one community. Each credit gets its transfer, balance update and event, or none of them.
 * A known reference is resolved before any other check. The function is in migration 0054, with a line from 0057.
 */
export async function insertCredits(sql: Queries, communityId: number, items: CreditItem[]): Promise<CreditRow[]> {
  return sql<CreditRow[]>`
    select * from insert_credits(${communityId}, ${items.map((item) => item.partnerId)},
      ${items.map((item) => item.clientId)}, ${items.map((item) => item.memberId)}, ${items.map((item) => item.amount)},
      ${items.map((item) => item.reference)}, ${items.map((item) => item.note)}, ${items.map((item) => item.settledOn)})`
}

/** Inserts the partners' rows for today. The fixed order prevents deadlocks between concurrent inserts. */
export async function startPartnerDays(sql: Queries, communityId: number, partnerIds: number[]): Promise<void> {
  await sql`
    insert into partner_days (community_id, partner_id, day)
    select distinct ${communityId}::int8, i.partner_id, (now() at time zone m.time_zone)::date
    from unnest(${partnerIds}::int8[]) as i(partner_id) join communities m on m.id = ${communityId}
    order by i.partner_id
    on conflict (community_id, partner_id, day) do nothing`
}
