import type { Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'
import { adjustBalance } from '../wallet/adjust-balance.ts'
import { lockAccounts } from '../wallet/post-transfers.ts'
import { leave, requireMember } from './change-member.ts'

export interface LeaveWish {
  /** `keep`: the hours stay in the wallet, for a return. */
  balance: 'keep' | 'to_community'
  /** Of the adjustment; nothing is asked where nothing moves. */
  reason: string
}

/** A member leaves, and their hours, or what they owe, stay with them or go to the community. */
export async function leaveWithBalance(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  wish: LeaveWish,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const member = await requireMember(tx, communityId, id)
    if (member.status !== 'active') throw new Refusal(`${member.name} has left already.`)
    const [wallet] = await lockAccounts(tx, communityId, { memberIds: [id] })
    const moved = wish.balance === 'to_community' ? wallet!.balance : 0
    if (moved !== 0) {
      // Before they leave: partners who may see the wallet are told of its last balance.
      await adjustBalance(tx, actor, communityId, { memberId: id, centihours: -moved, reason: wish.reason })
    }
    await leave(tx, actor, communityId, id, { balance: wish.balance, centihours_moved: moved })
  })
}
