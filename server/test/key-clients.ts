import { randomUUID } from 'node:crypto'
import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair, CompactSign, type CryptoKey, type JWK } from 'jose'
import { readPublicKey, type SigningAlgorithm } from '../src/crypto/public-keys.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { callNode, TESTER, type Answer, type Bank } from './bank.ts'
import { from } from './oauth.ts'

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export interface TestKey {
  algorithm: SigningAlgorithm
  privateKey: CryptoKey
  pem: string
  privatePem: string
  jwk: JWK
}

export interface KeyClient {
  partnerId: number
  clientId: string
  key: TestKey
}

export async function newKey(algorithm: SigningAlgorithm = 'ES256'): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const [pem, privatePem, jwk] = await Promise.all([
    exportSPKI(publicKey),
    exportPKCS8(privateKey),
    exportJWK(publicKey),
  ])
  return { algorithm, privateKey, pem, privatePem, jwk }
}

/** A partner whose only client has this key and no secret. */
export async function addKeyClient(bank: Bank, key?: TestKey): Promise<KeyClient> {
  key ??= await newKey()
  const input = { name: 'Key bank', scopes: SCOPE_NAMES }
  const authentication = { kind: 'keys', key: await readPublicKey(key.pem) } as const
  const { partnerId, clientId } = await createPartner(bank.sql, TESTER, bank.communityId, input, authentication)
  return { partnerId, clientId, key }
}

export async function addJwksClient(bank: Bank, jwksUrl: string, key: TestKey): Promise<KeyClient> {
  const input = { name: 'Key set bank', scopes: SCOPE_NAMES }
  const authentication = { kind: 'jwks', jwksUrl } as const
  const { partnerId, clientId } = await createPartner(bank.sql, TESTER, bank.communityId, input, authentication)
  return { partnerId, clientId, key }
}

export interface AssertionChanges {
  /** Undefined leaves a claim out. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  key?: TestKey
}

export const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow

/** An assertion that is accepted, but for what the test changes. */
export function assertionOf(url: string, client: KeyClient, changes: AssertionChanges = {}): Promise<string> {
  const { key = client.key } = changes
  const claims = {
    iss: client.clientId,
    sub: client.clientId,
    aud: `${url}${API_PREFIX}/oauth/token`,
    exp: seconds(60),
    iat: seconds(0),
    jti: randomUUID(),
    ...changes.claims,
  }
  // Not SignJWT, which refuses wrong claims.
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: key.algorithm, ...changes.header })
    .sign(key.privateKey, { crit: { 'urn:unknown': true } })
}

export function authenticationBy(assertion: string) {
  return { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion }
}

/** Sends an assertion to the token endpoint. */
export function present(url: string, assertion: string, address = '192.0.2.1'): Promise<Answer> {
  const body = { grant_type: 'client_credentials', ...authenticationBy(assertion) }
  return callNode(url, '/oauth/token', { body, headers: from(address) })
}
