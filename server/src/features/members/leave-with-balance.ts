import type { Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { adjustBalance } from '../wallet/adjust-balance.ts'
import { lockAccounts } from '../wallet/post-transfers.ts'
import { leave, requireMember } from './change-member.ts'

export interface LeaveInput {
  /** `keep` leaves the hours in the wallet, in case the member returns. */
  balance: 'keep' | 'to_community'
  /** The reason for the adjustment. Required only if hours move. */
  reason: string
}

/** Marks the member as left. The balance, positive or negative, stays in the wallet or moves to the community. */
export async function leaveWithBalance(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  input: LeaveInput,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const member = await requireMember(tx, communityId, id)
    if (member.status !== 'active') throw new Refusal(because('member_left_already', { name: member.name }))
    const [wallet] = await lockAccounts(tx, communityId, { memberIds: [id] })
    const moved = input.balance === 'to_community' ? wallet!.balance : 0
    if (moved !== 0) {
      // Adjust before leaving, while partners still receive the event with the final balance.
      await adjustBalance(tx, actor, communityId, { memberId: id, centihours: -moved, reason: input.reason })
    }
    await leave(tx, actor, communityId, id, { balance: input.balance, centihours_moved: moved })
  })
}
