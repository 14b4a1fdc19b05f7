import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'
import { checkReason } from './check-reason.ts'
import { findCommunityAccount, lockAccounts, postTransfers, type PostedTransfer } from './post-transfers.ts'

/** The office gives (positive) or takes (negative), against the community's account, whatever the lower limit. */
export async function adjustBalance(
  sql: Queries,
  actor: Actor,
  communityId: number,
  wish: { memberId: number; centihours: number; reason: string },
): Promise<PostedTransfer> {
  if (!Number.isSafeInteger(wish.centihours) || wish.centihours === 0) {
    throw new Refusal('The hours must not be 0.', { field: 'hours' })
  }
  const reason = checkReason(wish.reason)
  return transaction(sql, async (tx) => {
    const [wallet] = await lockAccounts(tx, communityId, { memberIds: [wish.memberId] })
    if (!wallet) throw new Refusal(`There is no member ${wish.memberId}.`, { field: 'member_id' })
    const community = await findCommunityAccount(tx, communityId)
    const isGift = wish.centihours > 0
    const [posted] = await postTransfers(tx, communityId, actor, [
      {
        kind: 'adjustment',
        debit: isGift ? community : wallet,
        credit: isGift ? wallet : community,
        amount: Math.abs(wish.centihours),
        note: reason,
      },
    ])
    await recordAudit(tx, communityId, actor, {
      action: 'balance.adjusted',
      subject: { kind: 'transfer', id: posted!.id },
      detail: { member_id: wish.memberId, centihours: wish.centihours },
    })
    return posted!
  })
}
