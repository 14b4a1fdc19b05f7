import { transaction, type Sql, type Transaction } from '../../postgres/connect.ts'
import type { Caller } from '../../http/partner/access.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { presentCredit } from './credit-member.ts'
import { lockAccounts } from './post-transfers.ts'
import { findCredit, findErased, findReversals, insertReversal, type ReversalRow } from './queries.ts'
import { postReversal } from './reverse-transfer.ts'
import type { Credit, ReverseRequest } from './schema.ts'

export interface ReversedCredit {
  credit: Credit
  reversal: ReversalRow
  replayed: boolean
}

/** Reverses a credit after a returned bank transfer: once, in full, without time limit, even if the member left. */
export async function reverseCredit(sql: Sql, caller: Caller, request: ReverseRequest): Promise<ReversedCredit> {
  return transaction(sql, async (tx) => {
    const known = await requireCredit(tx, caller, request.reference)
    // The partner's account too, so that two reversals never look for the same reference at the same time.
    await lockAccounts(tx, caller.communityId, { memberIds: [known.member_id], partnerIds: [caller.partnerId] })
    const credit = await requireCredit(tx, caller, request.reference)
    const reversals = await findReversals(tx, caller.communityId, caller.partnerId, {
      creditId: credit.id,
      reversalReference: request.reversal_reference,
    })
    const same = reversals.find(
      (one) => one.credit_id === credit.id && one.reversal_reference === request.reversal_reference,
    )
    if (same) return { credit: presentCredit(credit, caller), reversal: same, replayed: true }
    if (reversals.length > 0 || credit.reversed_at !== null) {
      throw new ApiError('reference_conflict', {
        description:
          credit.reversed_at === null
            ? 'This reversal reference was already used for another credit.'
            : 'This credit is reversed already, under another reference.',
        data: presentCredit(credit, caller),
      })
    }
    return { ...(await postCreditReversal(tx, caller, request, credit)), replayed: false }
  })
}

async function requireCredit(tx: Transaction, caller: Caller, reference: string) {
  const credit = await findCredit(tx, caller.communityId, caller.partnerId, reference)
  if (!credit) throw new ApiError('credit_not_found')
  return credit
}

async function postCreditReversal(
  tx: Transaction,
  caller: Caller,
  request: ReverseRequest,
  credit: Awaited<ReturnType<typeof requireCredit>>,
) {
  const { communityId, partnerId, clientId, clientPublicId } = caller
  const actor = { kind: 'client', id: clientId, name: clientPublicId } as const
  const posted = await postReversal(tx, actor, communityId, {
    transferId: credit.transfer_id,
    event: {
      type: 'wallet.reversed',
      partnerId,
      data: {
        transaction_id: credit.id,
        centihours: credit.amount,
        reference: credit.reference,
        reversal_reference: request.reversal_reference,
      },
    },
  })
  // Nothing would erase the text again.
  const isErased = (await findErased(tx, communityId, [credit.member_id])).has(credit.member_id)
  const reversal = await insertReversal(tx, communityId, {
    partner_id: partnerId,
    reversal_reference: request.reversal_reference,
    credit_id: credit.id,
    transfer_id: posted.id,
    reason: isErased ? null : (request.reason ?? null),
  })
  return { credit: presentCredit({ ...credit, reversed_at: posted.created_at }, caller), reversal }
}
