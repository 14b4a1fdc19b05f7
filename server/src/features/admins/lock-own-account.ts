import type { AdminSession } from '../../http/console/sessions.ts'
import { ApiError } from '../../http/shared/errors.ts'
import type { Queries } from '../../postgres/connect.ts'
import { hasSession, lockAccount } from './queries.ts'

/** For changes that people make of their own account. */
export async function lockOwnAccount(tx: Queries, session: AdminSession): Promise<void> {
  await lockAccount(tx, session.admin.id)
  await requireOpenSession(tx, session)
}

/** Call it under the lock: another change may have come first, and may have ended the session that asks for this one. */
export async function requireOpenSession(tx: Queries, { id, admin }: AdminSession): Promise<void> {
  if (!(await hasSession(tx, admin.id, id))) throw new ApiError('sign_in_required')
}
