import { createHash } from 'node:crypto'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'
import { findAdminRequest, insertAdminRequest, setAdminRequestTransfers } from './admin-queries.ts'

export interface Recorded {
  transferIds: number[]
  /** Whether an earlier request with the same key recorded it. */
  replayed: boolean
}

/**
 * Makes an administrator's request idempotent by key. Concurrent requests with the same key wait for the first one. A
 * rejected request stores nothing, so it can be corrected and retried with the same key.
 */
export async function recordOnce(
  sql: Queries,
  communityId: number,
  request: { adminId: number; key: string | undefined; input: object },
  record: (tx: Transaction) => Promise<{ id: number }[]>,
): Promise<Recorded> {
  return transaction(sql, async (tx) => {
    const { adminId, key, input } = request
    if (key !== undefined) {
      const digest = createHash('sha256').update(JSON.stringify(input)).digest()
      const isNew = await insertAdminRequest(tx, communityId, { key, adminId, digest })
      const stored = isNew ? undefined : await findAdminRequest(tx, communityId, key)
      if (stored && (stored.admin_id !== adminId || !stored.digest.equals(digest))) {
        throw new Refusal('This was recorded already with other content. Reload the page and look at what is there.')
      }
      if (stored) return { transferIds: stored.transfer_ids, replayed: true }
    }
    const transferIds = (await record(tx)).map(({ id }) => id)
    if (key !== undefined) await setAdminRequestTransfers(tx, communityId, key, transferIds)
    return { transferIds, replayed: false }
  })
}
