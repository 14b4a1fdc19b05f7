import { isIP } from 'node:net'
import { randomBytes } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  VerifiedRegistrationResponse,
} from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../../postgres/connect.ts'
import {
  consumeChallenge,
  listPasskeysFor,
  setChallenge,
  usePasskey,
  type ChallengeOwner,
  type StoredPasskey,
} from './passkey-queries.ts'

/** Imported on demand: with what it needs, it is a seventh of the code that a start would load. */
const library = () => import('@simplewebauthn/server')

const CHALLENGE_BYTES = 32
const SERVICE_NAME = 'Hourbank'
/** As long as a challenge lasts. */
const TIMEOUT_MS = 5 * 60_000
/** Ed25519, ES256 and RS256 (COSE). The default depends on the runtime, and nodes may differ in theirs. */
const ALGORITHMS = [-8, -7, -257]
/** As a second factor, presence is what counts; the password came before. */
const USER_VERIFICATION = 'preferred'

/** Where the browser is, and the host name that its passkeys belong to. */
export interface Site {
  origin: string
  rpId: string
}

/** What a signature is checked against. */
export interface PasskeyCheck {
  site: Site
  owner: ChallengeOwner
}

/**
 * The frame has checked that the origin is ours. Under the public name only the public address counts: what else
 * listens on another port of that host could pass on what it asked a passkey to sign.
 */
export function siteOf({ publicUrl }: Config, { headers }: FastifyRequest): Site {
  // Browsers send it with every POST.
  const origin = headers.origin ?? publicUrl
  const [given, own] = [new URL(origin), new URL(publicUrl)]
  return { origin: given.hostname === own.hostname ? own.origin : origin, rpId: given.hostname }
}

/** Browsers make passkeys for names only. */
export function requireName({ rpId }: Site): void {
  if (isIP(rpId.replaceAll(/[[\]]/g, '')) === 0) return
  throw new Refusal(because('passkey_needs_name'))
}

export async function creationOptions(
  sql: Queries,
  admin: { id: number; email: string; name: string },
  { site, owner }: PasskeyCheck,
) {
  requireName(site)
  const known = await listPasskeysFor(sql, admin.id, site.rpId)
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: SERVICE_NAME,
    rpID: site.rpId,
    userID: new TextEncoder().encode(`${admin.id}`),
    userName: admin.email,
    userDisplayName: admin.name,
    challenge: await newChallenge(sql, owner),
    timeout: TIMEOUT_MS,
    // An authenticator that has one already must not make another.
    excludeCredentials: known.map(describePasskey),
    authenticatorSelection: { residentKey: 'preferred', userVerification: USER_VERIFICATION },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

export async function requestOptions(sql: Queries, adminId: number, { site, owner }: PasskeyCheck) {
  const known = await listPasskeysFor(sql, adminId, site.rpId)
  if (known.length === 0) throw new Refusal(because('passkey_elsewhere'))
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: site.rpId,
    challenge: await newChallenge(sql, owner),
    timeout: TIMEOUT_MS,
    allowCredentials: known.map(describePasskey),
    userVerification: USER_VERIFICATION,
  })
}

/** Returns what to store, or undefined if this is no passkey made for this challenge and site. */
export async function verifyNewPasskey(
  sql: Queries,
  response: RegistrationResponseJSON,
  { site, owner }: PasskeyCheck,
): Promise<VerifiedRegistrationResponse['registrationInfo']> {
  const challenge = await consumeChallenge(sql, owner)
  if (!challenge) return undefined
  const { verifyRegistrationResponse } = await library()
  const verification = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined)
  return verification?.registrationInfo
}

/** Whether one of the person's passkeys signed the challenge. A challenge counts once, whatever comes of it. */
export async function checkPasskey(
  sql: Queries,
  adminId: number,
  response: AuthenticationResponseJSON,
  { site, owner }: PasskeyCheck,
): Promise<boolean> {
  const challenge = await consumeChallenge(sql, owner)
  const known = await listPasskeysFor(sql, adminId, site.rpId)
  const passkey = known.find(({ credential_id }) => credential_id.toString('base64url') === response.id)
  if (!challenge || !passkey) return false
  const { verifyAuthenticationResponse } = await library()
  // The library throws for whatever does not fit, and for a counter that did not grow.
  const verification = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge.toString('base64url'),
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    credential: {
      id: response.id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: passkey.counter,
      transports: passkey.transports,
    },
    requireUserVerification: false,
  }).catch(() => undefined)
  return verification?.verified === true && usePasskey(sql, passkey.id, verification.authenticationInfo.newCounter)
}

async function newChallenge(sql: Queries, owner: ChallengeOwner) {
  const challenge = randomBytes(CHALLENGE_BYTES)
  await setChallenge(sql, owner, challenge)
  return new Uint8Array(challenge)
}

function describePasskey({ credential_id, transports }: StoredPasskey) {
  return { id: credential_id.toString('base64url'), transports }
}
