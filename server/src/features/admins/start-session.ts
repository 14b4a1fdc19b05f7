import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashSecret } from '../../crypto/secrets.ts'
import { browserToken, originOf, setBrowserCookie, setSessionCookie } from '../../http/console/admin-frame.ts'
import { insertSession } from '../../http/console/session-queries.ts'
import { findSession, newSessionToken, type AdminSession } from '../../http/console/sessions.ts'
import type { Deps } from '../../http/deps.ts'
import { communitiesWithRole } from '../../postgres/across-communities.ts'
import { isNewBrowser, rememberBrowser } from './browser-queries.ts'
import { newBrowserMail } from './mails.ts'
import { tellPerson } from './tell-person.ts'

export async function presentSession({ sql }: Deps, session: AdminSession) {
  const communities = await communitiesWithRole(sql, session.admin.id)
  return {
    data: {
      session_id: session.id,
      admin: session.admin,
      password_change_required: session.password_one_time,
      second_factor: session.has_second_factor,
      communities,
    },
  }
}

/** Always creates new tokens and never adopts the browser's, which prevents session fixation. */
export async function startSession(deps: Deps, adminId: number, request: FastifyRequest, reply: FastifyReply) {
  const { sql } = deps
  const token = newSessionToken()
  await insertSession(sql, adminId, hashSecret(token), originOf(request))
  setSessionCookie(deps, reply, token)
  const [previous, browser] = [browserToken(deps, request), newSessionToken()]
  const from = previous ? hashSecret(previous) : undefined
  const isNew = await isNewBrowser(sql, adminId, from)
  await rememberBrowser(sql, adminId, { from, to: hashSecret(browser) })
  setBrowserCookie(deps, reply, browser)
  const session = (await findSession(sql, token, undefined))!
  if (isNew) tellPerson(deps, session.admin, (to) => newBrowserMail(to, originOf(request)))
  return presentSession(deps, session)
}
