import { ApiError, type Hourbank } from '@hourbank/client'
import { toHours } from './amounts.ts'
import type { Claim } from './match-members.ts'

/** Errors about a single credit. Any other error (no access, no response) ends the run, and the next run continues. */
const REFUSALS = new Set(['user_not_found', 'reference_conflict', 'daily_limit_reached', 'validation_failed'])

export interface CreditOutcomes {
  credited: Claim[]
  /** By an earlier run, or by one that was killed before it got the response. */
  before: Claim[]
  refused: { claim: Claim; reason: string }[]
}

/**
 * Credits the transfers without storing which ones were credited: the reference is derived from the transfer alone, and
 * Hourbank credits once per reference. A run can be killed at any point and started again.
 */
export async function creditTransfers(hourbank: Hourbank, claims: readonly Claim[]): Promise<CreditOutcomes> {
  const outcomes: CreditOutcomes = { credited: [], before: [], refused: [] }
  for (const claim of claims) {
    try {
      const { replayed } = await hourbank.wallet.credit({
        user_id: claim.member.id,
        hours: toHours(claim.centihours),
        reference: claim.transfer.identity,
        settled_on: claim.transfer.bookedOn,
        note: noteOf(claim.transfer.endToEndId),
      })
      outcomes[replayed ? 'before' : 'credited'].push(claim)
    } catch (error) {
      if (!(error instanceof ApiError) || !REFUSALS.has(error.code)) throw error
      outcomes.refused.push({ claim, reason: `${error.code}: ${error.description}` })
    }
  }
  return outcomes
}

/** Contains the payer's own id of the payment, because a return months later contains it too. */
export function noteOf(endToEndId: string | undefined): string {
  return endToEndId ? `Bank transfer ${endToEndId}` : 'Bank transfer'
}
