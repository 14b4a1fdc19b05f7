import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AccessCache, Caller, TokenLookup, TokenState } from './access.ts'
import type { CallLog } from './call-log.ts'
import { ApiError, tooManyFailures } from '../shared/errors.ts'
import { answerNotModified } from './etag.ts'
import { loggedPath } from './logged-path.ts'
import { contains } from '../../core/networks.ts'
import { acceptJson } from '../shared/read-body.ts'
import { sendError } from '../shared/send-error.ts'
import { requireSingleHeaders } from '../shared/single-headers.ts'
import { andThen, type Awaitable } from '../../core/awaitable.ts'
import type { Scope } from '../../core/scopes.ts'
import { communityOfToken } from '../../crypto/secrets.ts'
import { splitOnce } from '../shared/form.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { RateLimits } from './rate-limit.ts'

export const API_PREFIX = '/api/partner/v1'
export const API_VERSION = '2.0'
export const BODY_BYTES_MAX = 64 * 1024

/** The dependencies of the partner API's frame. */
export interface PartnerFrameDeps {
  readonly access: AccessCache
  readonly rateLimits: RateLimits
  readonly callLog: CallLog
  readonly metrics: Metrics
  /** Called after a change that may have events to deliver. */
  readonly wakeDeliveries: () => void
}

/** The owner of a call in the call log; also known for rejected calls. */
export interface Party {
  communityId: number
  partnerId?: number
  clientId?: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that a token must have; one of several suffices. */
    scope?: Scope | readonly Scope[]
    /** Needs no token. */
    public?: true
  }
  interface FastifyRequest {
    caller: Caller
    party: Party | undefined
    failure: ApiError | undefined
  }
}

/** Adds what all partner routes share. Checks run in this order: token, rate limit, API switch, address, scope. */
export function framePartnerApi(app: FastifyInstance, deps: PartnerFrameDeps): void {
  app.decorateRequest('caller')
  app.decorateRequest('party')
  app.decorateRequest('failure')
  app.decorateReply('entityTag')

  app.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.scope && !config?.public) throw new Error(`${method} ${url} declares no scope`)
  })

  acceptJson(app)

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('api-version', API_VERSION)
    reply.header('cache-control', 'private, no-cache')
    reply.header('x-content-type-options', 'nosniff')
    requireHost(request)
    requireSingleHeaders(request)
    const { scope } = request.routeOptions.config
    const checked = scope
      ? checkAccess(deps, request, reply, scope)
      : request.is404 && attributeToCaller(deps, request, reply)
    if (checked instanceof Promise) return checked
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    const { scope } = request.routeOptions.config
    // A body may take seconds to arrive, and access may be withdrawn meanwhile.
    const checked = scope && request.body !== undefined && checkAccessAgain(deps, request, scope)
    if (checked instanceof Promise) return checked
    done()
  })
  app.addHook('onSend', answerNotModified)
  app.addHook('onResponse', (request, reply, done) => {
    recordCall(deps, request, reply)
    // Public routes only issue and revoke tokens, which causes no events.
    const isChange = request.method !== 'GET' && reply.statusCode < 300 && !request.routeOptions.config.public
    if (isChange) deps.wakeDeliveries()
    done()
  })
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply))
  app.setNotFoundHandler((request, reply) => sendError(new ApiError('not_found'), request, reply))
}

function checkAccess(
  deps: PartnerFrameDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  scope: Scope | readonly Scope[],
): Awaitable<void> {
  return andThen(authenticate(deps, request), (caller) => {
    request.caller = caller
    request.party = caller
    return andThen(admit(deps, request, reply, caller), () => requireScope(caller, scope))
  })
}

/** Everything but the rate limit, which counts a call once. */
function checkAccessAgain(
  deps: PartnerFrameDeps,
  request: FastifyRequest,
  scope: Scope | readonly Scope[],
): Awaitable<void> {
  return andThen(authenticate(deps, request), (caller) => {
    request.caller = caller
    requireOpenApi(caller)
    requireAddress(caller, request.ip)
    requireScope(caller, scope)
  })
}

/** RFC 9112 3.2 */
function requireHost({ raw, headers }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion !== '1.0') {
    throw new ApiError('invalid_request', { description: 'The Host header is missing.' })
  }
}

/** Runs the checks that follow authentication. */
function admit(deps: PartnerFrameDeps, request: FastifyRequest, reply: FastifyReply, caller: Caller): Awaitable<void> {
  return andThen(deps.rateLimits.spend(caller, reply), () => {
    requireOpenApi(caller)
    requireAddress(caller, request.ip)
  })
}

export function requireOpenApi({ partnerApiEnabled, partnerApiDisabledReason: reason }: Caller): void {
  if (partnerApiEnabled) return
  throw new ApiError(
    'partner_api_disabled',
    reason ? { description: `The partner API is switched off: ${reason}` } : {},
  )
}

export function requireAddress(caller: Caller, address: string): void {
  const isAllowed = caller.networks.length === 0 || caller.networks.some((network) => contains(network, address))
  if (!isAllowed) throw new ApiError('ip_not_allowed')
}

export function requireScope(caller: Caller, scope: Scope | readonly Scope[]): void {
  if (typeof scope === 'string' && caller.scopes.includes(scope)) return
  const accepted = [scope].flat() as Scope[]
  if (accepted.some((name) => caller.scopes.includes(name))) return
  throw insufficientScope(accepted)
}

/** Names all scopes that the call needs, so that the caller can ask for them at once. */
export function insufficientScope(scopes: readonly Scope[]): ApiError {
  return new ApiError('insufficient_scope', {
    headers: { 'www-authenticate': `${BEARER}, error="insufficient_scope", scope="${scopes.join(' ')}"` },
  })
}

const BEARER = 'Bearer realm="hourbank"'
const TOKEN_PROBLEMS: Record<Exclude<TokenState, 'live'>, string> = {
  expired: 'The access token has expired; request a new one.',
  revoked: 'The access token was revoked; request a new one.',
  client_revoked: 'The client of this access token was revoked.',
  client_expired: 'The client of this access token has expired.',
  partner_suspended: 'The partner of this access token is suspended.',
}

function authenticate(deps: PartnerFrameDeps, request: FastifyRequest): Awaitable<Caller> {
  const { authorization } = request.headers
  const token = bearerToken(authorization ?? '')
  // Without credentials, or with another scheme, the challenge has no error code (RFC 6750 3.1).
  if (token === undefined && !isBearer(authorization ?? '')) {
    throw new ApiError('authentication_required', { headers: { 'www-authenticate': BEARER } })
  }
  if (token === undefined) {
    throw new ApiError('invalid_request', {
      description: 'The Authorization header must be: Bearer, one space, the access token.',
      headers: { 'www-authenticate': `${BEARER}, error="invalid_request"` },
    })
  }
  return andThen(deps.access.findByToken(token), (lookup) =>
    lookup?.state === 'live' ? lookup.caller : rejectToken(deps, request, token, lookup),
  )
}

async function rejectToken(
  deps: PartnerFrameDeps,
  request: FastifyRequest,
  token: string,
  lookup: TokenLookup | undefined,
): Promise<never> {
  request.party = partyOf(token, lookup)
  // Failures from the same address never block a live token. Beyond the limit, an invalid token gets no explanation.
  if (await deps.rateLimits.countFailure(request.ip)) {
    request.party = undefined
    throw tooManyFailures()
  }
  throw new ApiError('invalid_token', {
    ...(lookup && { description: TOKEN_PROBLEMS[lookup.state as keyof typeof TOKEN_PROBLEMS] }),
    headers: { 'www-authenticate': `${BEARER}, error="invalid_token"` },
  })
}

/** 404 and 405 responses are logged under the token's owner and count against its rate limit. */
async function attributeToCaller(deps: PartnerFrameDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const token = bearerToken(request.headers.authorization ?? '')
  const lookup = token === undefined ? undefined : await deps.access.findByToken(token)
  if (!lookup) return
  // Calls with a dead token are limited by address, like those of rejectToken, and not logged beyond that.
  const isLive = lookup.state === 'live'
  if (isLive || !(await deps.rateLimits.countFailure(request.ip))) request.party = lookup.caller
  if (isLive) await deps.rateLimits.spend(lookup.caller, reply)
}

export function isBearer(authorization: string): boolean {
  return /^bearer(\s|$)/i.test(authorization)
}

function bearerToken(authorization: string): string | undefined {
  // RFC 6750 2.1: b64token
  return /^bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1]
}

/** Even an unknown token names a community, whose administrator can see the attempt. */
function partyOf(token: string, lookup: TokenLookup | undefined): Party | undefined {
  if (lookup) return lookup.caller
  const communityId = communityOfToken(token)
  return communityId === undefined ? undefined : { communityId }
}

function recordCall(deps: PartnerFrameDeps, request: FastifyRequest, reply: FastifyReply): void {
  const { party, failure, ip } = request
  const route = request.routeOptions.url ?? request.routeOfOtherMethods
  const durationMs = reply.elapsedTime
  const labels = { method: request.method, route: route ?? 'none', status: reply.statusCode }
  deps.metrics.requestDurations.observe(labels, durationMs / 1000)
  if (!party) return
  deps.callLog.add({
    atMs: Math.round(Date.now() - durationMs),
    requestId: request.id,
    communityId: party.communityId,
    partnerId: party.partnerId,
    clientId: party.clientId,
    method: request.method,
    path: loggedPath(request, route),
    route,
    status: reply.statusCode,
    error: failure?.code,
    errorDescription: failure?.description,
    durationMs,
    // A proxy may forward anything.
    address: isIP(ip) ? splitOnce(ip, '%')[0] : undefined,
    // Calls beyond the rate limit are many. Without it, those of a second share a row, whatever they call themselves.
    userAgent: failure?.code === 'rate_limited' ? undefined : request.headers['user-agent'],
  })
}
