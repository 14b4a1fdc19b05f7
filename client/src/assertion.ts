/** Long enough for a slow network, short enough to be worthless afterwards. */
const ASSERTION_SECONDS = 60
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const PEM = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/

/** Tried in this order, because a PEM file does not name its algorithm. */
const ALGORITHMS = [
  { alg: 'ES256', key: { name: 'ECDSA', namedCurve: 'P-256' }, sign: { name: 'ECDSA', hash: 'SHA-256' } },
  { alg: 'EdDSA', key: { name: 'Ed25519' }, sign: { name: 'Ed25519' } },
  { alg: 'PS256', key: { name: 'RSA-PSS', hash: 'SHA-256' }, sign: { name: 'RSA-PSS', saltLength: 32 } },
  { alg: 'RS256', key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, sign: { name: 'RSASSA-PKCS1-v1_5' } },
] as const

/** A private key as JWK: EC on P-256, Ed25519 or RSA. */
export type PrivateJwk = Readonly<Record<string, unknown>>

export interface SignerSettings {
  clientId: string
  /** PKCS #8 as PEM, or a JWK. */
  privateKey: string | PrivateJwk
  /** Where the service finds the public key, if the client publishes several. */
  keyId: string | undefined
  audience: string
  now: () => number
}

/** Creates the parameters that authenticate a client (RFC 7523), new ones for each request. */
export function createSigner({ clientId, privateKey, keyId, audience, now }: SignerSettings) {
  const pem = typeof privateKey === 'string' ? readPem(privateKey) : undefined
  const kid =
    keyId ?? (typeof privateKey === 'object' && typeof privateKey.kid === 'string' ? privateKey.kid : undefined)
  let imported: ReturnType<typeof importKey> | undefined

  return async (): Promise<Record<string, string>> => {
    const { key, alg, sign } = await (imported ??= importKey(pem ?? (privateKey as PrivateJwk)))
    const iat = Math.floor(now() / 1000)
    const header = { alg, ...(kid !== undefined && { kid }) }
    const times = { iat, exp: iat + ASSERTION_SECONDS }
    const claims = { iss: clientId, sub: clientId, aud: audience, jti: crypto.randomUUID(), ...times }
    const content = `${encodeJson(header)}.${encodeJson(claims)}`
    const signature = await crypto.subtle.sign(sign, key, new TextEncoder().encode(content))
    const assertion = `${content}.${encode(new Uint8Array(signature))}`
    return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion }
  }
}

function readPem(text: string): Uint8Array<ArrayBuffer> {
  const [, body] = PEM.exec(text) ?? []
  if (body === undefined) {
    throw new TypeError('privateKey must be a PEM that begins with -----BEGIN PRIVATE KEY-----, or a JWK.')
  }
  return Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0))
}

async function importKey(key: Uint8Array<ArrayBuffer> | PrivateJwk) {
  for (const { alg, key: algorithm, sign } of ALGORITHMS) {
    try {
      if (key instanceof Uint8Array) {
        return { key: await crypto.subtle.importKey('pkcs8', key, algorithm, false, ['sign']), alg, sign }
      }
      // Platforms accept different names for an algorithm here.
      const { alg: own = alg, use: _use, key_ops: _operations, ...bare } = key
      // RFC 9864 gives EdDSA with Ed25519 a name of its own, which Node exports.
      if ((own === 'Ed25519' ? 'EdDSA' : own) !== alg) continue
      return { key: await crypto.subtle.importKey('jwk', bare, algorithm, false, ['sign']), alg, sign }
    } catch {
      // Not a key for this algorithm.
    }
  }
  throw new TypeError('privateKey must be an EC key on P-256, an Ed25519 key or an RSA key.')
}

function encodeJson(value: object): string {
  return encode(new TextEncoder().encode(JSON.stringify(value)))
}

function encode(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
