import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from '../../language/translate.ts'
/** What an error means for people, and where there is something to do about it, what. */
const ERROR_WORDS: Record<string, MessageDescriptor> = {
  invalid_request: msg`The request was malformed. The partner’s developers have to look at it.`,
  unsupported_grant_type: msg`The partner asked for a token in a way that is not offered.`,
  invalid_scope: msg`The partner asked for rights that it does not have. You can give them on its page.`,
  invalid_client: msg`Wrong client id or secret, revoked credentials, or a suspended partner.`,
  authentication_required: msg`The call came without an access token.`,
  invalid_token: msg`The access token was unknown, expired or revoked. The partner has to fetch a new one.`,
  insufficient_scope: msg`The partner tried something that it may not do. You can allow it on its page.`,
  ip_not_allowed: msg`The call came from an address that is not on the partner’s list of allowed addresses.`,
  not_found: msg`There is nothing at this address.`,
  user_not_found: msg`There is no such member, or the member left or is hidden from partners.`,
  listing_not_found: msg`There is no such listing, or it is closed.`,
  credit_not_found: msg`There is no credit with this reference.`,
  subscription_not_found: msg`There is no such webhook subscription.`,
  delivery_not_found: msg`There is no such webhook delivery.`,
  method_not_allowed: msg`This is not offered at this address.`,
  reference_conflict: msg`The reference was used before for another member or amount. Nothing was credited.`,
  daily_limit_reached: msg`The partner’s hours for the day are used up. You can allow more on its page.`,
  subscription_limit_reached: msg`The partner has as many webhook subscriptions as it may have.`,
  cursor_expired: msg`The partner has to read the events from the beginning.`,
  resync_required: msg`The service was restored from a backup. The partner has to read its lists from the beginning.`,
  validation_failed: msg`Something in the request was not acceptable.`,
  rate_limited: msg`Too many calls in a minute. You can allow more on the partner’s page.`,
  internal_error: msg`Something went wrong in this service. Report the request id to its operator.`,
  partner_api_disabled: msg`The partner API was switched off.`,
  overloaded: msg`The service was overloaded.`,
  unavailable: msg`The service could not reach its database.`,
}

export function errorWords(error: string | null): string | undefined {
  const known = error === null ? undefined : ERROR_WORDS[error]
  return known && translate(known)
}

/** The part of every path that is the same says nothing. */
export function shortPath(path: string): string {
  return path.replace(/^\/api\/partner\/v1(?=\/)/, '')
}
