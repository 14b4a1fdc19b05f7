import { recordAudit, type Actor, type AuditEntry } from '../audit/record.ts'
import { communitiesOfAdmin, findAdmin, type AdminRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'
import { checkEmail, checkName } from './check-admin.ts'
import { newOneTimePassword } from './one-time-password.ts'
import { hashPassword } from './passwords.ts'
import { deleteLinksOf, endSessionsOf, insertAdmin, setAdminRole, updatePassword } from './queries.ts'

/** Creates an administrator with a one-time password, or gives an existing one the role without a new password. */
export async function createAdmin(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { email: string; name: string; role: AdminRole },
): Promise<{ adminId: number; password: string | undefined }> {
  const [email, name] = [checkEmail(input.email), checkName(input.name)]
  const password = newOneTimePassword()
  const password_hash = await hashPassword(password)
  return transaction(sql, async (tx) => {
    const known = await findAdmin(tx, email)
    const adminId = known?.id ?? (await insertAdmin(tx, { email, name, password_hash, password_one_time: true }))
    await addRole(tx, actor, communityId, adminId, input.role)
    return { adminId, password: known ? undefined : password }
  })
}

export async function addRole(
  tx: Queries,
  actor: Actor,
  communityId: number,
  adminId: number,
  role: AdminRole,
): Promise<void> {
  await setAdminRole(tx, communityId, adminId, role)
  await recordAudit(tx, communityId, actor, {
    action: 'admin.added',
    subject: { kind: 'admin', id: adminId },
    detail: { role },
  })
}

/** Sets a new one-time password and ends all sessions and links of the person. */
export async function resetAdmin(sql: Queries, actor: Actor, email: string): Promise<{ password: string }> {
  const password = newOneTimePassword()
  const passwordHash = await hashPassword(password)
  await transaction(sql, async (tx) => {
    const admin = await findAdmin(tx, email)
    if (!admin) throw new Refusal(`There is no administrator ${email}.`)
    await updatePassword(tx, admin.id, { hash: passwordHash, oneTime: true })
    await endSessionsOf(tx, admin.id)
    await deleteLinksOf(tx, admin.id)
    await auditInAllCommunities(tx, actor, admin.id, 'admin.password_reset')
  })
  return { password }
}

/** Audits an action that concerns a person in each of their communities. */
export async function auditInAllCommunities(
  tx: Queries,
  actor: Actor,
  adminId: number,
  action: string,
  detail: NonNullable<AuditEntry['detail']> = {},
): Promise<void> {
  for (const communityId of await communitiesOfAdmin(tx, adminId)) {
    await recordAudit(tx, communityId, actor, { action, subject: { kind: 'admin', id: adminId }, detail })
  }
}
