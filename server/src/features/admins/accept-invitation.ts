import type { AdminSession } from '../../http/console/sessions.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { AdminRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { checkName } from './check-admin.ts'
import { addRole } from './create-admin.ts'
import { consumeInvitation, findInvitationRow, type InvitationRow } from './invitation-queries.ts'
import { communityOfInvitation } from './invite-admin.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import { insertAdmin, lockAdmins, lockRoles, type Entrant, type RoleRow } from './queries.ts'

/** What an invitation says of itself. It does not look at accounts: the owner who made the link may ask too. */
export async function inspectInvitation(sql: Queries, token: string) {
  const communityId = communityOfInvitation(token)
  return communityId === undefined ? undefined : findInvitationRow(sql, communityId, hashSecret(token))
}

/** The role is granted to the session's account, which must have the invited email address. */
export async function acceptInvitation(
  sql: Queries,
  { admin }: AdminSession,
  input: { token: string; name?: string },
): Promise<{ community: string; role: AdminRole }> {
  const name = input.name === undefined ? undefined : checkName(input.name)
  return transaction(sql, async (tx) => {
    const found = await inspectInvitation(tx, input.token)
    const invitation = await takeInvitation(tx, input.token)
    if (invitation.email.toLowerCase() !== admin.email.toLowerCase()) {
      throw new Refusal(because('invitation_for_other', { email: invitation.email }))
    }
    await grantOffer(tx, invitation, admin.id, name)
    return { community: found!.community, role: invitation.role }
  })
}

/**
 * Creates the account of someone who has none, with the offered role. An existing account is left alone: a link never
 * sets its password.
 */
export async function createInvitedAdmin(
  sql: Queries,
  input: { token: string; password: string; name?: string },
  isWanted: () => boolean,
): Promise<Entrant> {
  const found = await inspectInvitation(sql, input.token)
  if (!found) throw new ApiError('link_expired')
  await checkPassword(input.password, { email: found.email, field: 'password' })
  const name = input.name === undefined ? found.name : checkName(input.name)
  const password_hash = await hashPassword(input.password, isWanted)
  return transaction(sql, async (tx) => {
    // Of two invitations of different communities that are used at once, one creates the account.
    await lockAdmins(tx)
    const invitation = await takeInvitation(tx, input.token)
    const account = { email: invitation.email, name, password_hash, password_one_time: false }
    const adminId = await insertAdmin(tx, account)
    if (adminId === undefined) throw new Refusal(because('account_exists'))
    await grantOffer(tx, invitation, adminId, name)
    return { id: adminId, password_hash }
  })
}

/** Locks the roles first, as changes of roles do before they end invitations. */
async function takeInvitation(tx: Queries, token: string) {
  const communityId = communityOfInvitation(token)
  const roles = communityId === undefined ? [] : await lockRoles(tx, communityId)
  const invitation = communityId && (await consumeInvitation(tx, communityId, hashSecret(token)))
  if (!invitation) throw new ApiError('link_expired')
  return { ...invitation, roles }
}

async function grantOffer(
  tx: Queries,
  invitation: InvitationRow & { roles: RoleRow[] },
  adminId: number,
  name = invitation.name,
): Promise<void> {
  const { community_id, role, email, roles } = invitation
  if (roles.some(({ admin_id }) => admin_id === adminId)) {
    throw new Refusal(because('administrator_already'))
  }
  const actor = { kind: 'admin', id: adminId, name } as const
  await addRole(tx, actor, community_id, adminId, role, { name, email }, 'admin.invitation_accepted')
}
