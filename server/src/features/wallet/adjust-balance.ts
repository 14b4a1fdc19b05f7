import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { checkReason } from './check-reason.ts'
import { findCommunityAccount, lockAccounts, postTransfers, type PostedTransfer } from './post-transfers.ts'

/** Adds (positive) or removes (negative) hours against the community's account. The lower limit does not apply. */
export async function adjustBalance(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { memberId: number; centihours: number; reason: string },
): Promise<PostedTransfer> {
  if (!Number.isSafeInteger(input.centihours) || input.centihours === 0) {
    throw new Refusal(because('hours_zero'), { field: 'hours' })
  }
  const reason = checkReason(input.reason)
  return transaction(sql, async (tx) => {
    const [wallet] = await lockAccounts(tx, communityId, { memberIds: [input.memberId] })
    if (!wallet) throw new Refusal(because('no_member', { id: input.memberId }), { field: 'member_id' })
    const community = await findCommunityAccount(tx, communityId)
    const isGift = input.centihours > 0
    const [posted] = await postTransfers(tx, communityId, actor, [
      {
        kind: 'adjustment',
        debit: isGift ? community : wallet,
        credit: isGift ? wallet : community,
        amount: Math.abs(input.centihours),
        note: reason,
      },
    ])
    await recordAudit(tx, communityId, actor, {
      action: 'balance.adjusted',
      subject: { kind: 'transfer', id: posted!.id },
      detail: { member_id: input.memberId, centihours: input.centihours },
    })
    return posted!
  })
}
