import { communitiesWithRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { newSessionToken } from '../../http/console/sessions.ts'
import { checkName } from './check-admin.ts'
import { auditInAllCommunities } from './create-admin.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import {
  deleteLinksOf,
  endSessionsOf,
  findAdminById,
  findLink,
  insertLink,
  consumeLink,
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

/** Creates a link that works once, and replaces the person's earlier links. */
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

/** The token is in the fragment, so that it appears in no request and no log. */
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

/** Sets the password and ends all sessions of the person. */
export async function followLink(
  sql: Queries,
  token: string,
  input: { password: string; name?: string },
): Promise<number> {
  const { email } = await inspectLink(sql, token)
  await checkPassword(input.password, { email, field: 'password' })
  const name = input.name === undefined ? undefined : checkName(input.name)
  const hash = await hashPassword(input.password)
  return transaction(sql, async (tx) => {
    const link = await consumeLink(tx, hashSecret(token))
    const admin = link?.admin_id ? await findAdminById(tx, link.admin_id) : undefined
    if (!link || !admin) throw new ApiError('link_expired')
    await updatePassword(tx, admin.id, { hash, oneTime: false })
    if (name !== undefined) await updateAdminName(tx, admin.id, name)
    await endSessionsOf(tx, admin.id)
    const actor = { kind: 'admin', id: admin.id, name: name ?? admin.name } as const
    await auditInAllCommunities(tx, actor, admin.id, 'admin.password_changed')
    return admin.id
  })
}
