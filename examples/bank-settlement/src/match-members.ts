import type { Hourbank, Member } from '@hourbank/client'
import { formatAmount, toCentihours } from './amounts.ts'
import { findPaymentReferences } from './payment-reference.ts'
import type { Transfer } from './read-statement.ts'

const CURRENCY = 'EUR'
/** A remittance text with more valid references than this does not identify a member. */
const LOOKUPS_PER_TRANSFER_MAX = 5

/** What to do with one transfer. */
export interface Claim {
  transfer: Transfer
  member: Member
  centihours: bigint
}

export interface Unmatched {
  transfer: Transfer
  /** Undefined if the amount cannot be expressed in hours. */
  centihours: bigint | undefined
  reason: string
}

export type FindMember = (transfer: Transfer) => Promise<Member | string>

/** Finds members by the payment reference of a transfer; returns the reason if there is not exactly one. */
export function memberFinder(hourbank: Hourbank): FindMember {
  const known = new Map<string, Member | undefined>()

  async function lookUp(reference: string): Promise<Member | undefined> {
    if (!known.has(reference)) {
      const { data } = await hourbank.users.list({ payment_reference: reference, limit: 1 })
      known.set(reference, data[0])
    }
    return known.get(reference)
  }

  return async ({ structuredReferences, remittance }) => {
    const { valid, invalid } = findPaymentReferences(structuredReferences, remittance)
    if (valid.length === 0) {
      return invalid.length > 0 ? `mistyped reference ${invalid.join(', ')}` : 'no payment reference'
    }
    const members = new Map<number, Member>()
    for (const reference of valid.slice(0, LOOKUPS_PER_TRANSFER_MAX)) {
      const member = await lookUp(reference)
      if (member) members.set(member.id, member)
    }
    const [member, ...others] = members.values()
    if (!member) return `no member has the reference ${valid.join(', ')}`
    return others.length > 0 ? 'it names several members' : member
  }
}

export async function matchTransfers(credits: readonly Transfer[], findMember: FindMember, rate: bigint) {
  const claims: Claim[] = []
  const unmatched: Unmatched[] = []
  for (const transfer of credits) {
    const centihours = hoursOf(transfer, rate)
    if (typeof centihours === 'string') {
      unmatched.push({ transfer, centihours: undefined, reason: centihours })
      continue
    }
    const member = await findMember(transfer)
    if (typeof member === 'string') unmatched.push({ transfer, centihours, reason: member })
    else claims.push({ transfer, member, centihours })
  }
  return { claims, unmatched }
}

/** Returns hundredths of hours, or the reason why there are none. */
export function hoursOf({ amount, currency, defect }: Transfer, rate: bigint): bigint | string {
  if (defect) return defect
  if (currency !== CURRENCY) return `it is in ${currency || 'no currency'}, not in ${CURRENCY}`
  const centihours = toCentihours(amount, rate)
  return centihours || `${formatAmount(amount)} ${currency} is not a whole number of hundredths of an hour`
}
