import { findHostProblem } from '../../outbound/addresses.ts'
import { readPublicKey, type PublicKey } from '../../crypto/public-keys.ts'
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
    throw new Refusal('Give a public key or the address of a key set, not both.', { field: 'jwks_url' })
  }
  if (publicKey !== undefined) return { kind: 'keys', key: await readPublicKey(publicKey) }
  return jwksUrl === undefined ? BY_SECRET : { kind: 'jwks', jwksUrl: checkJwksUrl(jwksUrl, allowPrivate) }
}

/** The rules of webhooks. Where the name leads is checked at every connection. */
export function checkJwksUrl(text: string, allowPrivate: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.protocol !== 'https:' || url.username || url.password || url.hash) {
    throw invalid('must be an https:// address without credentials or fragment')
  }
  if (url.href.length > JWKS_URL_LENGTH_MAX) throw invalid(`must have at most ${JWKS_URL_LENGTH_MAX} characters`)
  const problem = findHostProblem(url, allowPrivate)
  if (problem) throw invalid(problem)
  return url.href
}

function invalid(message: string): Refusal {
  return new Refusal(`The address of the key set ${message}.`, { field: 'jwks_url' })
}
