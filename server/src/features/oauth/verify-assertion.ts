import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  generateKeyPair,
  jwtVerify,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose'
import { algorithmsOf, SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../crypto/public-keys.ts'

/** An assertion is made for one request, so it needs no longer life. */
export const ASSERTION_SECONDS_MAX = 300
/** Between our clock and the client's. */
export const CLOCK_LEEWAY_SECONDS = 30

/** What an assertion says of itself, before anything is verified. */
export interface ClaimedAssertion {
  clientId: string
  keyId: string | undefined
  algorithm: SigningAlgorithm
}

export interface VerifiedAssertion {
  /** The caller must make sure that it is used once. */
  jti: string
  /** Unix time after which it cannot be accepted. */
  expiresAt: number
}

/** Something malformed claims nothing, and then fails like any other assertion. */
export function readAssertion(text: string): ClaimedAssertion {
  try {
    const { sub } = decodeJwt(text)
    const { kid, alg } = decodeProtectedHeader(text)
    return {
      clientId: typeof sub === 'string' ? sub : '',
      keyId: typeof kid === 'string' ? kid : undefined,
      algorithm: SIGNING_ALGORITHMS.find((name) => name === alg) ?? 'ES256',
    }
  } catch {
    return { clientId: '', keyId: undefined, algorithm: 'ES256' }
  }
}

/** Returns undefined if the assertion is not valid (RFC 7523 section 3). */
export async function verifyAssertion(
  text: string,
  { clientId, algorithm }: ClaimedAssertion,
  keys: readonly JWK[],
  audiences: readonly string[],
): Promise<VerifiedAssertion | undefined> {
  // Without its `alg`, which has been compared: of Ed25519 there are two names.
  const candidates = keys.filter((key) => algorithmsOf(key).includes(algorithm)).map(withoutAlgorithm)
  // Without a key, one that nobody has is tried, so that failures take equally long.
  for (const key of candidates.length > 0 ? candidates : [await decoyFor(algorithm)]) {
    const payload = await verifySignature(text, key, { clientId, algorithm })
    if (payload) return checkClaims(payload, audiences)
  }
  return undefined
}

async function verifySignature(
  text: string,
  key: JWK | CryptoKey,
  { clientId, algorithm }: Pick<ClaimedAssertion, 'clientId' | 'algorithm'>,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(text, key, {
      algorithms: [algorithm],
      issuer: clientId,
      subject: clientId,
      clockTolerance: CLOCK_LEEWAY_SECONDS,
      requiredClaims: ['aud', 'exp', 'jti'],
    })
    return payload
  } catch (error) {
    // Malformed Base64 or an unusable key can surface as other errors; none of them proves anything.
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException)
      return undefined
    throw error
  }
}

/** The library has checked signature, issuer, subject, `exp` and `nbf`. */
function checkClaims({ aud, exp, iat, jti }: JWTPayload, audiences: readonly string[]): VerifiedAssertion | undefined {
  const nowSeconds = Date.now() / 1000
  const lastExpiry = nowSeconds + ASSERTION_SECONDS_MAX + CLOCK_LEEWAY_SECONDS
  const named = [aud].flat()
  // An assertion that another service accepts too could be used here by the operator of that service.
  const isForUs = named.length > 0 && named.every((name) => name !== undefined && audiences.includes(name))
  const isShortLived = exp! <= lastExpiry
  const isFresh =
    iat === undefined ||
    (iat <= nowSeconds + CLOCK_LEEWAY_SECONDS && iat >= nowSeconds - ASSERTION_SECONDS_MAX - CLOCK_LEEWAY_SECONDS)
  if (!isForUs || !isShortLived || !isFresh || typeof jti !== 'string' || jti === '') return undefined
  return { jti, expiresAt: exp! + CLOCK_LEEWAY_SECONDS }
}

function withoutAlgorithm({ alg: _alg, ...key }: JWK): JWK {
  return key
}

const decoys = new Map<SigningAlgorithm, Promise<CryptoKey>>()

function decoyFor(algorithm: SigningAlgorithm): Promise<CryptoKey> {
  const known = decoys.get(algorithm)
  if (known) return known
  const made = generateKeyPair(algorithm).then(({ publicKey }) => publicKey)
  decoys.set(algorithm, made)
  return made
}
