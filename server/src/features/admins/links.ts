import { randomBytes } from 'node:crypto'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { auditInAllCommunities, replacePassword } from './create-admin.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import {
  consumeLink,
  deleteLinksUpTo,
  findAdminById,
  findLink,
  insertLink,
  lockAccount,
  type Entrant,
  type LinkRow,
} from './queries.ts'

const TOKEN_BYTES = 32
const DAY_SECONDS = 24 * 60 * 60
const LINK_SECONDS = DAY_SECONDS

export interface NewLink {
  token: string
  expires_at: string
}

export function newLinkToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/**
 * Creates a link that works once, and replaces the person's earlier links that were not made to last longer. Anybody can
 * request a mailed link, which is the shorter kind: it must not end the one that an owner has handed over. A link ends with
 * the role of the owner who made it.
 */
export async function makeLink(
  tx: Queries,
  purpose: LinkRow['purpose'],
  adminId: number | null = null,
  { seconds = LINK_SECONDS, madeBy = null }: { seconds?: number; madeBy?: number | null } = {},
): Promise<NewLink> {
  const token = newLinkToken()
  if (adminId !== null) {
    await lockAccount(tx, adminId)
    await deleteLinksUpTo(tx, adminId, seconds)
  }
  const hash = hashSecret(token)
  return { token, expires_at: await insertLink(tx, { hash, purpose, adminId, madeBy, seconds }) }
}

/** The token is in the fragment, so that it appears in no request and no log. */
export function linkAddress(publicUrl: string, purpose: LinkRow['purpose'] | 'invitation', token: string): string {
  return `${publicUrl}/console/${purpose === 'set_up' ? 'set-up' : 'link'}#${token}`
}

/** What a reset link is for. It does not name the person or their communities: an owner may look at it too. */
export async function inspectResetLink(sql: Queries, token: string): Promise<{ email: string; expires_at: string }> {
  const link = await findLink(sql, hashSecret(token))
  const admin = await adminOf(sql, link)
  return { email: admin.email, expires_at: link!.expires_at }
}

/** Sets the password and ends all sessions and links of the person. */
export async function resetByLink(
  sql: Queries,
  token: string,
  password: string,
  isWanted: () => boolean,
): Promise<Entrant> {
  const { id, email } = await adminOf(sql, await findLink(sql, hashSecret(token)))
  await checkPassword(password, { email, field: 'password' })
  const hash = await hashPassword(password, isWanted)
  return transaction(sql, async (tx) => {
    await lockAccount(tx, id)
    await adminOf(tx, await consumeLink(tx, hashSecret(token)))
    await replacePassword(tx, id, { hash, oneTime: false })
    await auditInAllCommunities(tx, 'self', id, 'admin.password_changed')
    return { id, password_hash: hash }
  })
}

async function adminOf(sql: Queries, link: LinkRow | undefined) {
  const isReset = link?.purpose === 'reset' && link.admin_id !== null
  const admin = isReset ? await findAdminById(sql, link.admin_id!) : undefined
  if (!admin) throw new ApiError('link_expired')
  return admin
}
