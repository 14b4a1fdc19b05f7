/** Every path of the partner API begins with this. */
export const API_PREFIX = '/api/partner/v1'

export const TOKEN_PATH = `${API_PREFIX}/oauth/token`
export const REVOKE_PATH = `${API_PREFIX}/oauth/revoke`

/** What a token can allow, in the order of the specification. */
export const SCOPES = [
  'users.read',
  'users.pii',
  'listings.read',
  'wallet.read',
  'wallet.write',
  'aggregates.read',
  'webhooks.manage',
] as const

export type Scope = (typeof SCOPES)[number]
