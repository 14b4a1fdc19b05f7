import type { Progress } from '../../core/progress.ts'
import type { Sql, Transaction } from '../../postgres/connect.ts'
import { toHours } from '../../core/hours.ts'
import type { KnownSeal } from '../ledger/seal.ts'
import { verifyChain } from '../ledger/verify-chain.ts'
import { allowNestedLoops } from '../../postgres/transaction-settings.ts'

/** Limit per check; further differences are only counted. Nobody repairs a thousand by hand. */
const LISTED_MAX = 1_000
/** With the default of 4 MB, sorting millions of rows makes many passes over the disk. */
const WORK_MEM = '64MB'
/** Between the clocks of a coordinator of Citus and its workers. Credits had the time of a worker before migration 0053. */
const WORKER_TIME_TOLERANCE = '1 minute'

export interface Difference {
  /** The check that found it. */
  check: Check | 'hashes'
  message: string
  transfer_id?: number
  /** In the hash chain of the community. */
  position?: number
  member_id?: number
  partner_id?: number
}

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

type Check =
  | 'accounts'
  | 'kinds'
  | 'balances'
  | 'chain'
  | 'books'
  | 'credits'
  | 'reversals'
  | 'credit_reversals'
  | 'opening_balances'
  | 'days'

/** `more` counts the differences beyond the listed ones. */
interface Found {
  found: Omit<Difference, 'check'>[]
  more: number
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

/** Every row carries the total number of rows found in `found`. */
function listDifferences<Row extends { found: number }>(
  rows: Row[],
  describe: (row: Row) => Omit<Difference, 'check'>,
) {
  return { found: rows.map(describe), more: Math.max(0, (rows[0]?.found ?? 0) - rows.length) }
}

const hours = (centihours: number | null) => (centihours === null ? 'no balance' : `${toHours(centihours)} h`)

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

interface CreditMatch {
  reference: string | null
  partner_id: number | null
  transfer_id: number
  problem: 'no_credit' | 'no_transfer' | 'member' | 'partner' | 'amount' | 'twice' | 'client' | 'time' | 'day'
  found: number
}

/**
 * Credits and transfers of kind credit must match one to one, in all that both have. The transfer has the day of
 * settlement, or that of the credit if there is none or if the bank settles tomorrow (migration 0054). The community's
 * time zone may have been another, so a day of the credit is one that it was somewhere.
 */
async function findWrongCredits(tx: Transaction, communityId: number) {
  const rows = await tx<CreditMatch[]>`
    select *, count(*) over () as found from (
      select c.reference, c.partner_id, coalesce(c.transfer_id, t.id) as transfer_id, case
          when c.transfer_id is null then 'no_credit'
          when t.id is null then 'no_transfer'
          when a.member_id is distinct from c.member_id then 'member'
          when p.partner_id is distinct from c.partner_id then 'partner'
          when t.amount <> c.amount then 'amount'
          when c.credits > 1 then 'twice'
          when t.made_by_kind <> 'client' or t.made_by_id is distinct from c.client_id then 'client'
          when t.created_at not between c.created_at - ${WORKER_TIME_TOLERANCE}::interval
            and c.created_at + ${WORKER_TIME_TOLERANCE}::interval then 'time'
          when t.occurred_on is distinct from c.settled_on and not (
            coalesce(c.settled_on = t.occurred_on + 1, true)
            and t.occurred_on between t.created_day - 1 and t.created_day + 1) then 'day'
        end as problem
      from (
        select reference, partner_id, client_id, transfer_id, member_id, amount, settled_on, created_at,
          count(*) over (partition by transfer_id) as credits
        from credits where community_id = ${communityId}
      ) c
      full join (
        select id, amount, debit_account_id, credit_account_id, made_by_kind, made_by_id, occurred_on, created_at,
          (created_at at time zone 'UTC')::date as created_day
        from transfers where community_id = ${communityId} and kind = 'credit'
      ) t on t.id = c.transfer_id
      left join accounts a on a.community_id = ${communityId} and a.id = t.credit_account_id
      left join accounts p on p.community_id = ${communityId} and p.id = t.debit_account_id
    ) matched
    where problem is not null
    order by transfer_id, reference limit ${LISTED_MAX}`
  const problems: Record<CreditMatch['problem'], (id: number) => string> = {
    no_credit: (id) => `Transfer ${id} is a credit, but no partner's credit belongs to it.`,
    no_transfer: (id) => `has no transfer: ${id} is not there, or is not a credit.`,
    member: (id) => `is for another member than its transfer ${id}.`,
    partner: (id) => `is of another partner than its transfer ${id}.`,
    amount: (id) => `is of another amount than its transfer ${id}.`,
    twice: (id) => `shares its transfer ${id} with another credit.`,
    client: (id) => `was made by another client than its transfer ${id}.`,
    time: (id) => `is of another time than its transfer ${id}.`,
    day: (id) => `was settled on another day than its transfer ${id} says.`,
  }
  return listDifferences(rows, ({ reference, partner_id, transfer_id, problem }) => {
    const text = problems[problem](transfer_id)
    if (partner_id === null) return { message: text, transfer_id }
    return { message: `The credit ${reference} of partner ${partner_id} ${text}`, transfer_id, partner_id }
  })
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

interface CreditReversalMatch {
  partner_id: number | null
  reversal_reference: string | null
  transfer_id: number
  problem: 'no_reversal' | 'credit' | 'author' | 'time'
  found: number
}

/** Partners' reversals and the transfers that partners reversed must match one to one. */
async function findWrongCreditReversals(tx: Transaction, communityId: number) {
  const rows = await tx<CreditReversalMatch[]>`
    select *, count(*) over () as found from (
      select r.partner_id, r.reversal_reference, coalesce(r.transfer_id, t.id) as transfer_id, case
          when r.transfer_id is null then case when t.made_by_kind = 'client' then 'no_reversal' end
          when c.id is null or t.reverses_id is distinct from c.transfer_id then 'credit'
          when t.made_by_kind <> 'client' then 'author'
          -- On Citus, the time of the row comes from the worker.
          when t.created_at not between r.created_at - ${WORKER_TIME_TOLERANCE}::interval
            and r.created_at + ${WORKER_TIME_TOLERANCE}::interval then 'time'
        end as problem
      from (
        select partner_id, reversal_reference, credit_id, transfer_id, created_at from credit_reversals
        where community_id = ${communityId}
      ) r
      full join (
        select id, reverses_id, made_by_kind, created_at from transfers
        where community_id = ${communityId} and kind = 'reversal'
      ) t on t.id = r.transfer_id
      left join credits c on c.community_id = ${communityId} and c.id = r.credit_id and c.partner_id = r.partner_id
    ) matched
    where problem is not null
    order by transfer_id, reversal_reference limit ${LISTED_MAX}`
  const problems: Record<CreditReversalMatch['problem'], (id: number) => string> = {
    no_reversal: (id) => `Transfer ${id} reverses a credit for a partner, but no partner's reversal belongs to it.`,
    credit: (id) => `names transfer ${id}, which does not reverse its credit.`,
    author: (id) => `names transfer ${id}, which no partner made.`,
    time: (id) => `is of another time than its transfer ${id}.`,
  }
  return listDifferences(rows, ({ partner_id, reversal_reference, transfer_id, problem }) => {
    const text = problems[problem](transfer_id)
    if (partner_id === null) return { message: text, transfer_id }
    return { message: `The reversal ${reversal_reference} of partner ${partner_id} ${text}`, transfer_id, partner_id }
  })
}

/**
 * An opening balance must be an adjustment of its member's wallet. Nothing tells such an adjustment from others if its row
 * is gone.
 */
async function findWrongOpeningBalances(tx: Transaction, communityId: number) {
  const rows = await tx<{ member_id: number; transfer_id: number; found: number }[]>`
    select o.member_id, o.transfer_id, count(*) over () as found
    from opening_balances o
    left join transfers t on t.community_id = ${communityId} and t.id = o.transfer_id and t.kind = 'adjustment'
    left join accounts a on a.community_id = ${communityId} and a.member_id = o.member_id
    where o.community_id = ${communityId} and coalesce(a.id not in (t.debit_account_id, t.credit_account_id), true)
    order by o.member_id limit ${LISTED_MAX}`
  return listDifferences(rows, ({ member_id, transfer_id }) => ({
    message:
      `The opening balance of member ${member_id} is transfer ${transfer_id}, ` +
      'which is not an adjustment of their wallet.',
    transfer_id,
    member_id,
  }))
}

/** The hours counted against a partner's daily limit, by day in the community's current time zone. */
async function findWrongDays(tx: Transaction, communityId: number) {
  const rows = await tx<{ partner_id: number; day: string; counted: number; credited: number; found: number }[]>`
    select partner_id, day, coalesce(d.centihours, 0) as counted, coalesce(c.total, 0)::int8 as credited,
      count(*) over () as found
    from (select partner_id, day, centihours from partner_days where community_id = ${communityId}) d
    full join (
      select k.partner_id, (k.created_at at time zone m.time_zone)::date as day, sum(k.amount) as total
      from credits k join communities m on m.id = ${communityId}
      where k.community_id = ${communityId}
      group by 1, 2
    ) c using (partner_id, day)
    where coalesce(d.centihours, 0) <> coalesce(c.total, 0)
    order by partner_id, day limit ${LISTED_MAX}`
  return listDifferences(rows, ({ partner_id, day, counted, credited }) => ({
    message: `Partner ${partner_id} credited ${hours(credited)} on ${day}, but ${hours(counted)} are counted for that day.`,
    partner_id,
  }))
}
