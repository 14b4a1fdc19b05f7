import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Caller } from '../../http/partner/access.ts'
import { insertEmailReads } from './queries.ts'

const LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

type Reader = Pick<Caller, 'communityId' | 'clientId' | 'clientPublicId'>

export type EmailReadRecorder = (reader: Reader, requestId: string, memberIds: number[]) => Promise<void>

/** Audits which members' email addresses a call or an event reads, before it is sent. */
export function createEmailReadRecorder(sql: Sql): EmailReadRecorder {
  const record = coalesce(async (communityId: number, reads: Parameters<typeof insertEmailReads>[2]) => {
    await insertEmailReads(sql, communityId, reads)
    return reads
  }, LIMITS)

  return async ({ communityId, clientId, clientPublicId: clientName }, requestId, memberIds) => {
    if (memberIds.length === 0) return
    await record(communityId, { clientId, clientName, requestId, memberIds })
  }
}
