import type { CreditRequest, Hourbank } from '@hourbank/client'
import { toHours } from './amounts.ts'
import type { Claim } from './match-members.ts'

export interface CreditOutcomes {
  credited: Claim[]
  /** By an earlier run, or by one that was killed before it got the response. */
  before: Claim[]
  refused: { claim: Claim; reason: string }[]
}

/**
 * Credits the transfers without storing which ones were credited: the reference is derived from the transfer alone, and
 * Hourbank credits once per reference. A run can be killed at any point and started again. What concerns all credits (no
 * access, no response) ends the run, and the next run continues.
 */
export async function creditTransfers(hourbank: Hourbank, claims: readonly Claim[]): Promise<CreditOutcomes> {
  const outcomes: CreditOutcomes = { credited: [], before: [], refused: [] }
  let n = 0
  for await (const item of hourbank.wallet.creditAll(claims.map(toCredit))) {
    // Results come in the order of the credits.
    const claim = claims[n++]!
    if ('credit' in item) outcomes[item.result === 'replayed' ? 'before' : 'credited'].push(claim)
    else outcomes.refused.push({ claim, reason: `${item.result}: ${item.error_description}` })
  }
  return outcomes
}

function toCredit({ member, centihours, transfer }: Claim): CreditRequest {
  return {
    user_id: member.id,
    hours: toHours(centihours),
    reference: transfer.identity,
    settled_on: transfer.bookedOn,
    note: noteOf(transfer.endToEndId),
  }
}

/** Contains the payer's own id of the payment, because a return months later contains it too. */
export function noteOf(endToEndId: string | undefined): string {
  return endToEndId ? `Bank transfer ${endToEndId}` : 'Bank transfer'
}
