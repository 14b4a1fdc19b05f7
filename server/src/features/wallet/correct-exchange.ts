import type { Actor } from '../audit/record.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { lockAccounts, type PostedTransfer } from './post-transfers.ts'
import { findTransfer } from './queries.ts'
import { recordExchanges, type RecordOptions, type Slip } from './record-exchanges.ts'
import { reverseTransfer } from './reverse-transfer.ts'

/** Reverses an exchange and records it as it should have been: both or neither. */
export async function correctExchange(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { transferId: number; slip: Slip; reason: string },
  options: RecordOptions,
): Promise<PostedTransfer[]> {
  return transaction(sql, async (tx) => {
    const transfer = await findTransfer(tx, communityId, input.transferId)
    if (transfer?.kind !== 'exchange') throw new Refusal(because('only_exchanges'))
    // All wallets together: those of the old exchange before those of the new one would be out of order.
    await lockAccounts(tx, communityId, {
      ids: [transfer.debit_account_id, transfer.credit_account_id],
      memberIds: [input.slip.giverId, input.slip.receiverId],
    })
    await reverseTransfer(tx, actor, communityId, input)
    return recordExchanges(tx, actor, communityId, [input.slip], options)
  })
}
