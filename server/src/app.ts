import compress from '@fastify/compress'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import { consoleRoutes } from './http/console.ts'
import type { Deps } from './http/deps.ts'
import { API_PREFIX, BODY_BYTES_MAX, framePartnerApi } from './http/frame.ts'
import { healthRoutes } from './http/health.ts'
import { shedLoad } from './http/load.ts'
import { answerOtherMethods } from './http/method-not-allowed.ts'
import { describeApi } from './http/openapi.ts'
import { parseQuery, refuseBadQuery } from './http/query.ts'
import { answerUnframed } from './http/unframed.ts'
import { compileValidator } from './http/validation.ts'
import { memberRoutes } from './members/routes.ts'
import { oauthMetadataRoute, oauthRoutes } from './oauth/routes.ts'

/** Longer than any statement should take, shorter than a partner's patience. */
const HANDLER_TIMEOUT_MS = 10_000
/** For a request to arrive whole; whoever trickles it in holds a connection no longer than that. */
const REQUEST_TIMEOUT_MS = 30_000
const KEEP_ALIVE_TIMEOUT_MS = 72_000
const PARAMETER_LENGTH_MAX = 1000
const COMPRESS_BYTES_MIN = 1024

/** The list of features is the architecture. */
export async function buildApp(deps: Deps): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    disableRequestLogging: true,
    genReqId: () => randomUUID(),
    bodyLimit: BODY_BYTES_MAX,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: deps.config.trustProxy,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX, querystringParser: parseQuery },
    ...answerUnframed,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(compileValidator)
  app.addHook('onRequest', async (request, reply) => void reply.header('request-id', request.id))
  await describeApi(app, deps.config)
  healthRoutes(app, deps)
  if (deps.config.role === 'worker') return app

  await app.register(compress, { threshold: COMPRESS_BYTES_MIN, encodings: ['br', 'gzip', 'identity'] })
  await app.register(consoleRoutes)
  await app.register(async (api) => {
    framePartnerApi(api, deps)
    oauthMetadataRoute(api.withTypeProvider<TypeBoxTypeProvider>(), deps)
  })
  await app.register(
    async (plain) => {
      const api = plain.withTypeProvider<TypeBoxTypeProvider>()
      framePartnerApi(api, deps)
      shedLoad(api)
      refuseBadQuery(api)
      const answerTheRest = answerOtherMethods(api)

      await api.register(async (oauth) => oauthRoutes(oauth.withTypeProvider<TypeBoxTypeProvider>(), deps))
      memberRoutes(api, deps)

      answerTheRest()
    },
    { prefix: API_PREFIX },
  )
  return app
}
