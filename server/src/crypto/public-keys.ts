import { createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { because, type Reason } from '../core/reasons.ts'
import { Refusal } from '../core/refusal.ts'
import { isCleanText } from '../core/texts.ts'

/**
 * The algorithms that clients may sign with. Neither `none` nor HMAC, which would need a shared secret. EdDSA is Ed25519
 * here; libraries use either name (RFC 9864).
 */
export const SIGNING_ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256'] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]

/** NIST SP 800-131A asks for 2048 bits. Beyond 4096, a verification costs more than it adds. */
const RSA_BITS_MIN = 2048
const RSA_BITS_MAX = 4096
/** FIPS 186-5 asks for at least 65537. A large exponent makes each verification slow. */
const RSA_EXPONENT_MIN = 65_537n
const RSA_EXPONENT_MAX = 2n ** 32n
const KEY_ID_LENGTH_MAX = 500

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const PUBLIC_PEM = /^-----BEGIN (?:RSA )?PUBLIC KEY-----\n[^-]+\n-----END (?:RSA )?PUBLIC KEY-----$/

/** A public key without anything that it does not need. */
export interface PublicKey {
  jwk: JWK
  /** RFC 7638, with SHA-256. */
  thumbprint: string
}

/** Reads a PEM or a JWK. Private keys are rejected: only their owner may know them. */
export async function readPublicKey(text: string): Promise<PublicKey> {
  const trimmed = text.trim().replaceAll('\r\n', '\n')
  if (trimmed.includes('PRIVATE KEY')) throw privateKey()
  if (!trimmed.startsWith('{')) return toPublicKey(readPem(trimmed), {})
  let jwk: unknown
  try {
    jwk = JSON.parse(trimmed)
  } catch {
    throw unreadable()
  }
  return readJwk(jwk as JWK)
}

/** Checks a JWK of any origin. */
export async function readJwk(jwk: JWK): Promise<PublicKey> {
  if (typeof jwk !== 'object' || jwk === null) throw unreadable()
  if ('keys' in jwk) throw invalid(because('key_is_set'))
  if (PRIVATE_MEMBERS.some((name) => name in jwk)) throw privateKey()
  if (jwk.use !== undefined && jwk.use !== 'sig') throw invalid(because('key_not_for_signatures'))
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify'))) {
    throw invalid(because('key_not_for_verifying'))
  }
  let key: KeyObject
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    throw unreadable()
  }
  return toPublicKey(key, jwk)
}

export function algorithmsOf({ kty, alg }: JWK): readonly SigningAlgorithm[] {
  if (kty === 'EC') return alg === undefined || alg === 'ES256' ? ['ES256'] : []
  if (kty === 'OKP') return alg === undefined || alg === 'EdDSA' || alg === 'Ed25519' ? ['Ed25519', 'EdDSA'] : []
  return (['PS256', 'RS256'] as const).filter((algorithm) => alg === undefined || algorithm === alg)
}

function readPem(text: string): KeyObject {
  if (!PUBLIC_PEM.test(text)) throw unreadable()
  try {
    return createPublicKey(text)
  } catch {
    throw unreadable()
  }
}

async function toPublicKey(key: KeyObject, { kid, alg }: JWK): Promise<PublicKey> {
  requireStrong(key)
  const bare = key.export({ format: 'jwk' }) as JWK
  // Nodes of the previous version know only the older name.
  const algorithm = alg === 'Ed25519' ? 'EdDSA' : alg
  const jwk = { ...bare, ...(kid !== undefined && { kid }), ...(algorithm !== undefined && { alg: algorithm }) }
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > KEY_ID_LENGTH_MAX || !isCleanText(kid))) {
    throw invalid(because('key_kid_length', { max: KEY_ID_LENGTH_MAX }))
  }
  if (algorithmsOf(jwk).length === 0) {
    throw invalid(because('key_algorithm', { algorithms: SIGNING_ALGORITHMS.join(', ') }))
  }
  return { jwk, thumbprint: await calculateJwkThumbprint(bare) }
}

function requireStrong({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): void {
  if (type === 'ed25519' || (type === 'ec' && details.namedCurve === 'prime256v1')) return
  if (type !== 'rsa') throw invalid(because('key_type'))
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details
  if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) {
    throw invalid(because('key_rsa_bits', { min: RSA_BITS_MIN, max: RSA_BITS_MAX, bits }))
  }
  if (exponent < RSA_EXPONENT_MIN || exponent > RSA_EXPONENT_MAX) {
    throw invalid(because('key_rsa_exponent'))
  }
}

function privateKey(): Refusal {
  return invalid(because('key_private'))
}

/** Without a cause: the parsers' errors quote what they read, which may be a secret. */
function unreadable(): Refusal {
  return invalid(because('key_unreadable'))
}

function invalid(reason: Reason): Refusal {
  return new Refusal(reason, { field: 'public_key' })
}
