import { transaction, type Queries, type Sql } from '../../postgres/connect.ts'
import { TIME_LIMIT_MS as REPLICA_TIME_LIMIT_MS } from '../../postgres/replica.ts'
import { limitStatementTime } from '../../postgres/transaction-settings.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

/**
 * Parts of a path are not indexed: a search without matches reads every call of the period, a million in four seconds on a
 * busy machine. Shorter than the limit of a replica, which would be taken for one that is away.
 */
const SEARCH_TIMEOUT_MS = REPLICA_TIME_LIMIT_MS - 500
const QUERY_CANCELED = '57014'

/** Runs a search with a timeout, which is reported with a message for the user. */
export async function searchInTime<T>(sql: Sql, search: (tx: Queries) => Promise<T>): Promise<T> {
  try {
    return await transaction(sql, async (tx) => {
      await limitStatementTime(tx, SEARCH_TIMEOUT_MS)
      return search(tx)
    })
  } catch (error) {
    if ((error as { code?: string }).code !== QUERY_CANCELED) throw error
    throw new Refusal(because('calls_too_many'), { cause: error })
  }
}
