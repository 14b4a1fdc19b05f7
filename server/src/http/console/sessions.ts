import type { Language } from '../../core/languages.ts'
import { randomBytes } from 'node:crypto'
import type { Queries } from '../../postgres/connect.ts'
import { isDiskFull } from '../../postgres/embedded/disk-space.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import {
  findSessionRow,
  rotateToken,
  touchRole,
  touchSession,
  type AdminCommunity,
  type SessionRow,
} from './session-queries.ts'

const TOKEN_BYTES = 32

/** The caller's session, and their role in the community named in the path. */
export interface AdminSession {
  id: number
  admin: { id: number; email: string; name: string; language: Language | null }
  password_one_time: boolean
  has_second_factor: boolean
  /** Whether the person has given their password or second factor lately. */
  proof_is_fresh: boolean
  community: AdminCommunity | undefined
  /** Set after a rotation; replaces the token in the browser's cookie. */
  newToken?: string
}

export function newSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Finds the session of a token; rotates and touches it when due. */
export async function findSession(
  sql: Queries,
  token: string,
  slug: string | undefined,
): Promise<AdminSession | undefined> {
  const hash = hashSecret(token)
  const row = await findSessionRow(sql, { tokenHash: hash }, slug)
  if (!row) return undefined
  const { id, admin, community } = row
  const newToken = row.rotation_is_due ? await rotate(sql, id, hash).catch(ignoreDiskFull) : undefined
  if (row.touch_is_due && !newToken) await touchSession(sql, id).catch(ignoreDiskFull)
  if (community && row.community_touch_is_due) await touchRole(sql, community.id, admin.id).catch(ignoreDiskFull)
  return { ...toSession(row), ...(newToken && { newToken }) }
}

/** Finds a session that was there a moment ago; its token may have been rotated since. */
export async function findSessionAgain(
  sql: Queries,
  id: number,
  slug: string | undefined,
): Promise<AdminSession | undefined> {
  const row = await findSessionRow(sql, { id }, slug)
  return row && toSession(row)
}

function toSession({
  id,
  admin,
  password_one_time,
  has_second_factor,
  proof_is_fresh,
  community,
}: SessionRow): AdminSession {
  return { id, admin, password_one_time, has_second_factor, proof_is_fresh, community: community ?? undefined }
}

/** Pages stay readable while the disk is full; a later request rotates the session. */
function ignoreDiskFull(error: unknown): undefined {
  if (!isDiskFull(error)) throw error
}

async function rotate(sql: Queries, id: number, from: Buffer): Promise<string | undefined> {
  const token = newSessionToken()
  return (await rotateToken(sql, id, { from, to: hashSecret(token) })) ? token : undefined
}
