import { recordAudit, type Actor } from '../audit/record.ts'
import { communitiesWithRole, findAdmin, type AdminRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { checkEmail, checkName } from './check-admin.ts'
import { addRole } from './create-admin.ts'
import { makeLink, type NewLink } from './links.ts'
import { newOneTimePassword } from './one-time-password.ts'
import { hashPassword } from './passwords.ts'
import { deleteAdminRole, insertAdmin, lockRoles, setAdminRole } from './queries.ts'

/** Adds an administrator. Returns an invitation link, unless the person already has an account. */
export async function inviteAdmin(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { email: string; name: string; role: AdminRole },
): Promise<{ adminId: number; link: NewLink | undefined }> {
  const [email, name] = [checkEmail(input.email), checkName(input.name)]
  // Nobody learns this password, so the link is the only way to sign in.
  const password_hash = await hashPassword(newOneTimePassword())
  return transaction(sql, async (tx) => {
    const roles = await lockRoles(tx, communityId)
    const known = await findAdmin(tx, email)
    if (known && roles.some(({ admin_id }) => admin_id === known.id)) {
      throw new Refusal(`${email} is an administrator of this community already.`, { field: 'email' })
    }
    const adminId = known?.id ?? (await insertAdmin(tx, { email, name, password_hash, password_one_time: true }))
    await addRole(tx, actor, communityId, adminId, input.role)
    return { adminId, link: known ? undefined : await makeLink(tx, 'invitation', adminId) }
  })
}

export async function changeRole(
  sql: Queries,
  actor: Actor,
  communityId: number,
  adminId: number,
  role: AdminRole,
): Promise<void> {
  await changeAdmin(sql, communityId, adminId, role, async (tx) => {
    await setAdminRole(tx, communityId, adminId, role)
    await recordAudit(tx, communityId, actor, {
      action: 'admin.role_changed',
      subject: { kind: 'admin', id: adminId },
      detail: { role },
    })
  })
}

/** Removes the role in this community. The person may be an administrator of others. */
export async function removeAdmin(sql: Queries, actor: Actor, communityId: number, adminId: number): Promise<void> {
  await changeAdmin(sql, communityId, adminId, undefined, async (tx) => {
    await deleteAdminRole(tx, communityId, adminId)
    await recordAudit(tx, communityId, actor, { action: 'admin.removed', subject: { kind: 'admin', id: adminId } })
  })
}

/**
 * Creates a link for an administrator who lost their password. The caller must own every community of that person,
 * because the password gives access to all of them.
 */
export async function makeResetLink(
  sql: Queries,
  actor: Actor & { id: number },
  communityId: number,
  adminId: number,
): Promise<NewLink> {
  return transaction(sql, async (tx) => {
    await requireAdmin(tx, communityId, adminId)
    const own = (await communitiesWithRole(tx, actor.id)).filter(({ role }) => role === 'owner')
    const theirs = await communitiesWithRole(tx, adminId)
    if (theirs.some(({ id }) => !own.some((community) => community.id === id))) {
      throw new Refusal(
        'This person also runs a community that you do not own. Ask whoever runs the service: npx hourbank admin reset',
      )
    }
    await recordAudit(tx, communityId, actor, {
      action: 'admin.reset_link_made',
      subject: { kind: 'admin', id: adminId },
    })
    return makeLink(tx, 'reset', adminId)
  })
}

async function changeAdmin(
  sql: Queries,
  communityId: number,
  adminId: number,
  role: AdminRole | undefined,
  change: (tx: Queries) => Promise<void>,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const roles = await requireAdmin(tx, communityId, adminId)
    const hasOtherOwner = roles.some((other) => other.role === 'owner' && other.admin_id !== adminId)
    if (!hasOtherOwner && role !== 'owner')
      throw new Refusal('The last owner cannot be removed; make someone else an owner first.')
    await change(tx)
  })
}

async function requireAdmin(tx: Queries, communityId: number, adminId: number) {
  const roles = await lockRoles(tx, communityId)
  if (!roles.some(({ admin_id }) => admin_id === adminId)) throw new NotFound('There is no such administrator.')
  return roles
}
