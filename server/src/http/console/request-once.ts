import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { findAdminRequest, holdOffRemoval, insertAdminRequest, setRequestIds } from './request-queries.ts'

const KEY_LENGTH_MIN = 16
const KEY_LENGTH_MAX = 64

/** Part of the body of whatever must not happen twice. */
export const RequestKey = Type.Optional(
  Type.String({
    minLength: KEY_LENGTH_MIN,
    maxLength: KEY_LENGTH_MAX,
    pattern: '^[A-Za-z0-9_-]+$',
    description:
      'Letters, digits, - and _, new for each change: what is sent again under the same key is not done twice',
  }),
)

export interface KeyedRequest {
  adminId: number
  key: string | undefined
  /** What was asked for: the same key with other content is a mistake. */
  input: object
}

export interface Work<Result> {
  make: (tx: Transaction) => Promise<Result>
  /** Identifies what was made; stored with the key. */
  idsOf: (made: Result) => number[]
  /** Answers a repeated request from the stored ids. */
  find: (tx: Transaction, ids: number[]) => Promise<Result>
}

/**
 * Makes an administrator's request idempotent by key. Concurrent requests with the same key wait for the first one. A
 * rejected request stores nothing, so it can be corrected and retried with the same key.
 */
export async function once<Result>(
  sql: Queries,
  communityId: number,
  { adminId, key, input }: KeyedRequest,
  { make, idsOf, find }: Work<Result>,
): Promise<{ made: Result; replayed: boolean }> {
  return transaction(sql, async (tx) => {
    if (key === undefined) return { made: await make(tx), replayed: false }
    const digest = createHash('sha256').update(JSON.stringify(input)).digest()
    await holdOffRemoval(tx, communityId)
    if (await insertAdminRequest(tx, communityId, { key, adminId, digest })) {
      const made = await make(tx)
      await setRequestIds(tx, communityId, key, idsOf(made))
      return { made, replayed: false }
    }
    const stored = await findAdminRequest(tx, communityId, key)
    if (!stored) throw new NotFound(because('no_such_community'))
    // It has none if it was about somebody who was erased since.
    const isOther = stored.digest.length > 0 && !stored.digest.equals(digest)
    if (stored.admin_id !== adminId || isOther) {
      throw new Refusal(because('recorded_otherwise'))
    }
    return { made: await find(tx, stored.ids), replayed: true }
  })
}
