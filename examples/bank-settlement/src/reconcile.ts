import type { Credit, Hourbank } from '@hourbank/client'
import { fromHours } from './amounts.ts'
import type { Claim, Unmatched } from './match-members.ts'
import type { Transfer } from './read-statement.ts'

export interface Tally {
  count: number
  centihours: bigint
}

export interface Reconciliation {
  matched: Tally
  /** The part of `matched` that was reversed. */
  reversed: Tally
  /** The bank has it, and Hourbank does not or has something different. */
  missing: Tally
  missingReferences: string[]
  /** Hourbank has it, and the statements of that day do not. */
  extra: Tally
  extraReferences: string[]
  /** Excludes those that were credited while their member could still be found. */
  unmatched: Unmatched[]
}

/**
 * Compares the transfers with the credits that Hourbank has for the same accounts and days. A report during the day is
 * not complete, so credits that it lacks are not counted as extra.
 */
export async function reconcile(
  hourbank: Hourbank,
  transfers: readonly Transfer[],
  claims: readonly Claim[],
  unmatched: readonly Unmatched[],
): Promise<Reconciliation> {
  const stored = await readCredits(hourbank, transfers)
  const wholeDays = new Set(transfers.filter(({ isFinal }) => isFinal).map(dayOf))
  const counted: Tally[] = [tally([]), tally([]), tally([]), tally([])]
  const [matched, reversed, missing, extra] = counted as [Tally, Tally, Tally, Tally]
  const missingReferences: string[] = []

  function match(credit: Credit): void {
    stored.delete(credit.reference)
    add(matched, fromHours(credit.hours))
    if (credit.status === 'reversed') add(reversed, fromHours(credit.hours))
  }

  for (const { transfer, member, centihours } of claims) {
    const credit = stored.get(transfer.identity)
    if (credit?.user_id === member.id && fromHours(credit.hours) === centihours) match(credit)
    else {
      stored.delete(transfer.identity)
      add(missing, centihours)
      missingReferences.push(transfer.identity)
    }
  }
  const stillUnmatched = unmatched.filter(({ transfer, centihours }) => {
    const credit = stored.get(transfer.identity)
    if (!credit || fromHours(credit.hours) !== centihours) return true
    match(credit)
    return false
  })
  const extras = [...stored.values()].filter(({ reference, settled_on }) =>
    wholeDays.has(`${accountOf(reference)} ${settled_on}`),
  )
  for (const { hours } of extras) add(extra, fromHours(hours))
  const extraReferences = extras.map(({ reference }) => reference)
  return { matched, reversed, missing, missingReferences, extra, extraReferences, unmatched: stillUnmatched }
}

/** Restricts credits to these accounts and days, because the partner may make others elsewhere. */
async function readCredits(hourbank: Hourbank, transfers: readonly Transfer[]): Promise<Map<string, Credit>> {
  const credits = new Map<string, Credit>()
  const accounts = new Set(transfers.map(({ account }) => account))
  const days = new Set(transfers.map(({ bookedOn }) => bookedOn).filter(Boolean))
  for (const settled_on of days) {
    for await (const credit of hourbank.wallet.iterateCredits({ settled_on })) {
      if (accounts.has(accountOf(credit.reference))) credits.set(credit.reference, credit)
    }
  }
  return credits
}

function dayOf({ account, bookedOn }: Transfer): string {
  return `${account} ${bookedOn}`
}

function accountOf(reference: string): string {
  return reference.split('/', 1)[0]!
}

export function tally(centihours: readonly bigint[]): Tally {
  return { count: centihours.length, centihours: centihours.reduce((sum, one) => sum + one, 0n) }
}

function add(sum: Tally, centihours: bigint): void {
  sum.count += 1
  sum.centihours += centihours
}
