import type { Transaction } from '../../postgres/connect.ts'
import { hours, listDifferences, LISTED_MAX } from './differences.ts'

/**
 * Between the clocks of a coordinator of Citus and its workers. A reversal's record has the time of a worker, as credits had
 * before migration 0053.
 */
const WORKER_TIME_TOLERANCE = '1 minute'

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
export async function findWrongCredits(tx: Transaction, communityId: number) {
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

interface CreditReversalMatch {
  partner_id: number | null
  reversal_reference: string | null
  transfer_id: number
  problem: 'no_reversal' | 'credit' | 'author' | 'time'
  found: number
}

/** Partners' reversals and the transfers that partners reversed must match one to one. */
export async function findWrongCreditReversals(tx: Transaction, communityId: number) {
  const rows = await tx<CreditReversalMatch[]>`
    select *, count(*) over () as found from (
      select r.partner_id, r.reversal_reference, coalesce(r.transfer_id, t.id) as transfer_id, case
          when r.transfer_id is null then case when t.made_by_kind = 'client' then 'no_reversal' end
          when c.id is null or t.reverses_id is distinct from c.transfer_id then 'credit'
          when t.made_by_kind <> 'client' then 'author'
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
export async function findWrongOpeningBalances(tx: Transaction, communityId: number) {
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
export async function findWrongDays(tx: Transaction, communityId: number) {
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
