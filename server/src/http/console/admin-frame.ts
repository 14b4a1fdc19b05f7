import cookie from '@fastify/cookie'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdminRole } from '../../postgres/across-communities.ts'
import type { Config } from '../../config.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Metrics } from '../shared/metrics.ts'
import { ApiError } from '../shared/errors.ts'
import { splitOnce } from '../shared/form.ts'
import { acceptJson } from '../shared/read-body.ts'
import { sendError } from '../shared/send-error.ts'
import { SESSION_SECONDS, type AdminCommunity } from './session-queries.ts'
import { findSession, findSessionAgain, type AdminSession } from './sessions.ts'
import { requireSingleHeaders } from '../shared/single-headers.ts'
import { isCleanText } from '../../core/texts.ts'

export const ADMIN_PREFIX = '/api/admin/v1'

/** The dependencies of the console API's frame. */
export interface ConsoleFrameDeps {
  readonly config: Config
  readonly sql: Sql
  readonly metrics: Metrics
  /** Called after a change that may have events to deliver. */
  readonly wakeDeliveries: () => void
}

/** What a route requires: a role in the community named in its path, a session, or nothing. */
export type RouteRole = AdminRole | 'session' | 'nobody'

const RANK: Record<AdminRole, number> = { viewer: 1, manager: 2, owner: 3 }
/** Browsers keep no cookie for longer than 400 days. */
const BROWSER_SECONDS = 365 * 24 * 60 * 60
/** Longer than a replica may lag (LAG_MAX_MS), so that a change has arrived there when this ends. */
const CHANGED_SECONDS = 10
/** With it the console says whose page sends the request. */
const PERSON_HEADER = 'hourbank-admin'
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

declare module 'fastify' {
  interface FastifyContextConfig {
    role?: RouteRole
    /** Also open to administrators who still have a one-time password. */
    beforePasswordChange?: true
    /** Sensitive: asks for proof again if the last one is older than 15 minutes. */
    freshProof?: true
  }
  interface FastifyRequest {
    session: AdminSession
    /** The community named in the path, which the caller administers. */
    community: AdminCommunity
  }
}

/** Adds what all console routes share. Checks run in this order: origin, session, role, proof. */
export async function frameAdminApi(app: FastifyInstance, deps: ConsoleFrameDeps): Promise<void> {
  app.decorateRequest('session')
  app.decorateRequest('community')
  app.decorateRequest('failure')
  await app.register(cookie)

  app.addHook('onRoute', ({ config, method, url }) => {
    if (!config?.role) throw new Error(`${method} ${url} declares no role`)
    const needsCommunity = config.role in RANK
    if (needsCommunity !== url.includes('/communities/:slug')) throw new Error(`${url} and its role do not fit`)
  })
  acceptJson(app)

  app.addHook('onRequest', async (request, reply) => {
    // Responses contain names, email addresses and balances, which must not be cached.
    reply.header('cache-control', 'no-store')
    reply.header('x-content-type-options', 'nosniff')
    requireSingleHeaders(request)
    requireOwnOrigin(deps, request)
    if (deps.config.replicaUrl && !SAFE_METHODS.has(request.method)) setChangedCookie(deps, reply)
    if (request.routeOptions.config.role === 'nobody') return
    requireAccess(request, await authenticate(deps, request, reply))
  })
  app.addHook('preValidation', async (request) => {
    // A file is received by its handler, which asks again as well.
    const isReceived = request.body !== undefined && !(request.body instanceof Readable)
    if (isReceived && request.session) await requireAccessAgain(deps.sql, request)
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? request.routeOfOtherMethods ?? 'none'
    const { method } = request
    deps.metrics.requestDurations.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    if (!SAFE_METHODS.has(method) && reply.statusCode < 300) deps.wakeDeliveries()
  })
  app.setErrorHandler((error, request, reply) =>
    sendError(error, request, reply, (failure) => failure.consoleBody(request.id)),
  )
  app.setNotFoundHandler((request, reply) => sendError(new ApiError('not_found'), request, reply))
}

/** SameSite keeps the cookie from other sites; this also rejects other origins of the same site. */
function requireOwnOrigin({ config }: ConsoleFrameDeps, request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return
  const { origin } = request.headers
  const site = request.headers['sec-fetch-site']
  // Not request.host, which follows X-Forwarded-Host: only the Host header was checked to be ours.
  const isOwn = origin !== undefined && (origin === config.publicUrl || hostOf(origin) === request.headers.host)
  if (!isOwn || (site !== undefined && site !== 'same-origin')) throw new ApiError('origin_refused')
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

async function authenticate(
  deps: ConsoleFrameDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AdminSession> {
  const token = request.cookies[cookieName(deps, 'session')]
  const parameters = (request.params ?? {}) as Record<string, string>
  // PostgreSQL rejects NUL characters, and no slug contains any: treat the community as not found.
  const isClean = Object.values(parameters).every(isCleanText)
  const session = token ? await findSession(deps.sql, token, isClean ? parameters.slug : undefined) : undefined
  if (!session) throw new ApiError('sign_in_required')
  if (session.newToken) setSessionCookie(deps, reply, session.newToken)
  if (!isShownTo(request, session)) throw new ApiError('sign_in_required')
  return session
}

/** The tabs of a browser share its cookie: a page of one person must not act for another who signed in since. */
function isShownTo({ headers }: FastifyRequest, { admin }: AdminSession): boolean {
  const shownTo = headers[PERSON_HEADER]
  return shownTo === undefined || shownTo === String(admin.id)
}

function requireAccess(request: FastifyRequest, session: AdminSession): void {
  const { role = 'session', beforePasswordChange, freshProof } = request.routeOptions.config
  request.session = session
  if (session.password_one_time && !beforePasswordChange) throw new ApiError('password_change_required')
  if (role !== 'session') request.community = requireRole(session, role as AdminRole)
  if (freshProof) requireFreshProof(session)
}

/** For when the body has arrived: that may take a while, and access may be withdrawn meanwhile. */
export async function requireAccessAgain(sql: Sql, request: FastifyRequest): Promise<void> {
  const session = await findSessionAgain(sql, request.session.id, request.community?.slug)
  if (!session) throw new ApiError('sign_in_required')
  requireAccess(request, session)
}

/** A community that the caller does not administer gets 404, as if it did not exist. */
function requireRole({ community, has_second_factor }: AdminSession, role: AdminRole): AdminCommunity {
  if (!community) throw new ApiError('not_found')
  if (community.second_factor_required && !has_second_factor) throw new ApiError('second_factor_required')
  if (RANK[community.role] < RANK[role]) throw new ApiError('role_insufficient')
  return community
}

/** For routes that are sensitive only with certain input; the others declare `freshProof`. */
export function requireFreshProof({ proof_is_fresh }: AdminSession): void {
  if (!proof_is_fresh) throw new ApiError('proof_required')
}

type CookieDeps = Pick<ConsoleFrameDeps, 'config'>

/** With TLS, the `__Host-` prefix makes browsers accept the cookie from this host only (RFC 6265bis 4.1.3.2). */
function cookieName({ config }: CookieDeps, what: 'session' | 'browser' | 'second_step' | 'changed'): string {
  return `${isSecure(config.publicUrl) ? '__Host-' : ''}hourbank_${what}`
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:')
}

export function setSessionCookie(deps: ConsoleFrameDeps, reply: FastifyReply, token: string): void {
  void reply.setCookie(cookieName(deps, 'session'), token, { ...cookieOptions(deps), maxAge: SESSION_SECONDS })
}

export function clearSessionCookie(deps: ConsoleFrameDeps, reply: FastifyReply): void {
  void reply.clearCookie(cookieName(deps, 'session'), cookieOptions(deps))
}

/** Lets the limits for guessing recognize a browser from which people have signed in. It gives no access. */
export function setBrowserCookie(deps: ConsoleFrameDeps, reply: FastifyReply, token: string): void {
  void reply.setCookie(cookieName(deps, 'browser'), token, { ...cookieOptions(deps), maxAge: BROWSER_SECONDS })
}

export function browserToken(deps: ConsoleFrameDeps, request: FastifyRequest): string | undefined {
  return request.cookies[cookieName(deps, 'browser')]
}

/** Says which sign-in a second factor completes. It gives no access. */
export function setSecondStepCookie(deps: ConsoleFrameDeps, reply: FastifyReply, token: string): void {
  void reply.setCookie(cookieName(deps, 'second_step'), token, cookieOptions(deps))
}

export function clearSecondStepCookie(deps: ConsoleFrameDeps, reply: FastifyReply): void {
  void reply.clearCookie(cookieName(deps, 'second_step'), cookieOptions(deps))
}

export function secondStepToken(deps: ConsoleFrameDeps, request: FastifyRequest): string | undefined {
  return request.cookies[cookieName(deps, 'second_step')]
}

/** A cookie, because the next request may reach another node. */
function setChangedCookie(deps: ConsoleFrameDeps, reply: FastifyReply): void {
  void reply.setCookie(cookieName(deps, 'changed'), '1', { ...cookieOptions(deps), maxAge: CHANGED_SECONDS })
}

/** Whether this browser may have changed something that a replica does not have yet. */
export function hasJustChanged(deps: CookieDeps, request: FastifyRequest): boolean {
  return request.cookies[cookieName(deps, 'changed')] !== undefined
}

function cookieOptions({ config }: ConsoleFrameDeps) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure(config.publicUrl) } as const
}

/** Returns the address and user agent that the list of sessions shows. */
export function originOf(request: FastifyRequest): { address: string | undefined; userAgent: string | undefined } {
  // A proxy may forward anything.
  const address = isIP(request.ip) ? splitOnce(request.ip, '%')[0] : undefined
  return { address, userAgent: request.headers['user-agent'] }
}
