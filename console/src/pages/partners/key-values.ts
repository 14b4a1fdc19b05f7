import { t } from '@lingui/core/macro'
/** As typed: how the partner's systems prove who they are. */
export interface KeyValues {
  authentication: string
  public_key: string
  jwks_url: string
}

export const BY_SECRET: KeyValues = { authentication: 'secret', public_key: '', jwks_url: '' }

export function checkKeys({ authentication, public_key, jwks_url }: KeyValues): Record<string, string> {
  return {
    ...(authentication === 'keys' && public_key.trim() === '' && { public_key: t`Paste the public key.` }),
    ...(authentication === 'jwks' && jwks_url.trim() === '' && { jwks_url: t`Enter the address.` }),
  }
}

/** Only what was chosen: a key that was pasted before is not sent with another choice. */
export function keysOf({ authentication, public_key, jwks_url }: KeyValues) {
  if (authentication === 'keys') return { public_key }
  return authentication === 'jwks' ? { jwks_url: jwks_url.trim() } : {}
}
