import { communitiesWithRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { newSessionToken } from '../../http/console/sessions.ts'
import { checkName } from './check-admin.ts'
import { recordForAll } from './create-admin.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import {
  deleteLinksOf,
  endSessionsOf,
  findAdminById,
  findLink,
  insertLink,
  takeLink,
  updateAdminName,
  updatePassword,
  type LinkRow,
} from './queries.ts'

const DAY_SECONDS = 24 * 60 * 60
const LINK_SECONDS: Record<LinkRow['purpose'], number> = {
  set_up: DAY_SECONDS,
  invitation: 7 * DAY_SECONDS,
  reset: DAY_SECONDS,
}

export interface NewLink {
  token: string
  expires_at: string
}

/** A token that works once; a person has one at a time. */
export async function makeLink(
  tx: Queries,
  purpose: LinkRow['purpose'],
  adminId: number | null = null,
): Promise<NewLink> {
  const token = newSessionToken()
  if (adminId !== null) await deleteLinksOf(tx, adminId)
  const seconds = LINK_SECONDS[purpose]
  return { token, expires_at: await insertLink(tx, { hash: hashSecret(token), purpose, adminId, seconds }) }
}

/** In the fragment, which reaches no server and no log. */
export function linkAddress(publicUrl: string, purpose: LinkRow['purpose'], token: string): string {
  return `${publicUrl}/console/${purpose === 'set_up' ? 'set-up' : 'link'}#${token}`
}

export async function inspectLink(sql: Queries, token: string) {
  const link = await findLink(sql, hashSecret(token))
  const admin = link?.admin_id ? await findAdminById(sql, link.admin_id) : undefined
  if (!link || !admin) throw new ApiError('link_expired')
  const communities = await communitiesWithRole(sql, admin.id)
  return {
    purpose: link.purpose as 'invitation' | 'reset',
    email: admin.email,
    name: admin.name,
    communities: communities.map(({ name }) => name),
    expires_at: link.expires_at,
  }
}

/** Chooses a password by link. Whoever was signed in as this person is out. */
export async function followLink(
  sql: Queries,
  token: string,
  wish: { password: string; name?: string },
): Promise<number> {
  const { email } = await inspectLink(sql, token)
  checkPassword(wish.password, { email, field: 'password' })
  const name = wish.name === undefined ? undefined : checkName(wish.name)
  const hash = await hashPassword(wish.password)
  return transaction(sql, async (tx) => {
    const link = await takeLink(tx, hashSecret(token))
    const admin = link?.admin_id ? await findAdminById(tx, link.admin_id) : undefined
    if (!link || !admin) throw new ApiError('link_expired')
    await updatePassword(tx, admin.id, { hash, oneTime: false })
    if (name !== undefined) await updateAdminName(tx, admin.id, name)
    await endSessionsOf(tx, admin.id)
    const actor = { kind: 'admin', id: admin.id, name: name ?? admin.name } as const
    await recordForAll(tx, actor, admin.id, 'admin.password_changed')
    return admin.id
  })
}
