import type { AuditRecord } from '../../wire.ts'
import { contentOf, IT } from './contents.ts'

/** What was done; follows the name of the person who did it. */
const DEEDS: Record<string, string> = {
  'admin.added': `made ${IT} an administrator`,
  'admin.invitation_accepted': `accepted an invitation for ${IT}`,
  'admin.invitation_renewed': `made a new link for the invitation of ${IT}`,
  'admin.invitation_withdrawn': `withdrew the invitation of ${IT}`,
  'admin.invited': `invited ${IT}`,
  'admin.proof_failed': `failed to prove to be ${IT}`,
  'admin.passkey_renamed': `renamed a passkey of ${IT}`,
  'admin.recovery_codes_made': `made new recovery codes for ${IT}`,
  'admin.second_factor_added': `set up a second factor for ${IT}`,
  'admin.second_factor_failed': `noted a wrong second factor of ${IT}`,
  'admin.second_factor_removed': `removed a second factor of ${IT}`,
  'admin.password_changed': `chose a new password for ${IT}`,
  'admin.password_reset': `reset the password of ${IT}`,
  'admin.rejected': `tried what the role of ${IT} does not allow`,
  'admin.removed': `removed the administrator ${IT}`,
  'admin.reset_link_made': `made a link for a new password of ${IT}`,
  'admin.role_changed': `changed the role of ${IT}`,
  'admin.set_up': `set the console up as ${IT}`,
  'admin.sign_in_failed': `noted a failed sign-in of ${IT}`,
  'admin.sign_in_limited': `rejected a sign-in of ${IT}, after too many failures`,
  'admin.signed_in': `signed in as ${IT}`,
  'audit.exported': 'downloaded the audit log',
  'balance.adjusted': `adjusted a balance (number ${IT})`,
  'calls.exported': 'downloaded the log of calls',
  'category.added': `added the category ${IT}`,
  'category.renamed': `renamed the category ${IT}`,
  'category.retired': `retired the category ${IT}`,
  'category.restored': `offered the category ${IT} again`,
  'client.expiry_changed': `changed when the credentials ${IT} expire`,
  'client.created': `made the credentials ${IT}`,
  'client.grace_ended': `ended the time of grace of the credentials ${IT}`,
  'client.jwks_url_changed': `replaced the address of the keys of the credentials ${IT}`,
  'client.key_added': `added a key to the credentials ${IT}`,
  'client.key_removed': `removed a key from the credentials ${IT}`,
  'client.revoked': `revoked the credentials ${IT}`,
  'client.reissued': `made the new secret for the credentials ${IT} again, because the answer was lost`,
  'client.rotated': `made a new secret for the credentials ${IT}`,
  'community.changed': 'changed the settings of the community',
  'community.created': 'made the community',
  'community.filled': 'filled the community with demo data',
  'community.restored': 'restored the community from a backup',
  'delivery.resent': `sent a delivery to the webhook of ${IT} again`,
  'exchange.recorded': `recorded an exchange (number ${IT})`,
  'listing.closed': `closed the listing ${IT}`,
  'listing.published': `published the listing ${IT}`,
  'listing.updated': `changed the listing ${IT}`,
  'listings.exported': 'downloaded all listings',
  'listings.imported': 'imported listings',
  'member.added': `added the member ${IT}`,
  'member.changed': `changed the member ${IT}`,
  'member.erased': `erased the member with the number ${IT}`,
  'member.hidden': `hid the member ${IT} from partners`,
  'member.left': `let the member ${IT} leave`,
  'member.returned': `took the member ${IT} back`,
  'member.shown': `showed the member ${IT} to partners again`,
  'members.exported': 'downloaded all members',
  'members.imported': 'imported members',
  'partner.changed': `changed the partner ${IT}`,
  'partner.deleted': `deleted the partner ${IT}, which was never used`,
  'partner.created': `added the partner ${IT}`,
  'partner_api.disabled': 'switched the partner API off',
  'partner_api.enabled': 'switched the partner API on',
  'subscription.added': `added a webhook for ${IT}`,
  'subscription.changed': `changed webhook number ${IT}`,
  'subscription.created': `subscribed to events with webhook number ${IT}`,
  'subscription.deleted': `deleted webhook number ${IT}`,
  'subscription.disabled': `switched the webhook of ${IT} off`,
  'subscription.paused': `paused the webhook of ${IT}`,
  'subscription.replayed': `sent events to the webhook of ${IT} again`,
  'subscription.resumed': `resumed the webhook of ${IT}`,
  'subscription.secret_reset': `put the webhook of ${IT} on hold for a new secret`,
  'subscription.secret_rotated': `got a new secret for webhook number ${IT}`,
  'subscription.tested': `sent a test event to the webhook of ${IT}`,
  'test_community.created': 'made a test community',
  'test_community.removed': 'removed a test community',
  'transfer.reversed': `reversed transfer number ${IT}`,
  'transfers.exported': 'downloaded the ledger',
}

/** What a rejected call lacked. */
const REJECTED: Record<string, string> = {
  proof_required: 'a sensitive action without proving again who they are',
  role_insufficient: 'what their role does not allow',
  second_factor_required: 'to work here without the second factor that is required',
}

/** What partners do with their own webhooks, whose name would be theirs once more; and members who have no name left. */
const BY_NUMBER = new Set([
  'member.erased',
  'subscription.changed',
  'subscription.created',
  'subscription.deleted',
  'subscription.secret_rotated',
])

/** Who, what, and the end: the subject stands between the two, where it can be a link. */
export interface Sentence {
  who: string
  before: string
  subject: string
  after: string
}

export function sentenceOf(entry: AuditRecord): Sentence {
  const [before, after] = deedOf(entry).split(IT)
  const { kind, id } = entry.subject
  const number = id === null ? 'something' : String(id)
  // An invitation is gone once it was accepted; whom it was for is written beside it.
  const name = kind === 'invitation' ? String(entry.detail['email'] ?? number) : entry.subject.name
  const subject = after === undefined ? '' : BY_NUMBER.has(entry.action) ? number : (name ?? number)
  return { who: actorText(entry.actor), before: before!, subject, after: after ?? '' }
}

function deedOf(entry: AuditRecord): string {
  const content = contentOf(entry)
  if (content !== undefined) return content
  const { action, actor, subject, detail } = entry
  const times = Number(detail['times'] ?? 1)
  if (action === 'admin.sign_in_limited' && times > 1) {
    return `rejected sign-ins of ${IT}, after too many failures (${times} within the hour)`
  }
  const isSelf = actor.kind === 'admin' && subject.kind === 'admin' && actor.id === subject.id
  if (action === 'admin.password_changed' && isSelf) return 'chose a new password'
  if (action === 'admin.signed_in' && isSelf) return 'signed in'
  if (action === 'admin.proof_failed' && isSelf) return 'gave a wrong password or code for a sensitive action'
  if (action === 'admin.second_factor_added' && isSelf) return 'set up a second factor'
  if (action === 'admin.second_factor_removed' && isSelf) return 'removed a second factor'
  if (action === 'admin.passkey_renamed' && isSelf) return 'renamed a passkey'
  if (action === 'admin.recovery_codes_made' && isSelf) return 'made new recovery codes'
  if (action === 'admin.invitation_accepted' && isSelf) return `accepted the invitation as ${String(detail['role'])}`
  if (action === 'admin.rejected' && isSelf) {
    const what = REJECTED[String(detail['reason'])] ?? REJECTED['role_insufficient']
    return times > 1 ? `tried ${times} times within the hour ${what}` : `tried ${what}`
  }
  if (action === 'admin.set_up' && isSelf) return 'set the console up'
  const deed = DEEDS[action]
  if (deed && subject.kind === 'client' && subject.partner) return `${deed} of ${subject.partner}`
  // Something newer than this page: its own name is better than nothing.
  return deed ?? `${action.replace('.', ' ').replaceAll('_', ' ')} (${IT})`
}

export function actorText({ kind, name, partner }: AuditRecord['actor']): string {
  if (kind === 'client') return partner ?? name
  if (kind === 'command') return `${name} at the command line`
  return kind === 'system' ? 'The service' : name
}

/** For the filter; an entry that ends with a dot takes all of a kind. */
export const ACTIONS: readonly { value: string; label: string }[] = [
  { value: 'admin.', label: 'Administrators' },
  { value: 'member.', label: 'Members' },
  { value: 'members.email_read', label: 'Email addresses read' },
  { value: 'listing.', label: 'Listings' },
  { value: 'exchange.recorded', label: 'Exchanges recorded' },
  { value: 'balance.adjusted', label: 'Balances adjusted' },
  { value: 'transfer.reversed', label: 'Transfers reversed' },
  { value: 'partner.', label: 'Partners' },
  { value: 'client.', label: 'Credentials' },
  { value: 'partner_api.', label: 'Partner API switched' },
  { value: 'subscription.', label: 'Webhooks' },
  { value: 'delivery.', label: 'Deliveries sent again' },
  { value: 'category.', label: 'Categories' },
  { value: 'community.', label: 'Settings' },
  { value: 'members.', label: 'Members imported, downloaded or read' },
  { value: 'audit.', label: 'Audit log downloaded' },
]
