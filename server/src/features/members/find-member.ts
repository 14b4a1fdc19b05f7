import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import { findMembers, type PartnerView } from './queries.ts'
import type { Member } from './schema.ts'

const LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

/** Concurrent lookups in one community are batched into one statement. */
export function createMemberFinder(
  sql: Sql,
  view: PartnerView,
): (communityId: number, id: number) => Promise<Member | undefined> {
  return coalesce(async (communityId: number, ids: number[]) => {
    const byId = new Map((await findMembers(sql, communityId, ids, view)).map((row) => [row.id, row]))
    return ids.map((id) => byId.get(id))
  }, LIMITS)
}
