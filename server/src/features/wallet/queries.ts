import { columnsAndValues, type Fragment, type Queries, type Transaction } from '../../postgres/connect.ts'
import { afterId, limitRows } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import type { CreditFields } from './insert-credits.ts'

export interface BalanceRow {
  member_id: number
  balance: number
  updated_at: string
}

/** Finds the balances of members that partners can see; with two statements for the reasons given at `findMembers`. */
export async function findBalances(sql: Queries, communityId: number, memberIds: number[]): Promise<BalanceRow[]> {
  if (memberIds.length === 1) {
    return sql<BalanceRow[]>`
      select member_id, balance, updated_at from accounts
      where community_id = ${communityId} and active and not hidden and member_id = ${memberIds[0]!}`
  }
  return sql<BalanceRow[]>`
    select a.* from unnest((select ${memberIds}::int8[])) as i(wanted_id), lateral (
      select member_id, balance, updated_at from accounts
      where community_id = ${communityId} and active and not hidden and member_id = i.wanted_id limit 1
    ) a`
}

export interface CreditFilters {
  reference?: string
  user_id?: number
  status?: 'completed' | 'reversed'
  created_since?: string
  created_until?: string
  settled_on?: string
}

/** Lists a partner's own credits, newest last. */
export async function listCredits(
  sql: Queries,
  communityId: number,
  partnerId: number,
  { limit, after }: ListRequest,
  filters: CreditFilters,
): Promise<CreditFields[]> {
  return describeCredits<CreditFields>(
    sql,
    communityId,
    sql`
      select * ${fromCredits(sql, communityId, partnerId, filters)} and ${afterId(sql, after)}
      order by id ${limitRows(sql, limit)}`,
  )
}

/** Selects all credits that match the filters, for a cursor. */
export function selectCredits(sql: Queries, communityId: number, partnerId: number, filters: CreditFilters) {
  return describeCredits<CreditFields>(
    sql,
    communityId,
    sql`select * ${fromCredits(sql, communityId, partnerId, filters)}`,
  )
}

/** Totals all credits that match the filters, for reconciliation. */
export async function sumCredits(
  sql: Queries,
  communityId: number,
  partnerId: number,
  filters: CreditFilters,
): Promise<{ count: number; centihours: number }> {
  const [row] = await sql<[{ count: number; centihours: number }]>`
    select count(*), coalesce(sum(amount), 0)::int8 as centihours ${fromCredits(sql, communityId, partnerId, filters)}`
  return row
}

export async function findCredit(
  sql: Queries,
  communityId: number,
  partnerId: number,
  reference: string,
): Promise<(CreditFields & { transfer_id: number }) | undefined> {
  const [row] = await describeCredits<CreditFields & { transfer_id: number }>(
    sql,
    communityId,
    sql`select * ${fromCredits(sql, communityId, partnerId, { reference })}`,
  )
  return row
}

/** Selects the page first, then looks up each row by index. With plain joins, PostgreSQL read all earlier transfers. */
function describeCredits<Row extends CreditFields>(sql: Queries, communityId: number, chosen: Fragment) {
  return sql<Row[]>`
    select c.id, c.member_id, c.amount, c.reference, n.note, c.settled_on, t.credit_balance_after as balance_after,
      c.created_at, r.created_at as reversed_at, c.transfer_id
    from (${chosen}) c
    cross join lateral (
      select credit_balance_after from transfers where community_id = ${communityId} and id = c.transfer_id limit 1) t
    left join lateral (
      select created_at from transfers where community_id = ${communityId} and reverses_id = c.transfer_id limit 1
    ) r on true
    left join lateral (
      select note from transfer_notes where community_id = ${communityId} and transfer_id = c.transfer_id limit 1
    ) n on true
    order by c.id`
}

function fromCredits(sql: Queries, communityId: number, partnerId: number, filters: CreditFilters) {
  const { reference, user_id, status, created_since, created_until, settled_on } = filters
  const isReversed = sql`
    exists (select 1 from transfers r where r.community_id = ${communityId} and r.reverses_id = c.transfer_id)`
  return sql`
    from credits c where community_id = ${communityId} and partner_id = ${partnerId}
      ${reference === undefined ? sql`` : sql`and reference = ${reference}`}
      ${user_id === undefined ? sql`` : sql`and member_id = ${user_id}`}
      ${status === undefined ? sql`` : sql`and ${isReversed} = ${status === 'reversed'}`}
      ${created_since === undefined ? sql`` : sql`and created_at >= ${created_since}::timestamptz`}
      ${created_until === undefined ? sql`` : sql`and created_at < ${created_until}::timestamptz`}
      ${settled_on === undefined ? sql`` : sql`and settled_on = ${settled_on}::date`}`
}

export interface ReversalRow {
  reversal_reference: string
  credit_id: number
  reason: string | null
  created_at: string
}

/** Finds this partner's reversals of the credit or with the reversal reference. */
export async function findReversals(
  sql: Queries,
  communityId: number,
  partnerId: number,
  filter: { creditId: number; reversalReference: string },
): Promise<ReversalRow[]> {
  return sql<ReversalRow[]>`
    select reversal_reference, credit_id, reason, created_at from credit_reversals
    where community_id = ${communityId} and partner_id = ${partnerId}
      and (credit_id = ${filter.creditId} or reversal_reference = ${filter.reversalReference})`
}

export async function insertReversal(
  sql: Queries,
  communityId: number,
  reversal: {
    partner_id: number
    reversal_reference: string
    credit_id: number
    transfer_id: number
    reason: string | null
  },
): Promise<ReversalRow> {
  const [row] = await sql<[ReversalRow]>`
    insert into credit_reversals ${columnsAndValues({ community_id: communityId, ...reversal })}
    returning reversal_reference, credit_id, reason, created_at`
  return row
}

interface ReversibleTransfer {
  kind: string
  debit_account_id: number
  credit_account_id: number
  amount: number
  occurred_on: string
  reversed: boolean
}

export async function findTransfer(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<ReversibleTransfer | undefined> {
  const [row] = await sql<ReversibleTransfer[]>`
    select t.kind, t.debit_account_id, t.credit_account_id, t.amount, t.occurred_on, exists (
      select 1 from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id) as reversed
    from transfers t where t.community_id = ${communityId} and t.id = ${id}`
  return row
}

/** Which of these members are erased. Call it with their wallets locked: erasing locks them too. */
export async function findErased(
  tx: Transaction,
  communityId: number,
  memberIds: number[],
): Promise<Set<number | null>> {
  if (memberIds.length === 0) return new Set()
  const rows = await tx<{ id: number }[]>`
    select id from members
    where community_id = ${communityId} and id = any (${memberIds}::int8[]) and erased_at is not null`
  return new Set(rows.map(({ id }) => id))
}

/**
 * The day of a member's latest exchange, or null, for rows `m` of members and `a` of accounts. The wallet has it if it is
 * after the day of joining, with a day between them because that may have been another in an earlier time zone of the
 * community; otherwise it is read from the transfers.
 */
export function lastExchangeOn(sql: Queries, communityId: number): Fragment {
  return sql`
    case when a.last_active_on > (
      m.joined_at at time zone (select time_zone from communities where id = ${communityId}))::date + 1
    then a.last_active_on else ${latestExchange(sql, communityId, sql`a.id`)} end`
}

/**
 * The day of a wallet's latest exchange that is not reversed, or null. `offset 0` keeps the condition on the kind outside,
 * because with it the planner read all exchanges of the community instead of those of the wallet (migration 0010).
 */
function latestExchange(sql: Queries, communityId: number, accountId: Fragment): Fragment {
  return sql`(
    select max(t.occurred_on) from (
      select id, kind, occurred_on from transfers where community_id = ${communityId} and debit_account_id = ${accountId}
      union all
      select id, kind, occurred_on from transfers where community_id = ${communityId} and credit_account_id = ${accountId}
      offset 0
    ) t
    where t.kind = 'exchange' and (
      select true from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id) is null)`
}

/**
 * Recomputes the last active day of these locked wallets: the day of the latest exchange, or of joining if that is later,
 * as in migration 0041.
 */
export async function recomputeLastActive(
  tx: Transaction,
  communityId: number,
  wallets: { ids: number[]; lastActiveOn: string } | { memberIds: number[] },
): Promise<void> {
  const condition =
    'ids' in wallets
      ? tx`a.id = any (${wallets.ids}::int8[]) and a.last_active_on = ${wallets.lastActiveOn}::date`
      : tx`a.member_id = any (${wallets.memberIds}::int8[])`
  await tx`
    update accounts a set last_active_on = greatest((
        select (m.joined_at at time zone c.time_zone)::date from members m, communities c
        where m.community_id = ${communityId} and m.id = a.member_id and c.id = ${communityId}
      ), ${latestExchange(tx, communityId, tx`a.id`)})
    where a.community_id = ${communityId} and ${condition}`
}
