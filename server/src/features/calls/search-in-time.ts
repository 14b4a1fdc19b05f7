import { transaction, type Queries, type Sql } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'

/**
 * Shorter than what a request may take. No index knows parts of a path: a search for one that never occurs reads every
 * call of its period, a million in four seconds on a busy machine.
 */
const SEARCH_MAX_MS = 5_000
const QUERY_CANCELED = '57014'

/** On a connection of its own, so that nobody waits behind it; given up when it takes too long, in words for people. */
export async function searchInTime<T>(sql: Sql, search: (tx: Queries) => Promise<T>): Promise<T> {
  try {
    return await transaction(sql, async (tx) => {
      await tx`select set_config('statement_timeout', ${String(SEARCH_MAX_MS)}, true)`
      return search(tx)
    })
  } catch (error) {
    if ((error as { code?: string }).code !== QUERY_CANCELED) throw error
    throw new Refusal('There are too many calls to look through. Choose a shorter time.', { cause: error })
  }
}
