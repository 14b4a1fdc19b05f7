import type { Count, LastAttempt, ListedDelivery, SubscriptionOverview, WaitsFor } from '../../wire.ts'

const number = new Intl.NumberFormat('en-GB')

export function countText({ count, more }: Count): string {
  return more ? `more than ${number.format(count)}` : number.format(count)
}

/** A subscription that is active and fails is what somebody has to look at. */
export function healthOf({ status, failing_since }: SubscriptionOverview): string {
  return status === 'active' && failing_since !== null ? 'failing' : status
}

export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address
}

const ERROR_KINDS: Record<NonNullable<LastAttempt['error_kind']>, string> = {
  dns: 'The name of the receiver was not found',
  connect: 'The receiver could not be reached',
  tls: 'No secure connection: the certificate of the receiver is not valid',
  timeout: 'No answer in time',
  status: 'The receiver refused it',
  refused_address: 'The receiver is not on the public internet',
}

export function attemptText({ status, error_kind }: LastAttempt): string {
  if (error_kind === null) return `Arrived (answer ${status})`
  return status === null ? ERROR_KINDS[error_kind] : `${ERROR_KINDS[error_kind]} (answer ${status})`
}

/** What partners can be told of; in the order of the filters. */
export const EVENT_NAMES: Record<string, string> = {
  'wallet.credited': 'Hours credited by a partner',
  'wallet.reversed': 'A credit reversed',
  'wallet.balance_changed': 'A balance changed',
  'user.joined': 'A member joined',
  'user.updated': 'A member changed',
  'user.left': 'A member left',
  'user.erased': 'A member erased',
  'listing.published': 'A listing published',
  'listing.updated': 'A listing changed',
  'listing.closed': 'A listing closed',
  'webhook.test': 'A test',
}

const WAITS: Record<WaitsFor, string> = {
  paused: 'The webhook is paused',
  disabled: 'The webhook is switched off',
  partner_api: 'The partner API is switched off',
  receiver: 'Several failed in a row, so the receiver gets a pause',
  retry: 'The last attempt failed',
  turn: 'It is sent as soon as it is its turn',
}

/** Why a delivery waits. */
export function waitText(waitsFor: WaitsFor | null): string | undefined {
  return waitsFor === null ? undefined : WAITS[waitsFor]
}

/** 'pending' and 'held' are the service's words, not people's. */
export function deliveryLabel(status: ListedDelivery['status']): { label?: string } {
  if (status === 'pending') return { label: 'Waiting' }
  return status === 'held' ? { label: 'Held back' } : {}
}
