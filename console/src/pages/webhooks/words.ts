import { msg, t } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { formatNumber } from '../../language/formats.ts'
import { translate } from '../../language/translate.ts'
import type { Count, LastAttempt, ListedDelivery, SubscriptionOverview, WaitsFor } from '../../wire.ts'

export function countText({ count, more }: Count): string {
  const number = formatNumber(count)
  return more ? t`more than ${number}` : number
}

/** A subscription that is active and fails is what somebody has to look at. */
export function healthOf({ status, failing_since }: SubscriptionOverview): string {
  return status === 'active' && failing_since !== null ? 'failing' : status
}

export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address
}

const ERROR_KINDS: Record<NonNullable<LastAttempt['error_kind']>, MessageDescriptor> = {
  dns: msg`The name of the receiver was not found`,
  connect: msg`The receiver could not be reached`,
  tls: msg`No secure connection: the certificate of the receiver is not valid`,
  timeout: msg`No answer in time`,
  status: msg`The receiver refused it`,
  refused_address: msg`The receiver is not on the public internet`,
}

export function attemptText({ status, error_kind }: LastAttempt): string {
  const answer = String(status)
  if (error_kind === null) return t`Arrived (answer ${answer})`
  // Like the other lists here, it may lack what a newer node sends during an upgrade.
  const known = ERROR_KINDS[error_kind]
  const cause = known ? translate(known) : error_kind
  return status === null ? cause : t`${cause} (answer ${answer})`
}

/** What partners can be told of; in the order of the filters. */
const EVENT_NAMES: Record<string, MessageDescriptor> = {
  'wallet.credited': msg`Hours credited by a partner`,
  'wallet.reversed': msg`A credit reversed`,
  'wallet.balance_changed': msg`A balance changed`,
  'user.joined': msg`A member joined`,
  'user.updated': msg`A member changed`,
  'user.left': msg`A member left`,
  'user.erased': msg`A member erased`,
  'listing.published': msg`A listing published`,
  'listing.updated': msg`A listing changed`,
  'listing.closed': msg`A listing closed`,
  'webhook.test': msg`A test`,
}

export const EVENT_TYPES = Object.keys(EVENT_NAMES)

export function eventName(type: string): string {
  const known = EVENT_NAMES[type]
  return known ? translate(known) : type
}

const WAITS: Record<WaitsFor, MessageDescriptor> = {
  paused: msg`The webhook is paused`,
  disabled: msg`The webhook is disabled`,
  partner_api: msg`The partner API is switched off`,
  receiver: msg`Several failed in a row, so the receiver gets a pause`,
  retry: msg`The last attempt failed`,
  turn: msg`It is sent as soon as it is its turn`,
}

/** Why a delivery waits. */
export function waitText(waitsFor: WaitsFor | null): string | undefined {
  if (waitsFor === null) return undefined
  const known = WAITS[waitsFor]
  return known ? translate(known) : waitsFor
}

/** Why a webhook was stopped, or a delivery is held back, by the sentences of the service. */
const REASONS: Record<string, MessageDescriptor> = {
  'Its deletion was interrupted: delete it again': msg`Its deletion was interrupted: delete it again`,
  'Nothing but failures for five days': msg`Nothing but failures for five days`,
  'Partners could not see the listing when this event was due': msg`Partners could not see the listing when this event was due`,
  'Partners could not see the member when this event was due': msg`Partners could not see the member when this event was due`,
  "Paused by the community's administrators": msg`Paused by the community’s administrators`,
  'The client that made the subscription has expired': msg`The credentials that made the subscription have expired`,
  'The client that made the subscription is revoked': msg`The credentials that made the subscription are revoked`,
  'The partner is suspended': msg`The partner is suspended`,
  'The receiver answered 410 Gone': msg`The receiver answered 410 Gone`,
  'The secret was lost and reset: get a new one with rotate-secret, then set the status to active': msg`The secret was lost and reset: the partner has to get a new one, then set the status to active`,
}
const LACKS_SCOPE = 'The client lacks the scope '

/** One that is not known here is shown as the service says it. */
export function reasonText(reason: string): string {
  const known = REASONS[reason]
  if (known) return translate(known)
  if (!reason.startsWith(LACKS_SCOPE)) return reason
  const scopes = reason.slice(LACKS_SCOPE.length)
  return t`The credentials lack the scope ${scopes}`
}

/** 'pending' and 'held' are the service's words, not people's. */
export function deliveryLabel(status: ListedDelivery['status']): { label?: string } {
  if (status === 'pending') return { label: t`Waiting` }
  return status === 'held' ? { label: t`Held back` } : {}
}
