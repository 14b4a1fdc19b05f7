import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'
import { parseId } from '../../http/shared/ids.ts'
import type { Queries } from '../../postgres/connect.ts'
import { findAnySubscription, type SubscriptionRow } from './admin-queries.ts'

/** Finds the subscription that a path of the admin API names. */
export async function requireSubscription(sql: Queries, communityId: number, text: string): Promise<SubscriptionRow> {
  const id = parseId(text)
  const row = id === undefined ? undefined : await findAnySubscription(sql, communityId, id)
  if (!row) throw new NotFound(because('no_such_subscription'))
  return row
}
