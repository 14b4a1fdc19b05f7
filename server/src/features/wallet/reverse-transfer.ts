import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { checkReason } from './check-reason.ts'
import { lockAccounts, postTransfers, type Movement, type PostedTransfer } from './post-transfers.ts'
import { findTransfer, recomputeLastActive } from './queries.ts'

/** Reverses a transfer in full, once. Reversals cannot be reversed, and the lower limit does not apply. */
export async function reverseTransfer(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { transferId: number; reason: string },
): Promise<PostedTransfer> {
  const reason = checkReason(input.reason)
  return transaction(sql, async (tx) => {
    const posted = await postReversal(tx, actor, communityId, { transferId: input.transferId, note: reason })
    await recordAudit(tx, communityId, actor, {
      action: 'transfer.reversed',
      subject: { kind: 'transfer', id: input.transferId },
      detail: { reversal_id: posted.id },
    })
    return posted
  })
}

export async function postReversal(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  { transferId, ...rest }: { transferId: number } & Pick<Movement, 'note' | 'event'>,
): Promise<PostedTransfer> {
  const found = await findTransfer(tx, communityId, transferId)
  if (!found) throw new NotFound(because('no_transfer', { id: transferId }))
  if (found.kind === 'reversal') throw new Refusal(because('reversal_of_reversal'))
  const accounts = await lockAccounts(tx, communityId, { ids: [found.debit_account_id, found.credit_account_id] })
  // Check again under the lock, because a concurrent reversal may have been first.
  const transfer = (await findTransfer(tx, communityId, transferId))!
  if (transfer.reversed) throw new Refusal(because('reversed_already', { id: transferId }))
  const [posted] = await postTransfers(tx, communityId, actor, [
    {
      kind: 'reversal',
      debit: accounts.find(({ id }) => id === transfer.credit_account_id)!,
      credit: accounts.find(({ id }) => id === transfer.debit_account_id)!,
      amount: transfer.amount,
      reversesId: transferId,
      ...rest,
    },
  ])
  if (transfer.kind === 'exchange') {
    const ids = accounts.map(({ id }) => id)
    await recomputeLastActive(tx, communityId, { ids, lastActiveOn: transfer.occurred_on })
  }
  return posted!
}
