import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, TokenLookup, TokenState } from './access/access.ts'
import { ApiError } from './errors.ts'
import { answerNotModified } from './etag.ts'
import { contains } from './networks.ts'
import { sendError } from './send-error.ts'
import type { Deps } from './deps.ts'
import type { Scope } from './scopes.ts'
import { communityOfToken } from './secrets.ts'
import { splitOnce } from './form.ts'
import { tooManyFailures } from './rate-limit.ts'

export const API_PREFIX = '/api/partner/v1'
export const API_VERSION = '2.0'
export const BODY_BYTES_MAX = 64 * 1024

/** Who a call is booked to in the call log; known even when the call is refused. */
export interface Party {
  communityId: number
  partnerId?: number
  clientId?: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope a token must carry; one of several suffices. */
    scope?: Scope | readonly Scope[]
    /** Needs no token. */
    public?: true
    /** The methods of this address, for a route that only says that its own is not one of them. */
    allow?: string
  }
  interface FastifyRequest {
    caller: Caller
    party: Party | undefined
    failure: ApiError | undefined
  }
}

/** What every partner request goes through, in the order of the checks: who, how often, switch, address, scope. */
export function framePartnerApi(app: FastifyInstance, deps: Deps): void {
  app.decorateRequest('caller')
  app.decorateRequest('party')
  app.decorateRequest('failure')

  app.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.scope && !config?.public) throw new Error(`${method} ${url} declares no scope`)
  })

  // Fastify reads this type of its own accord.
  app.removeContentTypeParser('text/plain')

  app.addHook('onRequest', async (request, reply) => {
    reply.header('api-version', API_VERSION)
    reply.header('cache-control', 'private, no-cache')
    reply.header('x-content-type-options', 'nosniff')
    requireHost(request)
    const { scope } = request.routeOptions.config
    if (!scope) return identify(deps, request, reply)
    request.caller = await authenticate(deps, request)
    await admit(deps, request, reply, request.caller)
    requireScope(request.caller, scope)
  })
  app.addHook('onSend', answerNotModified)
  app.addHook('onResponse', async (request, reply) => {
    recordCall(deps, request, reply)
    if (request.method !== 'GET' && reply.statusCode < 300) deps.wakeDeliveries()
  })
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply))
  app.setNotFoundHandler((request, reply) => sendError(new ApiError('not_found'), request, reply))
}

/** RFC 9112 3.2 */
function requireHost({ raw, headers }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion !== '1.0') {
    throw new ApiError('invalid_request', { description: 'The Host header is missing.' })
  }
}

/** The checks that follow authentication, whichever way it was done. */
export async function admit(deps: Deps, request: FastifyRequest, reply: FastifyReply, caller: Caller): Promise<void> {
  await deps.rateLimits.spend(caller, reply)
  if (!caller.partnerApiEnabled) {
    const reason = caller.partnerApiDisabledReason
    throw new ApiError(
      'partner_api_disabled',
      reason ? { description: `The partner API is switched off: ${reason}` } : {},
    )
  }
  requireAddress(caller, request.ip)
}

export function requireAddress(caller: Caller, address: string): void {
  const allowed = caller.networks.length === 0 || caller.networks.some((network) => contains(network, address))
  if (!allowed) throw new ApiError('ip_not_allowed')
}

export function requireScope(caller: Caller, scope: Scope | readonly Scope[]): void {
  const wanted = [scope].flat() as Scope[]
  if (wanted.some((name) => caller.scopes.includes(name))) return
  throw new ApiError('insufficient_scope', {
    headers: { 'www-authenticate': `${BEARER}, error="insufficient_scope", scope="${wanted.join(' ')}"` },
  })
}

const BEARER = 'Bearer realm="hourbank"'
const NOT_LIVE: Record<Exclude<TokenState, 'live'>, string> = {
  expired: 'The access token has expired; request a new one.',
  revoked: 'The access token was revoked; request a new one.',
  client_revoked: 'The client of this access token was revoked.',
  partner_suspended: 'The partner of this access token is suspended.',
}

async function authenticate(deps: Deps, request: FastifyRequest): Promise<Caller> {
  const { authorization } = request.headers
  // No credentials, or those of another scheme: a challenge without an error code (RFC 6750 3.1).
  if (authorization === undefined || !/^bearer(\s|$)/i.test(authorization)) {
    throw new ApiError('authentication_required', { headers: { 'www-authenticate': BEARER } })
  }
  const token = bearerToken(authorization)
  if (token === undefined) {
    throw new ApiError('invalid_request', {
      description: 'The Authorization header must be: Bearer, one space, the access token.',
      headers: { 'www-authenticate': `${BEARER}, error="invalid_request"` },
    })
  }
  const lookup = await deps.access.byToken(token)
  request.party = partyOf(token, lookup)
  if (lookup?.state === 'live') return lookup.caller
  // A live token is never refused for the failures of its neighbours; a dead one beyond the limit is not even explained.
  if (await deps.rateLimits.countFailure(request.ip)) {
    request.party = undefined
    throw tooManyFailures()
  }
  throw new ApiError('invalid_token', {
    ...(lookup && { description: NOT_LIVE[lookup.state as keyof typeof NOT_LIVE] }),
    headers: { 'www-authenticate': `${BEARER}, error="invalid_token"` },
  })
}

/** An unknown path or method is refused to everyone, but booked to whoever proves to be calling, and counted. */
async function identify(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!request.is404 && !request.routeOptions.config.allow) return
  const token = bearerToken(request.headers.authorization ?? '')
  const lookup = token === undefined ? undefined : await deps.access.byToken(token)
  if (lookup) request.party = lookup.caller
  if (lookup?.state === 'live') await deps.rateLimits.spend(lookup.caller, reply)
}

function bearerToken(authorization: string): string | undefined {
  // RFC 6750 2.1: b64token
  return /^bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1]
}

/** An unknown token still names its community, whose administrator may want to see the attempt. */
function partyOf(token: string, lookup: TokenLookup | undefined): Party | undefined {
  const communityId = communityOfToken(token)
  return lookup?.caller ?? (communityId === undefined ? undefined : { communityId })
}

function recordCall(deps: Deps, request: FastifyRequest, reply: FastifyReply): void {
  const { party, failure } = request
  const route = request.is404 ? undefined : request.routeOptions.url
  deps.metrics.requestSeconds.observe(
    { method: request.method, route: route ?? 'none', status: reply.statusCode },
    reply.elapsedTime / 1000,
  )
  if (!party) return
  deps.callLog.add({
    at: new Date(Date.now() - reply.elapsedTime),
    requestId: request.id,
    communityId: party.communityId,
    partnerId: party.partnerId,
    clientId: party.clientId,
    method: request.method,
    // Without the query: it may hold what a person searched for.
    path: splitOnce(request.url, '?')[0],
    route,
    status: reply.statusCode,
    error: failure?.code,
    errorDescription: failure?.description,
    durationMs: reply.elapsedTime,
    // A proxy may forward anything.
    address: isIP(request.ip) ? splitOnce(request.ip, '%')[0] : undefined,
    userAgent: request.headers['user-agent'],
  })
}
