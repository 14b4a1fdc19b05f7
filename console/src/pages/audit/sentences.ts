import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { roleName } from '../../parts/role-name.ts'
import type { AuditRecord, Role } from '../../wire.ts'
import { contentOf } from './contents.ts'
import { it, who } from './placeholders.ts'

/** What was done, by action. */
const DEEDS: Record<string, MessageDescriptor> = {
  'admin.added': msg`${who} made ${it} an administrator`,
  'admin.invitation_accepted': msg`${who} accepted an invitation for ${it}`,
  'admin.invitation_renewed': msg`${who} made a new link for the invitation of ${it}`,
  'admin.invitation_withdrawn': msg`${who} withdrew the invitation of ${it}`,
  'admin.invited': msg`${who} invited ${it}`,
  'admin.proof_failed': msg`${who} could not prove to be ${it}`,
  'admin.passkey_renamed': msg`${who} renamed a passkey of ${it}`,
  'admin.recovery_codes_made': msg`${who} made new recovery codes for ${it}`,
  'admin.second_factor_added': msg`${who} set up a second factor for ${it}`,
  'admin.second_factor_failed': msg`${who} recorded a wrong second factor from ${it}`,
  'admin.second_factor_removed': msg`${who} removed a second factor of ${it}`,
  'admin.password_changed': msg`${who} chose a new password for ${it}`,
  'admin.password_reset': msg`${who} reset the password of ${it}`,
  'admin.rejected': msg`${who} tried what the role of ${it} does not allow`,
  'admin.removed': msg`${who} removed the administrator ${it}`,
  'admin.reset_link_made': msg`${who} made a link for a new password of ${it}`,
  'admin.role_changed': msg`${who} changed the role of ${it}`,
  'admin.set_up': msg`${who} set the console up as ${it}`,
  'admin.sign_in_failed': msg`${who} recorded a failed sign-in by ${it}`,
  'admin.sign_in_limited': msg`${who} rejected a sign-in of ${it}, after too many failures`,
  'admin.signed_in': msg`${who} signed in as ${it}`,
  'audit.exported': msg`${who} downloaded the audit log`,
  'balance.adjusted': msg`${who} adjusted a balance (number ${it})`,
  'calls.exported': msg`${who} downloaded the log of calls`,
  'category.added': msg`${who} added the category ${it}`,
  'category.renamed': msg`${who} renamed the category ${it}`,
  'category.retired': msg`${who} retired the category ${it}`,
  'category.restored': msg`${who} offered the category ${it} again`,
  'client.expiry_changed': msg`${who} changed when the credentials ${it} expire`,
  'client.created': msg`${who} created the credentials ${it}`,
  'client.grace_ended': msg`${who} ended the grace period of the credentials ${it}`,
  'client.jwks_url_changed': msg`${who} replaced the address of the keys of the credentials ${it}`,
  'client.key_added': msg`${who} added a key to the credentials ${it}`,
  'client.key_removed': msg`${who} removed a key from the credentials ${it}`,
  'client.revoked': msg`${who} revoked the credentials ${it}`,
  'client.reissued': msg`${who} made the new secret for the credentials ${it} again, because the answer was lost`,
  'client.rotated': msg`${who} made a new secret for the credentials ${it}`,
  'community.changed': msg`${who} changed the settings of the community`,
  'community.created': msg`${who} created the community`,
  'community.filled': msg`${who} filled the community with demo data`,
  'community.restored': msg`${who} restored the community from a backup`,
  'delivery.resent': msg`${who} sent a delivery to the webhook of ${it} again`,
  'exchange.recorded': msg`${who} recorded an exchange (number ${it})`,
  'listing.closed': msg`${who} closed the listing ${it}`,
  'listing.published': msg`${who} published the listing ${it}`,
  'listing.updated': msg`${who} changed the listing ${it}`,
  'listings.exported': msg`${who} downloaded all listings`,
  'listings.imported': msg`${who} imported listings`,
  'member.added': msg`${who} added the member ${it}`,
  'member.changed': msg`${who} changed the member ${it}`,
  'member.erased': msg`${who} erased the member with the number ${it}`,
  'member.hidden': msg`${who} hid the member ${it} from partners`,
  'member.left': msg`${who} let the member ${it} leave`,
  'member.returned': msg`${who} took the member ${it} back`,
  'member.shown': msg`${who} showed the member ${it} to partners again`,
  'members.exported': msg`${who} downloaded all members`,
  'members.imported': msg`${who} imported members`,
  'partner.changed': msg`${who} changed the partner ${it}`,
  'partner.deleted': msg`${who} deleted the partner ${it}, which was never used`,
  'partner.created': msg`${who} added the partner ${it}`,
  'partner_api.disabled': msg`${who} switched the partner API off`,
  'partner_api.enabled': msg`${who} switched the partner API on`,
  'subscription.added': msg`${who} added a webhook for ${it}`,
  'subscription.changed': msg`${who} changed webhook number ${it}`,
  'subscription.created': msg`${who} subscribed to events with webhook number ${it}`,
  'subscription.deleted': msg`${who} deleted webhook number ${it}`,
  'subscription.disabled': msg`${who} disabled the webhook of ${it}`,
  'subscription.paused': msg`${who} paused the webhook of ${it}`,
  'subscription.replayed': msg`${who} sent events to the webhook of ${it} again`,
  'subscription.resumed': msg`${who} resumed the webhook of ${it}`,
  'subscription.secret_reset': msg`${who} put the webhook of ${it} on hold for a new secret`,
  'subscription.secret_rotated': msg`${who} got a new secret for webhook number ${it}`,
  'subscription.tested': msg`${who} sent a test event to the webhook of ${it}`,
  'test_community.created': msg`${who} created a test community`,
  'test_community.removed': msg`${who} removed a test community`,
  'transfer.reversed': msg`${who} reversed transfer number ${it}`,
  'transfers.exported': msg`${who} downloaded the ledger`,
}

/** What people do with their own account: it needs no name besides theirs. */
const OWN_DEEDS: Record<string, (detail: AuditRecord['detail']) => MessageDescriptor> = {
  'admin.invitation_accepted': (detail) => {
    const role = roleName(detail['role'] as Role)
    return msg`${who} accepted the invitation as ${role}`
  },
  'admin.passkey_renamed': () => msg`${who} renamed a passkey`,
  'admin.password_changed': () => msg`${who} chose a new password`,
  'admin.proof_failed': () => msg`${who} gave a wrong password or code for a sensitive action`,
  'admin.recovery_codes_made': () => msg`${who} made new recovery codes`,
  'admin.rejected': rejected,
  'admin.second_factor_added': () => msg`${who} set up a second factor`,
  'admin.second_factor_removed': () => msg`${who} removed a second factor`,
  'admin.set_up': () => msg`${who} set the console up`,
  'admin.signed_in': () => msg`${who} signed in`,
}

/** What a rejected call lacked. */
function rejected(detail: AuditRecord['detail']): MessageDescriptor {
  const times = timesOf(detail)
  if (detail['reason'] === 'proof_required') {
    return msg`${plural(times, {
      one: `${who} tried a sensitive action without proving again who they are`,
      other: `${who} tried # times within the hour a sensitive action without proving again who they are`,
    })}`
  }
  if (detail['reason'] === 'second_factor_required') {
    return msg`${plural(times, {
      one: `${who} tried to work here without the second factor that is required`,
      other: `${who} tried # times within the hour to work here without the second factor that is required`,
    })}`
  }
  return msg`${plural(times, {
    one: `${who} tried what their role does not allow`,
    other: `${who} tried # times within the hour what their role does not allow`,
  })}`
}

/** What partners do with their own webhooks, whose name would be theirs once more; and members who have no name left. */
const BY_NUMBER = new Set([
  'member.erased',
  'subscription.changed',
  'subscription.created',
  'subscription.deleted',
  'subscription.secret_rotated',
])

/** A whole sentence, and the words for two of its places: the second can be a link. */
export interface Sentence {
  message: MessageDescriptor
  actor: string
  subject: string
}

export function sentenceOf(entry: AuditRecord): Sentence {
  return { message: deedOf(entry), actor: actorText(entry.actor), subject: subjectText(entry) }
}

function subjectText({ action, subject: { kind, id, name, partner }, detail }: AuditRecord): string {
  const number = id === null ? t`something` : String(id)
  if (BY_NUMBER.has(action)) return number
  // An invitation is gone once it was accepted; whom it was for is written beside it.
  if (kind === 'invitation') return String(detail['email'] ?? number)
  const called = name ?? number
  // Ids say nothing to people; whose credentials they are does.
  return kind === 'client' && partner ? t`${called} of ${partner}` : called
}

function deedOf(entry: AuditRecord): MessageDescriptor {
  const content = contentOf(entry)
  if (content !== undefined) return content
  const { action, actor, subject, detail } = entry
  const times = timesOf(detail)
  if (action === 'admin.sign_in_limited' && times > 1) {
    return msg`${who} rejected sign-ins of ${it}, after too many failures (${times} within the hour)`
  }
  const isSelf = actor.kind === 'admin' && subject.kind === 'admin' && actor.id === subject.id
  const own = isSelf ? OWN_DEEDS[action]?.(detail) : undefined
  const known = own ?? DEEDS[action]
  if (known) return known
  // Something newer than this page: its own name is better than nothing.
  const deed = action.replace('.', ' ').replaceAll('_', ' ')
  return msg`${who} ${deed} (${it})`
}

function timesOf(detail: AuditRecord['detail']): number {
  return Number(detail['times'] ?? 1)
}

function actorText({ kind, name, partner }: AuditRecord['actor']): string {
  if (kind === 'client') return partner ?? name
  if (kind === 'command') return t`${name} at the command line`
  return kind === 'system' ? t`The service` : name
}
