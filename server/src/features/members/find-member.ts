import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import { findMembers, type MemberRow } from './queries.ts'

const LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

/** Concurrent lookups in one community are batched into one statement. */
export function createMemberFinder(sql: Sql): (communityId: number, id: number) => Promise<MemberRow | undefined> {
  return coalesce(async (communityId: number, ids: number[]) => {
    const byId = new Map((await findMembers(sql, communityId, ids)).map((row) => [row.id, row]))
    return ids.map((id) => byId.get(id))
  }, LIMITS)
}
