import type { Transaction } from '../../postgres/connect.ts'
import { findSameExchanges } from './admin-queries.ts'
import type { Movement } from './post-transfers.ts'
import { because, type Reason } from '../../core/reasons.ts'

/** A problem with one slip. `text` continues a message that starts with 'Slip 3: '. */
export type SlipProblem = { slip: number; field?: string; code?: string; reason: Reason }

/**
 * Finds slips that were probably entered twice: same members in the same roles, same hours, same day. Compares the slips
 * with each other and with recorded exchanges that are not reversed.
 */
export async function findDuplicates(
  tx: Transaction,
  communityId: number,
  movements: Movement[],
  today: string,
): Promise<SlipProblem[]> {
  const slips = movements.map(({ credit, debit, amount, occurredOn = today }) => ({
    giverAccountId: credit.id,
    receiverAccountId: debit.id,
    centihours: amount,
    occurredOn,
  }))
  const stored = await findSameExchanges(tx, communityId, slips)
  const storedBySlip = new Map(stored.map(({ n, transfer_id }) => [n - 1, transfer_id]))
  const firstByKey = new Map<string, number>()
  return slips.flatMap((slip, n): SlipProblem[] => {
    const key = Object.values(slip).join(' ')
    const first = firstByKey.get(key)
    const transferId = storedBySlip.get(n)
    if (first === undefined) firstByKey.set(key, n)
    if (transferId !== undefined) {
      return [{ slip: n, code: 'duplicate', reason: because('exchange_recorded', { id: transferId }) }]
    }
    if (first === undefined) return []
    return [{ slip: n, code: 'duplicate', reason: because('exchange_repeated', { slip: first + 1 }) }]
  })
}
