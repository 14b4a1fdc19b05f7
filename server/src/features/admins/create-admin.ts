import { recordAudit, type Actor, type AuditEntry } from '../audit/record.ts'
import { findAdmin, namesOfAdmin, type AdminRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { deleteSecondFactorOf, deleteSecondStepsOf } from '../second-factor/queries.ts'
import { forgetBrowsersOf } from './browser-queries.ts'
import { checkEmail, checkName } from './check-admin.ts'
import { deleteInvitationsOf } from './invitation-queries.ts'
import { newOneTimePassword } from './one-time-password.ts'
import { hashPassword } from './passwords.ts'
import {
  deleteLinksBy,
  deleteLinksOf,
  endSessionsOf,
  insertAdmin,
  insertAdminRole,
  lockRoles,
  updatePassword,
  type KnownAs,
} from './queries.ts'

/**
 * For the operator, who may grant a role without asking: creates an administrator with a one-time password, or gives
 * the role to an existing account, no matter who has its password.
 */
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
    // The account first, then the roles, in the order of an invitation that the person uses at the same moment.
    const newId = await insertAdmin(tx, { email, name, password_hash, password_one_time: true })
    const adminId = newId ?? (await findAdmin(tx, email))!.id
    await lockRoles(tx, communityId)
    await addRole(tx, actor, communityId, adminId, input.role, { name, email })
    return { adminId, password: newId === undefined ? undefined : password }
  })
}

/** Grants a role to somebody who has none. Earlier links of the person end, because somebody else may hold one. */
export async function addRole(
  tx: Queries,
  actor: Actor,
  communityId: number,
  adminId: number,
  role: AdminRole,
  as: KnownAs,
  action = 'admin.added',
): Promise<void> {
  if (!(await insertAdminRole(tx, communityId, adminId, role, as))) throw alreadyAdministrator(as.email)
  await deleteLinksOf(tx, adminId)
  await deleteInvitationsOf(tx, communityId, adminId)
  await recordAudit(tx, communityId, actor, { action, subject: { kind: 'admin', id: adminId }, detail: { role } })
}

function alreadyAdministrator(email: string): Refusal {
  const known = because('administrator_known', { email })
  const next =
    'An owner can change the role in the console, under Community. ' +
    `If this person cannot sign in, run: npx hourbank admin reset --email ${email}`
  return new Refusal(known, { message: `${known.message} ${next}` })
}

/** Sets a new one-time password, removes the second factor and ends all sessions and links of the person. */
export async function resetAdmin(
  sql: Queries,
  actor: Actor,
  email: string,
): Promise<{ email: string; password: string; hadSecondFactor: boolean }> {
  const password = newOneTimePassword()
  const passwordHash = await hashPassword(password)
  return transaction(sql, async (tx) => {
    const admin = await findAdmin(tx, email)
    if (!admin) throw new Refusal(because('no_administrator', { email }))
    await replacePassword(tx, admin.id, { hash: passwordHash, oneTime: true })
    const hadSecondFactor = await deleteSecondFactorOf(tx, admin.id)
    await auditInAllCommunities(tx, actor, admin.id, 'admin.password_reset', {
      second_factor_removed: hadSecondFactor,
    })
    return { email: admin.email, password, hadSecondFactor }
  })
}

/**
 * Ends everything that the previous password has opened: sessions, links, also those made for others, and browsers that need
 * not prove themselves.
 */
export async function replacePassword(
  tx: Queries,
  adminId: number,
  password: { hash: string; oneTime: boolean },
): Promise<void> {
  await updatePassword(tx, adminId, password)
  await endSessionsOf(tx, adminId)
  await deleteLinksOf(tx, adminId)
  await deleteLinksBy(tx, adminId)
  await deleteSecondStepsOf(tx, adminId)
  await forgetBrowsersOf(tx, adminId)
}

/** Audits an action that concerns a person in each of their communities; their own, by the name that each knows. */
export async function auditInAllCommunities(
  tx: Queries,
  actor: Actor | 'self',
  adminId: number,
  action: string,
  detail: NonNullable<AuditEntry['detail']> = {},
): Promise<void> {
  for (const { community_id, name } of await namesOfAdmin(tx, adminId)) {
    const by: Actor = actor === 'self' ? { kind: 'admin', id: adminId, name } : actor
    await recordAudit(tx, community_id, by, { action, subject: { kind: 'admin', id: adminId }, detail })
  }
}
