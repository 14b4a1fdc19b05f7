import { recordAudit, type Actor } from '../audit/record.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import type { AdminRole } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { checkEmail, checkName } from './check-admin.ts'
import {
  deleteInvitation,
  insertInvitation,
  listInvitations,
  renewInvitationRow,
  type InvitationRow,
} from './invitation-queries.ts'
import { newLinkToken, type NewLink } from './links.ts'
import { lockRolesAsOwner } from './lock-roles-as-owner.ts'

const INVITATION_SECONDS = 7 * 24 * 60 * 60
const INVITATIONS_MAX = 100

type Invited = NewLink & { id: number }

/**
 * Offers a role. It grants nothing before the person accepts it with this link, and never looks at accounts: the answer
 * is the same whether or not there is one.
 */
export async function inviteAdmin(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { email: string; name: string; role: AdminRole },
): Promise<Invited> {
  const [email, name] = [checkEmail(input.email), checkName(input.name)]
  return transaction(sql, async (tx) => {
    const roles = await lockRolesAsOwner(tx, actor, communityId)
    if (roles.some((role) => isSameEmail(role.email, email))) {
      throw new Refusal(because('administrator_known', { email }), { field: 'email' })
    }
    const others = (await listInvitations(tx, communityId)).filter((other) => !isSameEmail(other.email, email))
    if (others.length >= INVITATIONS_MAX) {
      throw new Refusal(because('invitations_max', { max: INVITATIONS_MAX }))
    }
    const { token, ...secret } = newToken(communityId, actor)
    const invitation = await insertInvitation(tx, communityId, { email, name, role: input.role, ...secret })
    await recordInvitation(tx, actor, 'admin.invited', invitation)
    return { id: invitation.id, token, expires_at: invitation.expires_at }
  })
}

/** Replaces the link of an invitation, for example when it was lost or has expired. */
export async function renewInvitation(sql: Queries, actor: Actor, communityId: number, id: number): Promise<Invited> {
  return transaction(sql, async (tx) => {
    await lockRolesAsOwner(tx, actor, communityId)
    const { token, ...secret } = newToken(communityId, actor)
    const invitation = requireInvitation(await renewInvitationRow(tx, communityId, id, secret))
    await recordInvitation(tx, actor, 'admin.invitation_renewed', invitation)
    return { id, token, expires_at: invitation.expires_at }
  })
}

export async function withdrawInvitation(sql: Queries, actor: Actor, communityId: number, id: number): Promise<void> {
  await transaction(sql, async (tx) => {
    await lockRolesAsOwner(tx, actor, communityId)
    const invitation = requireInvitation(await deleteInvitation(tx, communityId, id))
    await recordInvitation(tx, actor, 'admin.invitation_withdrawn', invitation)
  })
}

/** The token names its community, so that a lookup never searches across communities. */
export function newInvitationToken(communityId: number): string {
  return `${communityId}.${newLinkToken()}`
}

function newToken(communityId: number, actor: Actor) {
  const token = newInvitationToken(communityId)
  const invitedBy = actor.kind === 'admin' ? actor.id : undefined
  return { token, tokenHash: hashSecret(token), seconds: INVITATION_SECONDS, invitedBy }
}

/** Returns undefined if the token is not that of an invitation. */
export function communityOfInvitation(token: string): number | undefined {
  const match = /^([1-9]\d{0,14})\.[\w-]+$/.exec(token)
  return match ? Number(match[1]) : undefined
}

function isSameEmail(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function requireInvitation(invitation: InvitationRow | undefined): InvitationRow {
  if (!invitation) throw new NotFound(because('no_such_invitation'))
  return invitation
}

async function recordInvitation(
  tx: Queries,
  actor: Actor,
  action: string,
  { community_id, id, email, role }: InvitationRow,
): Promise<void> {
  await recordAudit(tx, community_id, actor, { action, subject: { kind: 'invitation', id }, detail: { email, role } })
}
