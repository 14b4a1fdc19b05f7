import { ApiError, type Credit, type Hourbank } from '@hourbank/client'
import { formatHours, fromHours } from './amounts.ts'
import { noteOf } from './credit-transfers.ts'
import { hoursOf, type Claim, type FindMember, type Unmatched } from './match-members.ts'
import type { Transfer } from './read-statement.ts'

/** The number of a member's credits that are searched for the one that was returned. */
const CREDITS_PER_MEMBER_MAX = 10_000

export interface ReturnOutcomes {
  reversed: Reversed[]
  before: Reversed[]
  /** Returns of transfers that were never credited: there is nothing to do. */
  idle: { transfer: Transfer; reason: string }[]
  /** To be reviewed by a person. */
  unsettled: { transfer: Transfer; reason: string }[]
}

export interface Reversed {
  transfer: Transfer
  reference: string
  centihours: bigint
}

export interface KnownTransfers {
  claims: readonly Claim[]
  unmatched: readonly Unmatched[]
}

/** What to do with a return. */
type Verdict = { candidates: Credit[] } | { idle: string } | { unsettled: string }

/** Reverses the credits whose transfers were returned, each in full and once per return. */
export async function reverseReturns(
  hourbank: Hourbank,
  returns: readonly Transfer[],
  known: KnownTransfers,
  findMember: FindMember,
  rate: bigint,
): Promise<ReturnOutcomes> {
  const outcomes: ReturnOutcomes = { reversed: [], before: [], idle: [], unsettled: [] }
  for (const transfer of returns) {
    const verdict = await judge(hourbank, transfer, known, findMember, rate)
    if ('idle' in verdict) outcomes.idle.push({ transfer, reason: verdict.idle })
    else if ('unsettled' in verdict) outcomes.unsettled.push({ transfer, reason: verdict.unsettled })
    else await reverseOne(hourbank, transfer, verdict.candidates, outcomes)
  }
  return outcomes
}

async function judge(
  hourbank: Hourbank,
  transfer: Transfer,
  known: KnownTransfers,
  findMember: FindMember,
  rate: bigint,
): Promise<Verdict> {
  const centihours = hoursOf(transfer, rate)
  // An amount that is not a valid number of hours was not credited either, unless the statement itself is wrong.
  if (typeof centihours === 'string') return transfer.defect ? { unsettled: centihours } : { idle: centihours }
  const original = await findByIds(hourbank, transfer, known)
  if (original) return weigh([original], centihours, true)
  const memberId = await findMemberOf(transfer, known, findMember)
  if (memberId === undefined) {
    const isUnmatched = known.unmatched.some((one) => one.transfer.endToEndId === transfer.endToEndId)
    return { idle: isUnmatched && transfer.endToEndId ? 'of a transfer that was not credited' : 'of no known credit' }
  }
  const credits = await creditsBefore(hourbank, memberId, transfer)
  const named = transfer.endToEndId ? credits.filter(({ note }) => note === noteOf(transfer.endToEndId)) : []
  return weigh(named.length > 0 ? named : credits, centihours, named.length > 0)
}

/** Finds the credit by ids of a single payment: those of the banks, or the entry's own, which some banks keep. */
async function findByIds(hourbank: Hourbank, transfer: Transfer, { claims }: KnownTransfers) {
  const original = claims.find((claim) =>
    claim.transfer.transactionIds.some((id) => transfer.transactionIds.includes(id)),
  )
  const reference = original?.transfer.identity ?? transfer.identity
  const [credit] = (await hourbank.wallet.credits({ reference })).data
  // Other banks number debits and credits separately; then the payer's id shows that the two are unrelated.
  const isOther = !original && transfer.endToEndId && credit?.note !== noteOf(transfer.endToEndId)
  return isOther ? undefined : credit
}

async function findMemberOf(transfer: Transfer, { claims }: KnownTransfers, findMember: FindMember) {
  const member = await findMember(transfer)
  if (typeof member === 'object') return member.id
  const original = claims.find(({ transfer: { endToEndId } }) => endToEndId && endToEndId === transfer.endToEndId)
  return original?.member.id
}

/** Restricts to the same account, settled no later than the return. */
async function creditsBefore(hourbank: Hourbank, memberId: number, transfer: Transfer): Promise<Credit[]> {
  const credits: Credit[] = []
  let read = 0
  for await (const credit of hourbank.wallet.iterateCredits({ user_id: memberId })) {
    read += 1
    if (read > CREDITS_PER_MEMBER_MAX) break
    const isBefore = credit.settled_on !== null && credit.settled_on <= transfer.bookedOn
    if (isBefore && credit.reference.startsWith(`${transfer.account}/`)) credits.push(credit)
  }
  return credits
}

function weigh(credits: Credit[], centihours: bigint, isNamed: boolean): Verdict {
  const candidates = credits.filter((credit) => fromHours(credit.hours) === centihours)
  if (candidates.length > 0) return { candidates }
  const [first] = credits
  if (!first) return { idle: 'of no known credit' }
  if (!isNamed) return { unsettled: `no credit of ${formatHours(centihours)} h to this member: to be settled by hand` }
  const both = `${formatHours(centihours)} h of ${first.hours.toFixed(2)} h`
  return { unsettled: `returned in part (${both}) of ${first.reference}: to be settled by hand` }
}

/**
 * A reversal reference belongs permanently to one credit. So credits that are already reversed are checked first: was
 * it by this return? Otherwise the return can only mean one of the others, and only if there is exactly one.
 */
async function reverseOne(hourbank: Hourbank, transfer: Transfer, candidates: Credit[], outcomes: ReturnOutcomes) {
  for (const credit of candidates.filter(({ status }) => status === 'reversed')) {
    if (await tryReversal(hourbank, transfer, credit, outcomes)) return
  }
  const standing = candidates.filter(({ status }) => status === 'completed')
  const [credit, ...others] = standing
  if (!credit) {
    outcomes.unsettled.push({ transfer, reason: `${candidates[0]!.reference} is reversed already, by something else` })
  } else if (others.length > 0) {
    const references = standing.map(({ reference }) => reference).join(', ')
    outcomes.unsettled.push({ transfer, reason: `it may be about any of ${references}` })
  } else if (!(await tryReversal(hourbank, transfer, credit, outcomes))) {
    outcomes.unsettled.push({ transfer, reason: `${credit.reference} could not be reversed: reference_conflict` })
  }
}

/** Returns false if something else reversed this credit, or if this return reversed something else. */
async function tryReversal(hourbank: Hourbank, transfer: Transfer, { reference }: Credit, outcomes: ReturnOutcomes) {
  try {
    const { replayed, credit } = await hourbank.wallet.reverse({
      reference,
      reversal_reference: `${transfer.identity}/return`,
      reason: 'The bank transfer was returned',
    })
    outcomes[replayed ? 'before' : 'reversed'].push({ transfer, reference, centihours: fromHours(credit.hours) })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'reference_conflict') return false
    throw error
  }
}
