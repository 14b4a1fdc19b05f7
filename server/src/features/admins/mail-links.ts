import { hashSecret } from '../../crypto/secrets.ts'
import { countAttempt } from '../../http/console/attempt-queries.ts'
import { keyOf } from '../../http/console/sign-in-limits.ts'
import type { Deps } from '../../http/deps.ts'
import { findAdmin } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { findInvited, findMailedInvitation, setMailedToken } from './invitation-queries.ts'
import { communityOfInvitation, newInvitationToken } from './invite-admin.ts'
import { linkAddress, makeLink } from './links.ts'
import { invitationMail, resetMail } from './mails.ts'
import { inBackground, readRecipient } from './notify-person.ts'

/** Reading the mailbox within an hour counts as owning it. */
const MAILED_SECONDS = 60 * 60

const DAY_SECONDS = 24 * 60 * 60
/** Owners type any address, and its reader has asked for nothing. */
const BY_RECIPIENT = { max: 10, windowSeconds: DAY_SECONDS }
const BY_COMMUNITY = { max: 100, windowSeconds: DAY_SECONDS }

type MailDeps = Pick<Deps, 'sql' | 'config' | 'log' | 'mailer'>

/**
 * Sends an invitation with a link of its own, which proves the address. The link that the owner sees stays valid. Over the
 * limit nothing is sent, earlier mails stay valid, and the owner can hand over the link.
 */
export async function mailInvitation(
  { sql, config, mailer }: MailDeps,
  communityId: number,
  id: number,
): Promise<void> {
  if (!mailer.isOn || !(await mayMailInvitation(sql, communityId, id))) return
  const token = newInvitationToken(communityId)
  const secret = { hash: hashSecret(token), seconds: MAILED_SECONDS }
  const invitation = await setMailedToken(sql, communityId, id, secret)
  if (!invitation) return
  const { email, community, role } = invitation
  const link = linkAddress(config.publicUrl, 'invitation', token)
  const to = await readRecipient(sql, email, communityId)
  mailer.send(invitationMail(to, { community, role, link, consoleUrl: `${config.publicUrl}/console/` }))
}

async function mayMailInvitation(sql: Queries, communityId: number, id: number): Promise<boolean> {
  const invited = await findInvited(sql, communityId, id)
  if (!invited) return false
  const { account, owner } = invited
  // One after the other: what is not sent to one recipient does not count for the community.
  const toRecipient = await countAttempt(sql, keyOf('invitation to', account), BY_RECIPIENT)
  if (toRecipient.count > BY_RECIPIENT.max) return false
  const ofCommunity = await countAttempt(sql, keyOf('invitation of', `${owner}`), BY_COMMUNITY)
  return ofCommunity.count <= BY_COMMUNITY.max
}

/** Sends a mailed invitation again after its hour. The answer is the same for an unknown link. */
export function mailInvitationAgain(deps: MailDeps, token: string): void {
  requireMail(deps)
  inBackground(deps, async () => {
    const communityId = communityOfInvitation(token)
    const id = communityId && (await findMailedInvitation(deps.sql, communityId, hashSecret(token)))
    if (communityId && id) await mailInvitation(deps, communityId, id)
  })
}

/** Sends a reset link if there is such an account. Nobody else learns whether there is: the work is not awaited. */
export function mailReset(deps: MailDeps, email: string): void {
  requireMail(deps)
  inBackground(deps, async () => {
    const admin = await findAdmin(deps.sql, email.trim())
    if (!admin) return
    const { token } = await transaction(deps.sql, (tx) => makeLink(tx, 'reset', admin.id, { seconds: MAILED_SECONDS }))
    const to = await readRecipient(deps.sql, admin.email)
    deps.mailer.send(resetMail(to, linkAddress(deps.config.publicUrl, 'reset', token)))
  })
}

function requireMail({ mailer }: MailDeps): void {
  if (mailer.isOn) return
  throw new Refusal(because('no_mail'))
}
