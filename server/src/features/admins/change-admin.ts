import { recordAudit, type Actor } from '../audit/record.ts'
import { ownsEveryCommunity, type AdminRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { deleteInvitationsBy, deleteInvitationsOf } from './invitation-queries.ts'
import { makeLink, type NewLink } from './links.ts'
import { lockRolesAsOwner } from './lock-roles-as-owner.ts'
import { deleteAdminRole, deleteLinksBy, deleteLinksOf, updateAdminRole } from './queries.ts'

/** Returns the person's email address, to tell them. */
export async function changeRole(
  sql: Queries,
  actor: Actor,
  communityId: number,
  adminId: number,
  role: AdminRole,
  checkBefore: (before: AdminRole) => void = () => {},
): Promise<string> {
  return changeAdmin(sql, actor, communityId, adminId, role, async (tx, before) => {
    checkBefore(before)
    await updateAdminRole(tx, communityId, adminId, role)
    await recordAudit(tx, communityId, actor, {
      action: 'admin.role_changed',
      subject: { kind: 'admin', id: adminId },
      detail: { role },
    })
  })
}

/** Removes the role in this community. The person may be an administrator of others. */
export async function removeAdmin(sql: Queries, actor: Actor, communityId: number, adminId: number): Promise<string> {
  return changeAdmin(sql, actor, communityId, adminId, undefined, async (tx) => {
    await deleteAdminRole(tx, communityId, adminId)
    await recordAudit(tx, communityId, actor, { action: 'admin.removed', subject: { kind: 'admin', id: adminId } })
  })
}

/**
 * Creates a link for an administrator who lost their password. A password opens all communities of a person, so the
 * caller must own all that there are. Whether the person runs another one makes no difference, and is not revealed.
 */
export async function makeResetLink(
  sql: Queries,
  actor: Actor & { id: number },
  communityId: number,
  adminId: number,
): Promise<NewLink> {
  return transaction(sql, async (tx) => {
    await requireAdmin(tx, actor, communityId, adminId)
    if (!(await ownsEveryCommunity(tx, actor.id))) {
      throw new Refusal(because('accounts_shared'))
    }
    await recordAudit(tx, communityId, actor, {
      action: 'admin.reset_link_made',
      subject: { kind: 'admin', id: adminId },
    })
    return makeLink(tx, 'reset', adminId, { madeBy: actor.id })
  })
}

/** With the role, everything ends that was offered to the person here, or by them if they are no longer an owner. */
async function changeAdmin(
  sql: Queries,
  actor: Actor,
  communityId: number,
  adminId: number,
  role: AdminRole | undefined,
  change: (tx: Queries, before: AdminRole) => Promise<void>,
): Promise<string> {
  return transaction(sql, async (tx) => {
    const roles = await requireAdmin(tx, actor, communityId, adminId)
    const own = roles.find(({ admin_id }) => admin_id === adminId)!
    const hasOtherOwner = roles.some((other) => other.role === 'owner' && other.admin_id !== adminId)
    if (!hasOtherOwner && role !== 'owner') throw new Refusal(because('last_owner'))
    await deleteLinksOf(tx, adminId)
    await deleteInvitationsOf(tx, communityId, adminId)
    if (role !== 'owner') {
      await deleteInvitationsBy(tx, communityId, adminId)
      await deleteLinksBy(tx, adminId)
    }
    await change(tx, own.role)
    return own.email
  })
}

async function requireAdmin(tx: Queries, actor: Actor, communityId: number, adminId: number) {
  const roles = await lockRolesAsOwner(tx, actor, communityId)
  if (!roles.some(({ admin_id }) => admin_id === adminId)) throw new NotFound(because('no_such_administrator'))
  return roles
}
