import type { Logger } from 'pino'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { countAttempt } from '../../http/console/attempt-queries.ts'
import { keyOf } from '../../http/console/sign-in-limits.ts'
import type { ErrorCode } from '../../http/shared/errors.ts'
import type { Queries } from '../../postgres/connect.ts'
import { adminActor } from './admin-actor.ts'
import { recordAudit } from './record.ts'

/** Errors that say that a signed-in administrator tried what they may not do, or not yet. */
const RECORDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'role_insufficient',
  'second_factor_required',
  'proof_required',
])
const WINDOW = { max: 1_000_000_000, windowSeconds: 60 * 60 }

/** Records rejected calls of administrators in the audit log of the community, after the response. */
export function recordRejections(api: AdminApi, { sql, log }: { sql: Queries; log: Logger }): void {
  api.addHook('onResponse', async (request) => {
    const { session, failure, method } = request
    const community = session?.community
    if (!community || !failure || !RECORDED.has(failure.code)) return
    const route = request.routeOptions.url ?? ''
    const actor = adminActor(request)
    try {
      const times = await countRejection(sql, [`${community.id}`, `${session.admin.id}`, failure.code, method, route])
      if (times === undefined) return
      await recordAudit(sql, community.id, actor, {
        action: 'admin.rejected',
        subject: { kind: 'admin', id: session.admin.id },
        detail: { reason: failure.code, call: `${method} ${route}`, times },
      })
    } catch (error) {
      log.error({ err: error }, 'a rejected call could not be recorded')
    }
  })
}

/**
 * Counts a rejection and returns how many there were within the hour if this one is to be recorded: the 1st, the 10th,
 * the 100th and so on, so that nobody can flood the audit log.
 */
export async function countRejection(sql: Queries, of: string[]): Promise<number | undefined> {
  const { count } = await countAttempt(sql, keyOf('rejection', ...of), WINDOW)
  return /^10*$/.test(`${count}`) ? count : undefined
}
