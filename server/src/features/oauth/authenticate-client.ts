import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../http/partner/access.ts'
import { isBearer } from '../../http/partner/frame.ts'
import type { Deps } from '../../http/deps.ts'
import { ApiError, tooManyFailures } from '../../http/shared/errors.ts'
import { decodeFormPart, splitOnce } from '../../http/shared/form.ts'
import { communityOfClientId, hashSecret } from '../../crypto/secrets.ts'
import { findByAssertion, type ClientProof } from './find-by-assertion.ts'
import { insertAssertion } from './queries.ts'
import { readAssertion, type ClaimedAssertion } from './verify-assertion.ts'

/** RFC 7523 section 2.2 */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

interface Secret {
  clientId: string
  secret: string
}

interface Assertion {
  clientId: string
  assertion: string
  claimed: ClaimedAssertion
}

type ParameterName = 'client_id' | 'client_secret' | 'client_assertion' | 'client_assertion_type'
type Parameters = Partial<Record<ParameterName, string>>

/**
 * Authenticates a client by HTTP Basic, a secret in the body or an assertion, only one of them (RFC 6749 2.3), and counts
 * the call against its rate limit.
 */
export async function authenticateClient(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Parameters,
): Promise<Caller> {
  const credentials = readCredentials(withoutToken(request.headers.authorization, body), body)
  const { clientId } = credentials
  await deps.rateLimits.rejectGuessing(request.ip, clientId)
  const lookup = await findClient(deps, credentials)
  request.party = lookup?.caller ?? readParty(clientId)
  if (!lookup?.proven) throw await countFailure(deps, request, clientId)
  const { caller, assertion } = lookup
  // Only a client that has proven itself learns that the partner is suspended.
  if (!caller.partnerActive) throw invalidClient('The partner is suspended.')
  // Before the assertion is stored: a client over its limit must not fill the table.
  await deps.rateLimits.spend(caller, reply)
  if (assertion && !(await insertAssertion(deps.sql, caller, hashSecret(assertion.jti), assertion.expiresAt))) {
    throw await countFailure(deps, request, clientId)
  }
  return caller
}

function findClient(deps: Deps, credentials: Secret | Assertion): Promise<ClientProof | undefined> {
  if ('secret' in credentials) return deps.access.findByClientSecret(credentials.clientId, credentials.secret)
  return findByAssertion(deps, credentials.assertion, credentials.claimed)
}

async function countFailure({ rateLimits }: Deps, { ip }: FastifyRequest, clientId: string): Promise<ApiError> {
  // Concurrent guesses may all have passed the first check.
  return (await rateLimits.countFailure(ip, clientId)) ? tooManyFailures() : invalidClient()
}

/**
 * A token authenticates no client (RFC 6749 2.3), but many clients send theirs with every call: beside credentials in the
 * body, it is ignored.
 */
function withoutToken(authorization: string | undefined, body: Parameters): string | undefined {
  const hasCredentials = body.client_secret !== undefined || body.client_assertion !== undefined
  return authorization !== undefined && hasCredentials && isBearer(authorization) ? undefined : authorization
}

function readCredentials(authorization: string | undefined, body: Parameters): Secret | Assertion {
  if (body.client_assertion !== undefined || body.client_assertion_type !== undefined) {
    return readClientAssertion(authorization, body)
  }
  const { client_id: clientId, client_secret: secret } = body
  if (authorization === undefined) {
    if (clientId === undefined || secret === undefined) throw invalidClient()
    return { clientId, secret }
  }
  if (!/^basic(\s|$)/i.test(authorization)) throw invalidClient('Use HTTP Basic or the body for client authentication.')
  const basic = readBasic(authorization)
  if (secret !== undefined || (clientId !== undefined && clientId !== basic.clientId)) {
    throw twoWays()
  }
  return basic
}

/** RFC 7521 4.2: `client_id` may be there as well, if it names the same client. */
function readClientAssertion(authorization: string | undefined, body: Parameters): Assertion {
  const { client_id: clientId, client_secret: secret, client_assertion: assertion, client_assertion_type: type } = body
  if (authorization !== undefined || secret !== undefined) throw twoWays()
  if (assertion === undefined || type === undefined) {
    throw new ApiError('invalid_request', { description: 'client_assertion and client_assertion_type go together.' })
  }
  if (type !== ASSERTION_TYPE) throw invalidClient()
  const claimed = readAssertion(assertion)
  // The assertion is then verified for the client that the caller names, and fails.
  return {
    clientId: clientId ?? claimed.clientId,
    assertion,
    claimed: { ...claimed, clientId: clientId ?? claimed.clientId },
  }
}

function twoWays(): ApiError {
  return new ApiError('invalid_request', { description: 'Use one way of client authentication, not two.' })
}

/** Id and secret are form-encoded before they are concatenated (RFC 6749 2.3.1). */
function readBasic(authorization: string): Secret {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  const bytes = Buffer.from(encoded ?? '', 'base64')
  const decoded = bytes.toString()
  if (!isUtf8(bytes) || !decoded.includes(':')) {
    throw new ApiError('invalid_request', { description: 'The Authorization header is malformed.' })
  }
  const [clientId, secret] = splitOnce(decoded, ':').map(decodeFormPart) as [string, string]
  return { clientId, secret }
}

/** A 401 response must carry a challenge (RFC 9110 15.5.2). */
function invalidClient(description?: string): ApiError {
  return new ApiError('invalid_client', {
    ...(description && { description }),
    headers: { 'www-authenticate': 'Basic realm="hourbank"' },
  })
}

function readParty(clientId: string) {
  const communityId = communityOfClientId(clientId)
  return communityId === undefined ? undefined : { communityId }
}
