/** What an error means for people, and where there is something to do about it, what. */
const ERROR_WORDS: Record<string, string> = {
  invalid_request: 'The request was malformed. The partner’s developers have to look at it.',
  unsupported_grant_type: 'The partner asked for a token in a way that is not offered.',
  invalid_scope: 'The partner asked for rights that it does not have. You can give them on its page.',
  invalid_client: 'Wrong client id or secret, revoked credentials, or a suspended partner.',
  authentication_required: 'The call came without an access token.',
  invalid_token: 'The access token was unknown, expired or revoked. The partner has to fetch a new one.',
  insufficient_scope: 'The partner tried something that it may not do. You can allow it on its page.',
  ip_not_allowed: 'The call came from an address that is not on the partner’s list of allowed addresses.',
  not_found: 'There is nothing at this address.',
  user_not_found: 'There is no such member, or the member left or is hidden from partners.',
  listing_not_found: 'There is no such listing, or it is closed.',
  credit_not_found: 'There is no credit with this reference.',
  subscription_not_found: 'There is no such webhook subscription.',
  delivery_not_found: 'There is no such webhook delivery.',
  method_not_allowed: 'This is not offered at this address.',
  reference_conflict: 'The reference was used before for another member or amount. Nothing was credited.',
  daily_limit_reached: 'The partner’s hours for the day are used up. You can allow more on its page.',
  subscription_limit_reached: 'The partner has as many webhook subscriptions as it may have.',
  cursor_expired: 'The partner has to read the events from the beginning.',
  resync_required: 'The service was restored from a backup. The partner has to read its lists from the beginning.',
  validation_failed: 'Something in the request was not acceptable.',
  rate_limited: 'Too many calls in a minute. You can allow more on the partner’s page.',
  internal_error: 'Something went wrong in this service. Report the request id to its operator.',
  partner_api_disabled: 'The partner API was switched off.',
  overloaded: 'The service was overloaded.',
  unavailable: 'The service could not reach its database.',
}

export function errorWords(error: string | null): string | undefined {
  return error === null ? undefined : ERROR_WORDS[error]
}

/** The part of every path that is the same says nothing. */
export function shortPath(path: string): string {
  return path.replace(/^\/api\/partner\/v1(?=\/)/, '')
}

export function formatDuration(durationMs: number): string {
  return durationMs < 1_000 ? `${Math.max(1, Math.round(durationMs))} ms` : `${(durationMs / 1_000).toFixed(1)} s`
}
