import { createServer, type ServerOptions } from 'node:http'
import compress from '@fastify/compress'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { alertRoutes } from './features/alerts/admin-routes.ts'
import { adminRoutes } from './features/admins/admin-routes.ts'
import { linkRoutes } from './features/admins/link-routes.ts'
import { sessionRoutes } from './features/admins/session-routes.ts'
import { passkeyRoutes } from './features/second-factor/passkey-routes.ts'
import { secondFactorRoutes } from './features/second-factor/routes.ts'
import { aggregateRoutes } from './features/aggregates/routes.ts'
import { callAdminRoutes } from './features/calls/admin-routes.ts'
import { partnerApiRoutes } from './features/communities/partner-api-routes.ts'
import { testCommunityRoutes } from './demo/test-community-routes.ts'
import { auditRoutes } from './features/audit/admin-routes.ts'
import { recordRejections } from './features/audit/rejections.ts'
import { communitySettingsRoutes } from './features/communities/admin-settings-routes.ts'
import { csvRoutes } from './features/spreadsheets/admin-routes.ts'
import { EVENT_TYPES } from './features/events/event-types.ts'
import { eventRoutes } from './features/events/routes.ts'
import { ADMIN_PREFIX, frameAdminApi } from './http/console/admin-frame.ts'
import { adminDescriptionRoute, describeAdminApi } from './http/console/admin-openapi.ts'
import { consoleRoutes } from './http/console/console.ts'
import type { Deps } from './http/deps.ts'
import { bestEncoding, COMPRESS_BYTES_MIN } from './http/shared/encoding.ts'
import { createAdmission } from './http/partner/admission.ts'
import { API_PREFIX, API_VERSION, BODY_BYTES_MAX, framePartnerApi } from './http/partner/frame.ts'
import { healthRoutes } from './http/health.ts'
import { securityTxtRoute } from './http/security-txt.ts'
import { answerAnyMethod, answerOtherMethods } from './http/shared/method-not-allowed.ts'
import { describeApi } from './http/partner/openapi.ts'
import { requireOwnHost } from './http/shared/own-host.ts'
import { rejectFragments, toOriginForm } from './http/shared/request-target.ts'
import { limitPipelining } from './http/shared/pipelining.ts'
import { parseQuery, rejectMalformedQuery } from './http/shared/query.ts'
import { GUIDES_PREFIX, guideRoutes } from './http/partner/guides.ts'
import { referenceRoutes } from './http/partner/reference.ts'
import { newRequestId } from './http/shared/request-id.ts'
import { compileSerializer } from './http/shared/serialization.ts'
import { answerInTime } from './http/shared/time-limit.ts'
import { traceRequests } from './http/shared/trace-requests.ts'
import { tracing } from './core/tracing.ts'
import { answerUnframed, ignoreExpectations } from './http/partner/unframed.ts'
import { compileValidator } from './http/shared/validation.ts'
import { listingAdminRoutes } from './features/listings/admin-routes.ts'
import { listingRoutes } from './features/listings/routes.ts'
import { memberAdminRoutes } from './features/members/admin-routes.ts'
import { memberRoutes } from './features/members/routes.ts'
import { oauthMetadataRoute, oauthRoutes } from './features/oauth/routes.ts'
import { overviewRoutes } from './features/overview/admin-routes.ts'
import { partnerAdminRoutes } from './features/partners/admin-routes.ts'
import { removalRoutes } from './features/removals/routes.ts'
import { searchRoutes } from './features/search/admin-routes.ts'
import { transferAdminRoutes } from './features/wallet/admin-routes.ts'
import { walletRoutes } from './features/wallet/routes.ts'
import { Credit } from './features/wallet/schema.ts'
import { webhookAdminRoutes } from './features/subscriptions/admin-routes.ts'
import { endpointRoutes } from './features/subscriptions/endpoint-routes.ts'
import { webhookRoutes } from './features/subscriptions/routes.ts'

export interface Timeouts {
  /** For the response: longer than any statement should take, shorter than a partner's timeout. */
  readonly handlerMs: number
  /** For receiving the complete request: limits how long a slow client can hold a connection. */
  readonly requestMs: number
  /** For a command to Redis; after it, memory counts. */
  readonly redisMs: number
  /** Partner calls that a process answers at a time: enough to fill its statements twice over, few enough to be fast. */
  readonly callsInFlightMax: number
}

export const TIMEOUTS: Timeouts = {
  handlerMs: 10_000,
  requestMs: 30_000,
  redisMs: 250,
  callsInFlightMax: 256,
}
const KEEP_ALIVE_TIMEOUT_MS = 72_000
/** Checks for late requests per timeout; Node checks only every 30 seconds by default. */
const CHECKS_PER_REQUEST_TIMEOUT = 10
const PARAMETER_LENGTH_MAX = 1000
const HEADERS_OF_ALL = { 'api-version': API_VERSION, 'cache-control': 'no-store' }

/** Registers every feature by hand, in the order in which a reader would learn them. */
export async function buildApp(deps: Deps, timeouts: Timeouts = TIMEOUTS): Promise<FastifyInstance> {
  const admission = createAdmission({ callsMax: timeouts.callsInFlightMax, ...deps })
  const serverOptions: ServerOptions = {
    requestTimeout: timeouts.requestMs,
    // Node swaps the two timeouts if the one for headers (a minute by default) is longer.
    headersTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.requestMs / CHECKS_PER_REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // The frame rejects such requests itself, because Node's response has no body.
    requireHostHeader: false,
  }
  const app = fastify({
    serverFactory: (handle) => createServer(serverOptions, limitPipelining(admission.guard(handle))),
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    // No child logger per request: few requests log anything, and those that do add the request id.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_BYTES_MAX,
    // During shutdown, still answer requests on open connections: Fastify's own 503 has a different format.
    return503OnClosing: false,
    trustProxy: deps.config.trustProxy,
    rewriteUrl: toOriginForm,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX, querystringParser: parseQuery },
    ...answerUnframed,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)
  if (tracing) traceRequests(app, tracing)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('request-id', request.id)
    done()
  })
  rejectFragments(app, HEADERS_OF_ALL)
  requireOwnHost(app, deps.config, HEADERS_OF_ALL)
  answerInTime(app, timeouts.handlerMs)
  answerAnyMethod(app)
  ignoreExpectations(app)
  await describeApi(app, deps.config, EVENT_TYPES, { reference_conflict: Credit })
  await describeAdminApi(app, deps.config)
  healthRoutes(app, deps)
  if (deps.config.role === 'worker') return app

  app.addHook('onRequest', ({ headers }, _reply, done) => {
    // The compression plugin reads `*` as gzip, even if the client refuses gzip.
    const { 'accept-encoding': accepted } = headers
    if (accepted !== undefined) headers['accept-encoding'] = bestEncoding(accepted)
    done()
  })
  await app.register(compress, { threshold: COMPRESS_BYTES_MIN, encodings: ['br', 'gzip', 'identity'] })
  securityTxtRoute(app, deps)
  await app.register(consoleRoutes)
  await app.register(referenceRoutes)
  await app.register(async (plain) => guideRoutes(plain, deps.config), { prefix: GUIDES_PREFIX })
  await app.register(async (plain) => {
    const api = plain.withTypeProvider<TypeBoxTypeProvider>()
    framePartnerApi(api, deps)
    answerOtherMethods(api)
    oauthMetadataRoute(api, deps)
  })
  await app.register(
    async (plain) => {
      const api = plain.withTypeProvider<TypeBoxTypeProvider>()
      admission.count(api)
      framePartnerApi(api, deps)
      rejectMalformedQuery(api)
      answerOtherMethods(api)

      await api.register(async (oauth) => oauthRoutes(oauth.withTypeProvider<TypeBoxTypeProvider>(), deps))
      memberRoutes(api, deps)
      listingRoutes(api, deps)
      removalRoutes(api, deps)
      walletRoutes(api, deps)
      aggregateRoutes(api, deps)
      webhookRoutes(api, deps)
      eventRoutes(api, deps)
    },
    { prefix: API_PREFIX },
  )
  await app.register(
    async (plain) => {
      const api = plain.withTypeProvider<TypeBoxTypeProvider>()
      await frameAdminApi(api, deps)
      recordRejections(api, deps)
      rejectMalformedQuery(api)
      answerOtherMethods(api)

      sessionRoutes(api, deps)
      secondFactorRoutes(api, deps)
      passkeyRoutes(api, deps)
      linkRoutes(api, deps)
      overviewRoutes(api, deps)
      alertRoutes(api, deps)
      adminRoutes(api, deps)
      memberAdminRoutes(api, deps)
      listingAdminRoutes(api, deps)
      await api.register(async (csv) => csvRoutes(csv.withTypeProvider<TypeBoxTypeProvider>(), deps))
      searchRoutes(api, deps)
      partnerAdminRoutes(api, deps)
      partnerApiRoutes(api, deps)
      testCommunityRoutes(api, deps)
      callAdminRoutes(api, deps)
      transferAdminRoutes(api, deps)
      webhookAdminRoutes(api, deps)
      endpointRoutes(api, deps)
      communitySettingsRoutes(api, deps)
      auditRoutes(api, deps)
      adminDescriptionRoute(api)
    },
    { prefix: ADMIN_PREFIX },
  )
  return app
}
