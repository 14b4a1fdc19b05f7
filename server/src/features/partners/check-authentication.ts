import { findHostProblem } from '../../outbound/addresses.ts'
import { readPublicKey, type PublicKey } from '../../crypto/public-keys.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

export const JWKS_URL_LENGTH_MAX = 2048

/** How a client proves who it is. */
export type Authentication = { kind: 'secret' } | { kind: 'keys'; key: PublicKey } | { kind: 'jwks'; jwksUrl: string }

export const BY_SECRET: Authentication = { kind: 'secret' }

export interface KeyInput {
  /** A PEM or a JWK. */
  publicKey?: string | undefined
  /** Where the client publishes its keys. */
  jwksUrl?: string | undefined
}

/** A client has a secret unless a key or an address is given. */
export async function checkAuthentication(
  { publicKey, jwksUrl }: KeyInput,
  allowPrivate: boolean,
): Promise<Authentication> {
  if (publicKey !== undefined && jwksUrl !== undefined) {
    throw invalid(because('key_or_jwks'))
  }
  if (publicKey !== undefined) return { kind: 'keys', key: await readPublicKey(publicKey) }
  return jwksUrl === undefined ? BY_SECRET : { kind: 'jwks', jwksUrl: checkJwksUrl(jwksUrl, allowPrivate) }
}

/** The rules of webhooks. Where the name leads is checked at every connection. */
export function checkJwksUrl(text: string, allowPrivate: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.protocol !== 'https:' || url.username || url.password || url.hash) {
    throw invalid(because('jwks_form'))
  }
  if (url.href.length > JWKS_URL_LENGTH_MAX) throw invalid(because('jwks_too_long', { max: JWKS_URL_LENGTH_MAX }))
  const problem = findHostProblem(url, allowPrivate)
  if (problem) throw invalid(because(`jwks_${problem}`))
  return url.href
}

function invalid(reason: Reason): Refusal {
  return new Refusal(reason, { field: 'jwks_url' })
}
