import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Caller } from '../../http/partner/access.ts'
import { insertEmailReads } from './queries.ts'

const LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

/** Audits which members' email addresses a call reads, before the response is sent. */
export function createEmailReadRecorder(sql: Sql) {
  const record = coalesce(async (communityId: number, reads: Parameters<typeof insertEmailReads>[2]) => {
    await insertEmailReads(sql, communityId, reads)
    return reads
  }, LIMITS)

  return async (caller: Caller, requestId: string, memberIds: number[]): Promise<void> => {
    if (memberIds.length === 0) return
    await record(caller.communityId, {
      clientId: caller.clientId,
      clientName: caller.clientPublicId,
      requestId,
      memberIds,
    })
  }
}
