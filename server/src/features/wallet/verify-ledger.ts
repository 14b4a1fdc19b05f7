import type { Progress } from '../../core/progress.ts'
import type { Sql, Transaction } from '../../postgres/connect.ts'
import type { KnownSeal } from '../ledger/seal.ts'
import { verifyChain } from '../ledger/verify-chain.ts'
import { allowNestedLoops } from '../../postgres/transaction-settings.ts'
import { hours, listDifferences, LISTED_MAX, type Check, type Difference, type Found } from './differences.ts'
import {
  findWrongCreditReversals,
  findWrongCredits,
  findWrongDays,
  findWrongOpeningBalances,
} from './verify-records-queries.ts'

/** With the default of 4 MB, sorting millions of rows makes many passes over the disk. */
const WORK_MEM = '64MB'

export interface LedgerReport {
  accounts: number
  transfers: number
  /** How many of the transfers are in the hash chain. */
  chained: number
  /** How many will be: those after its end. */
  waiting: number
  /** Whether they wait although nothing was chained for an hour. */
  late: boolean
  differences: Difference[]
}

type Find = (tx: Transaction, communityId: number) => Promise<Found>

const CHECKS: Record<Check, Find> = {
  accounts: findMissingAccounts,
  kinds: findWrongKinds,
  balances: findWrongBalances,
  chain: findBrokenChains,
  books: findUnevenBooks,
  credits: findWrongCredits,
  reversals: findWrongReversals,
  credit_reversals: findWrongCreditReversals,
  opening_balances: findWrongOpeningBalances,
  days: findWrongDays,
}

/**
 * Recomputes all derived data from the transfers, in one snapshot and while the service runs. PostgreSQL does the
 * computation and returns only differences, so memory use stays constant. The hash chain is computed again here, row by
 * row, and compared with the seals.
 */
export async function verifyLedger(
  sql: Sql,
  communityId: number,
  onProgress: (progress: Progress) => void = () => {},
  seals: KnownSeal[] = [],
): Promise<LedgerReport> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx`set local statement_timeout = 0`
    // The planner assumes that every community is small (migration 0010); with 10,000 transfers, loops took 11 seconds.
    await allowNestedLoops(tx, false)
    await tx`select set_config('work_mem', ${WORK_MEM}, true)`
    const [counts] = await tx<[{ accounts: number; transfers: number }]>`
      select (select count(*) from accounts where community_id = ${communityId}) as accounts,
        (select count(*) from transfers where community_id = ${communityId}) as transfers`
    const differences: Difference[] = []
    const note = (check: Difference['check'], { found, more }: Found) => {
      differences.push(...found.map((difference) => ({ check, ...difference })))
      if (more > 0) differences.push({ check, message: `There are ${more} more differences of this kind.` })
    }
    const checks = Object.entries(CHECKS) as [Check, Find][]
    // The chain is the last check.
    const total = (checks.length + 1) * counts.transfers
    for (const [n, [check, find]] of checks.entries()) {
      onProgress({ done: n * counts.transfers, total, label: check })
      note(check, await find(tx, communityId))
    }
    const { chained, waiting, late, ...chain } = await verifyChain(tx, communityId, {
      seals,
      listedMax: LISTED_MAX,
      onProgress: ({ done, label }) => onProgress({ done: checks.length * counts.transfers + done, total, label }),
    })
    note('hashes', chain)
    onProgress({ done: total, total, label: '' })
    return { ...counts, chained, waiting, late, differences }
  })
}

/** One row per transfer and account. */
const sides = (tx: Transaction, communityId: number) => tx`
  select debit_account_id as account_id, id, kind, created_at, -amount as moved, debit_balance_after as after
  from transfers where community_id = ${communityId}
  union all
  select credit_account_id, id, kind, created_at, amount, credit_balance_after
  from transfers where community_id = ${communityId}`

async function findMissingAccounts(tx: Transaction, communityId: number) {
  const rows = await tx<{ member_id: number | null; partner_id: number | null; found: number }[]>`
    select *, count(*) over () as found from (
      select m.id as member_id, null::int8 as partner_id from members m
      where m.community_id = ${communityId}
        and not exists (select 1 from accounts a where a.community_id = ${communityId} and a.member_id = m.id)
      union all
      select null, p.id from partners p
      where p.community_id = ${communityId}
        and not exists (select 1 from accounts a where a.community_id = ${communityId} and a.partner_id = p.id)
    ) missing
    order by member_id, partner_id limit ${LISTED_MAX}`
  return listDifferences(rows, ({ member_id, partner_id }) =>
    member_id === null
      ? { message: `Partner ${partner_id} has no account.`, partner_id: partner_id! }
      : { message: `Member ${member_id} has no account.`, member_id },
  )
}

/** Credits go from partner to member, exchanges between members, adjustments between community and member. */
async function findWrongKinds(tx: Transaction, communityId: number) {
  const rows = await tx<{ id: number; kind: string; debit_kind: string; credit_kind: string; found: number }[]>`
    select t.id, t.kind, d.kind as debit_kind, c.kind as credit_kind, count(*) over () as found
    from transfers t
    join accounts d on d.community_id = ${communityId} and d.id = t.debit_account_id
    join accounts c on c.community_id = ${communityId} and c.id = t.credit_account_id
    where t.community_id = ${communityId} and not case t.kind
      when 'credit' then d.kind = 'partner' and c.kind = 'member'
      when 'exchange' then d.kind = 'member' and c.kind = 'member'
      when 'adjustment' then (d.kind = 'community' and c.kind = 'member') or (d.kind = 'member' and c.kind = 'community')
      else true end
    order by t.id limit ${LISTED_MAX}`
  return listDifferences(rows, ({ id, kind, debit_kind, credit_kind }) => ({
    message: `Transfer ${id} is called ${kind}, but goes from a ${debit_kind} account to a ${credit_kind} account.`,
    transfer_id: id,
  }))
}

async function findWrongBalances(tx: Transaction, communityId: number) {
  const rows = await tx<{ member_id: number; balance: number; total: number; found: number }[]>`
    select a.member_id, a.balance, coalesce(s.total, 0)::int8 as total, count(*) over () as found
    from accounts a
    left join (select account_id, sum(moved) as total from (${sides(tx, communityId)}) m group by account_id) s
      on s.account_id = a.id
    where a.community_id = ${communityId} and a.kind = 'member' and a.balance <> coalesce(s.total, 0)
    order by a.member_id limit ${LISTED_MAX}`
  return listDifferences(rows, ({ member_id, balance, total }) => ({
    message: `Member ${member_id} has a balance of ${hours(balance)}, but their transfers add up to ${hours(total)}.`,
    member_id,
  }))
}

/**
 * Recomputes the balance after each transfer in the order in which the transfers took effect. That is the order of ids,
 * because ids are assigned under the wallet's lock, with one exception: the credits of one batch (one statement, so one
 * created_at) are posted in order of arrival and were numbered in order of reference until migration 0054. A batch only
 * adds hours, so its order is that of the resulting balances.
 *
 * An error shifts all later balances, so a difference is reported only where the shift changes.
 */
async function findBrokenChains(tx: Transaction, communityId: number) {
  const rows = await tx<{ id: number; member_id: number; after: number | null; expected: number; found: number }[]>`
    with steps as (
      select s.*, a.member_id, case s.kind
        when 'credit' then min(s.id) over (partition by s.account_id, s.created_at, s.kind) else s.id end as step
      from (${sides(tx, communityId)}) s
      join accounts a on a.community_id = ${communityId} and a.id = s.account_id and a.kind = 'member'
    ), walked as (
      select *, sum(moved) over (partition by account_id order by step, after, id rows unbounded preceding) as expected
      from steps
    ), shifted as (
      select *, lag(after - expected, 1, 0) over (partition by account_id order by step, after, id) as shift_before
      from walked
    )
    select id, member_id, after, expected::int8 as expected, count(*) over () as found
    from shifted
    where after is null or (after <> expected and after - expected is distinct from shift_before)
    order by id limit ${LISTED_MAX}`
  return listDifferences(rows, ({ id, member_id, after, expected }) => ({
    message:
      `Transfer ${id} says that it left member ${member_id} with ${hours(after)}, ` +
      `but the transfers up to it add up to ${hours(expected)}.`,
    transfer_id: id,
    member_id,
  }))
}

/** The balances of all accounts must add up to 0. */
async function findUnevenBooks(tx: Transaction, communityId: number) {
  const [sums] = await tx<[{ members: number; others: number }]>`
    select (
        select coalesce(sum(balance), 0)::int8 from accounts where community_id = ${communityId} and kind = 'member'
      ) as members, (
        select coalesce(sum(m.moved), 0)::int8 from (${sides(tx, communityId)}) m
        join accounts a on a.community_id = ${communityId} and a.id = m.account_id and a.kind <> 'member'
      ) as others`
  const message =
    `The accounts add up to ${hours(sums.members + sums.others)} instead of 0: members hold ${hours(sums.members)}, ` +
    `partners and the community ${hours(sums.others)}.`
  return { found: sums.members + sums.others === 0 ? [] : [{ message }], more: 0 }
}

interface ReversalMatch {
  id: number
  reverses_id: number
  problem: 'missing' | 'reversal' | 'amount' | 'accounts' | 'twice'
  found: number
}

/** A transfer is reversed in full, between the same accounts, at most once. A reversal is never reversed. */
async function findWrongReversals(tx: Transaction, communityId: number) {
  const rows = await tx<ReversalMatch[]>`
    select *, count(*) over () as found from (
      select r.id, r.reverses_id, case
          when t.id is null then 'missing'
          when t.kind = 'reversal' then 'reversal'
          when r.amount <> t.amount then 'amount'
          when (r.debit_account_id, r.credit_account_id) <> (t.credit_account_id, t.debit_account_id) then 'accounts'
          when r.reversals > 1 then 'twice'
        end as problem
      from (
        select *, count(*) over (partition by reverses_id) as reversals from transfers
        where community_id = ${communityId} and (kind = 'reversal' or reverses_id is not null)
      ) r
      left join transfers t on t.community_id = ${communityId} and t.id = r.reverses_id
    ) matched
    where problem is not null
    order by id limit ${LISTED_MAX}`
  const problems: Record<ReversalMatch['problem'], string> = {
    missing: 'which is not there',
    reversal: 'which is a reversal itself',
    amount: 'but not in its amount',
    accounts: 'but not between its accounts',
    twice: 'which is reversed more than once',
  }
  return listDifferences(rows, ({ id, reverses_id, problem }) => ({
    message: `Transfer ${id} reverses transfer ${reverses_id}, ${problems[problem]}.`,
    transfer_id: id,
  }))
}
