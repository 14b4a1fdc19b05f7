import { transaction, type Queries, type Sql } from '../../postgres/connect.ts'
import { limitStatementTime } from '../../postgres/transaction-settings.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

/**
 * Shorter than the request timeout. Parts of a path are not indexed: a search without matches reads every call of the
 * period, a million in four seconds on a busy machine.
 */
const SEARCH_TIMEOUT_MS = 5_000
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
