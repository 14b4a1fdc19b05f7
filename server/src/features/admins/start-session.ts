import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashSecret } from '../../crypto/secrets.ts'
import { browserToken, originOf, setBrowserCookie, setSessionCookie } from '../../http/console/admin-frame.ts'
import { insertSession } from '../../http/console/session-queries.ts'
import { findSession, newSessionToken, type AdminSession } from '../../http/console/sessions.ts'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { communitiesWithRole, ownsEveryCommunity } from '../../postgres/across-communities.ts'
import type { Queries } from '../../postgres/connect.ts'
import { isNewBrowser, rememberBrowser } from './browser-queries.ts'
import { newBrowserMail } from './mails.ts'
import { notifyPerson } from './notify-person.ts'

export async function presentSession({ sql }: Deps, session: AdminSession) {
  const communities = await communitiesWithRole(sql, session.admin.id)
  const isOwnerOfAll = await ownsEveryCommunity(sql, session.admin.id)
  return {
    data: {
      session_id: session.id,
      admin: session.admin,
      password_change_required: session.password_one_time,
      second_factor: session.has_second_factor,
      owns_every_community: isOwnerOfAll,
      communities,
    },
  }
}

/**
 * Returns the token. Call it under a lock of the account, with which the right to enter was checked. It never adopts the
 * browser's token, which prevents session fixation.
 */
export async function openSession(tx: Queries, adminId: number, request: FastifyRequest): Promise<string> {
  const token = newSessionToken()
  await insertSession(tx, adminId, hashSecret(token), originOf(request))
  return token
}

/** Gives a new session to the browser, which is remembered under a new token. */
export async function sendSession(
  deps: Deps,
  { adminId, token }: { adminId: number; token: string },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { sql } = deps
  setSessionCookie(deps, reply, token)
  const [previous, browser] = [browserToken(deps, request), newSessionToken()]
  const from = previous ? hashSecret(previous) : undefined
  const isNew = await isNewBrowser(sql, adminId, from)
  await rememberBrowser(sql, adminId, { from, to: hashSecret(browser) })
  setBrowserCookie(deps, reply, browser)
  const session = await findSession(sql, token, undefined)
  // The person has ended it from another browser, or has changed the password.
  if (!session) throw new ApiError('sign_in_failed')
  if (isNew) notifyPerson(deps, session.admin, (to) => newBrowserMail(to, originOf(request)))
  return presentSession(deps, session)
}
