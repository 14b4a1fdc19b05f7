import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../http/partner/access.ts'
import type { Deps } from '../../http/deps.ts'
import { ApiError, tooManyFailures } from '../../http/shared/errors.ts'
import { decodeFormPart, splitOnce } from '../../http/shared/form.ts'
import { communityOfClientId } from '../../crypto/secrets.ts'

interface Credentials {
  clientId: string
  secret: string
}

type Parameters = Partial<Record<'client_id' | 'client_secret', string>>

/** Authenticates a client by HTTP Basic or the body, never both (RFC 6749 2.3). */
export async function authenticateClient(deps: Deps, request: FastifyRequest, body: Parameters): Promise<Caller> {
  const { clientId, secret } = readCredentials(request.headers.authorization, body)
  await deps.rateLimits.rejectGuessing(request.ip, clientId)
  const lookup = await deps.access.findByClientSecret(clientId, secret)
  request.party = lookup?.caller ?? readParty(clientId)
  if (!lookup?.proven) {
    // Concurrent guesses may all have passed the check above.
    throw (await deps.rateLimits.countFailure(request.ip, clientId)) ? tooManyFailures() : invalidClient()
  }
  // Only a client with the right secret learns that the partner is suspended.
  if (!lookup.caller.partnerActive) throw invalidClient('The partner is suspended.')
  return lookup.caller
}

function readCredentials(authorization: string | undefined, body: Parameters): Credentials {
  const { client_id: clientId, client_secret: secret } = body
  if (authorization === undefined) {
    if (clientId === undefined || secret === undefined) throw invalidClient()
    return { clientId, secret }
  }
  if (!/^basic(\s|$)/i.test(authorization)) throw invalidClient('Use HTTP Basic or the body for client authentication.')
  const basic = readBasic(authorization)
  if (secret !== undefined || (clientId !== undefined && clientId !== basic.clientId)) {
    throw new ApiError('invalid_request', { description: 'Use one way of client authentication, not two.' })
  }
  return basic
}

/** Id and secret are form-encoded before they are concatenated (RFC 6749 2.3.1). */
function readBasic(authorization: string): Credentials {
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
