import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readDatabaseTime } from '../postgres/clock.ts'
import { DISK_FULL, isEmbeddedDiskFull } from '../postgres/embedded/disk-space.ts'
import { isMigrated } from '../postgres/migrate.ts'
import type { Deps } from './deps.ts'
import { contains, parseNetwork } from '../core/networks.ts'
import { hashSecret, sameHash } from '../crypto/secrets.ts'

const READY_TIMEOUT_MS = 2000
const LOOPBACK = ['127.0.0.0/8', '::1/128'].map((network) => parseNetwork(network))

/** Endpoints for operators: liveness, readiness and metrics. */
export function healthRoutes(app: FastifyInstance, deps: Deps): void {
  // Migrations are never reverted, so one success is enough.
  let migrated = false

  app.get('/healthz', { config: { anyHost: true }, schema: { hide: true } }, async () => ({ status: 'ok' }))

  app.get('/readyz', { config: { anyHost: true }, schema: { hide: true } }, async (request, reply) => {
    const reason = await findReasonNotReady(request)
    return reason === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'unavailable', reason })
  })

  async function findReasonNotReady(request: FastifyRequest): Promise<string | undefined> {
    // Check the disk first: when it is full, PostgreSQL may still answer reads, or may have stopped because of it.
    // The disk of an external database cannot be checked from here.
    const isEmbedded = deps.config.databaseUrl === undefined
    if (isEmbedded && (await isEmbeddedDiskFull(deps.config.dataDir))) return DISK_FULL
    try {
      // Any answer of the database will do.
      await limitTime(migrated ? readDatabaseTime(deps.sql) : isMigrated(deps.sql).then((done) => (migrated = done)))
      return migrated ? undefined : 'The database is not migrated: run hourbank migrate.'
    } catch (error) {
      request.log.warn({ reqId: request.id, err: error }, 'not ready')
      return 'The database cannot be reached.'
    }
  }

  app.get('/metrics', { config: { anyHost: true }, schema: { hide: true } }, async (request, reply) => {
    if (!mayReadMetrics(deps.config.metricsToken, request)) {
      return reply
        .code(403)
        .send({ error: 'forbidden', error_description: 'Metrics are for loopback callers, or METRICS_TOKEN.' })
    }
    const { registry, accessCacheTrusted } = deps.metrics
    accessCacheTrusted.set(deps.access.isCacheTrusted() ? 1 : 0)
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}

function mayReadMetrics(token: string | undefined, request: FastifyRequest): boolean {
  const { authorization, forwarded, 'x-forwarded-for': forwardedFor } = request.headers
  if (token !== undefined) return sameHash(hashSecret(`Bearer ${token}`), hashSecret(authorization ?? ''))
  // A proxy on this machine also connects from loopback, and must not give access to its clients.
  return !forwarded && !forwardedFor && LOOPBACK.some((network) => contains(network, request.ip))
}

async function limitTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${READY_TIMEOUT_MS} ms`)), READY_TIMEOUT_MS)
  })
  await Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
