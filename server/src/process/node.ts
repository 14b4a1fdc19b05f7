import { setInterval } from 'node:timers'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { startCloseJob } from '../features/aggregates/close-job.ts'
import { startChainJob } from '../features/ledger/chain-job.ts'
import { startAlertJob } from '../features/alerts/alert-job.ts'
import { buildApp, TIMEOUTS, type Timeouts } from '../app.ts'
import type { Config } from '../config.ts'
import { connect, type Sql } from '../postgres/connect.ts'
import { epochReader } from '../postgres/epoch.ts'
import { openListener, type Listener } from '../postgres/listener.ts'
import { createPartitions } from '../postgres/partitions.ts'
import { startPruneJob } from '../postgres/prune.ts'
import { openReplica } from '../postgres/replica.ts'
import { openAccessCache, type AccessCache } from '../http/partner/access.ts'
import { openCallLog } from '../http/partner/call-log.ts'
import { openCounters } from '../http/shared/counters.ts'
import { openFileWork } from '../http/console/file-work.ts'
import { createConsoleReads, type ReplicaReads } from '../http/console/reads.ts'
import { openMailer } from '../mail/mailer.ts'
import { idleConnectionCloser } from '../http/shared/idle-connections.ts'
import { createMetrics, type Metrics } from '../http/shared/metrics.ts'
import { openKeySets, type KeySets } from '../http/partner/key-sets.ts'
import { createRateLimits } from '../http/partner/rate-limit.ts'
import { createDisguise } from '../crypto/disguise.ts'
import { createSecretBox, type SecretBox } from '../crypto/secret-box.ts'
import { createSignInLimits } from '../http/console/sign-in-limits.ts'
import { LONG_WORK_MS } from '../http/shared/time-limit.ts'
import { createLookUp } from '../outbound/look-up.ts'
import { createSender, type Sender } from '../delivery/send.ts'
import { deliveryAnnouncer, hearDeliveries } from '../delivery/wake.ts'
import { watchBacklog } from '../delivery/watch-backlog.ts'
import { startDeliveryWorker, type DeliveryWorker } from '../delivery/worker.ts'
import { throttle } from '../core/throttle.ts'
import { within } from '../core/within.ts'

const REQUEST_CONNECTIONS_MAX = 10
const BACKGROUND_CONNECTIONS_MAX = 2
const DELIVERY_CONNECTIONS_MAX = 4
const LONG_WORK_CONNECTIONS_MAX = 2
/** No request waits for background work, but a connection that went silent must end. */
const BACKGROUND_TIME_LIMIT_MS = 30_000
/**
 * Under a stream of credits, the fan-out runs at this interval instead of after each credit: it takes six and more
 * statements, even without a subscription. A single credit is still fanned out immediately.
 */
const WAKE_INTERVAL_MS = 50
/**
 * New connections that wait to be accepted, as far as the system allows. Beyond that they are dropped without a word,
 * and clients try again after one, three and seven seconds; so in a rush rather take them all and reject calls at once.
 */
const CONNECTIONS_WAITING_MAX = 4096
const SHUTDOWN_TIMEOUT_MS = 10_000
const POOL_END_TIMEOUT_MS = 1000
const IDLE_CHECK_INTERVAL_MS = 50
const PARTITION_INTERVAL_MS = 24 * 60 * 60 * 1000

export interface NodeOptions {
  config: Config
  databaseUrl: string
  secretKey: string
  log: Logger
  onStatement?: (statement: string) => void
  /** Tests pass one that allows their local receivers. */
  sender?: Sender | undefined
  keySets?: KeySets | undefined
  /** Tests pass shorter ones. */
  timeouts?: Timeouts
}

/** A process that serves requests. */
export interface ServingNode {
  port: number
  /** Resolves with the reason if the node cannot continue to serve. */
  failed?: Promise<Error>
  /** Stops accepting requests, finishes those in flight and flushes the call log. */
  close(): Promise<void>
}

export async function startNode(options: NodeOptions): Promise<ServingNode> {
  const { config, databaseUrl, log, onStatement, timeouts = TIMEOUTS } = options
  const sql = connect(databaseUrl, {
    connectionsMax: REQUEST_CONNECTIONS_MAX,
    name: 'requests',
    timeLimitMs: timeouts.handlerMs,
    onStatement,
  })
  // A separate pool, so that a request never queues behind the call log.
  const background = connect(databaseUrl, {
    connectionsMax: BACKGROUND_CONNECTIONS_MAX,
    name: 'background',
    timeLimitMs: BACKGROUND_TIME_LIMIT_MS,
  })
  const longSql = connect(databaseUrl, {
    connectionsMax: LONG_WORK_CONNECTIONS_MAX,
    name: 'long work',
    timeLimitMs: LONG_WORK_MS,
  })
  const files = openFileWork(databaseUrl)
  const partnerFiles = openFileWork(databaseUrl)
  const replica = config.role === 'worker' ? undefined : openReplicaReads(config.replicaUrl, background, log)
  const listener = openListener(config.listenUrl ?? databaseUrl, log)
  const metrics = createMetrics()
  metrics.pools.set('requests', sql).set('background', background).set('long work', longSql)
  const counters = await openCounters(config.redisUrl, timeouts.redisMs, {
    onAway: (error) => log.warn({ err: error }, 'Redis does not count; each process counts in memory'),
    onBack: () => log.info('Redis counts again'),
  })
  const access = openAccessCache({ sql, listener, background, changing: [sql, longSql], log })
  const callLog = openCallLog(background, log, metrics.callsDropped)
  const rateLimits = createRateLimits(counters, config.webConcurrency)
  const box = createSecretBox(options.secretKey, config.previousSecretKey)
  const deliveries = config.role === 'api' ? undefined : startDeliveries({ ...options, box, listener, access, metrics })
  const wakeDeliveries = deliveries
    ? throttle(WAKE_INTERVAL_MS, () => deliveries.wake())
    : deliveryAnnouncer(background, log)
  const mailer = await openMailer(config, log)
  const keySets =
    options.keySets ??
    openKeySets({
      resolve: createLookUp({ allowPrivateTargets: config.webhookAllowPrivateTargets }),
      allowPrivateTargets: config.webhookAllowPrivateTargets,
      onFailure: (url, reason) => log.warn({ url, reason }, 'the keys of a client could not be fetched'),
    })
  const deps = {
    config,
    log,
    sql,
    longSql,
    files,
    partnerFiles,
    reads: createConsoleReads({ config }, files, replica),
    epoch: epochReader(sql),
    access,
    rateLimits,
    signInLimits: createSignInLimits(sql),
    callLog,
    metrics,
    box,
    mailer,
    keySets,
    cursorBox: createSecretBox(options.secretKey, config.previousSecretKey, 'feed cursors'),
    sharedIds: createDisguise(options.secretKey, 'shared ids'),
    wakeDeliveries,
  }
  const app = await buildApp(deps, timeouts)
  const closeIdle = idleConnectionCloser(app.server)

  const ensurePartitions = () =>
    createPartitions(background).catch((error) => log.warn({ err: error }, 'could not create partitions'))
  await ensurePartitions()
  const partitionTimer = setInterval(ensurePartitions, PARTITION_INTERVAL_MS)
  const closeJob = config.role === 'api' ? undefined : startCloseJob(databaseUrl, log)
  const pruneJob = config.role === 'api' ? undefined : startPruneJob(databaseUrl, config.callLogDays, log)
  const alertJob = config.role === 'api' ? undefined : startAlertJob({ sql: background, config, mailer, log })

  const chainJob = config.role === 'api' ? undefined : startChainJob({ background, databaseUrl, log })

  async function close(): Promise<void> {
    clearInterval(partitionTimer)
    // A connection that is busy now becomes idle after its response and would otherwise be kept alive.
    const idleTimer = setInterval(closeIdle, IDLE_CHECK_INTERVAL_MS)
    // In parallel, because both share the same ten seconds. Events of the last requests are delivered by another node
    // or after a restart.
    await Promise.all([within(SHUTDOWN_TIMEOUT_MS, app.close()), deliveries?.close()])
    clearInterval(idleTimer)
    app.server.closeAllConnections()
    await within(SHUTDOWN_TIMEOUT_MS, callLog.close())
    access.close()
    listener.close()
    await Promise.all([alertJob?.stop(), chainJob?.stop()])
    await keySets.close()
    counters.close()
    mailer.close()
    const ofReplica = replica ? [replica.replica, replica.files] : []
    const pools = [sql, longSql, files, partnerFiles, ...ofReplica, background].map((pool) =>
      pool.end({ timeoutMs: POOL_END_TIMEOUT_MS }),
    )
    await Promise.all([...pools, closeJob?.stop(), pruneJob?.stop()])
  }

  try {
    await app.listen({ host: config.host, port: config.port, backlog: CONNECTIONS_WAITING_MAX })
  } catch (error) {
    await close()
    throw error
  }
  return { port: (app.server.address() as AddressInfo).port, close }
}

function openReplicaReads(url: string | undefined, primary: Sql, log: Logger): ReplicaReads | undefined {
  if (!url) return undefined
  return { replica: openReplica(url, { primary, log }), files: openFileWork(url, { isStandbyAllowed: true }) }
}

/** Uses a separate pool, so that a slow delivery never delays a request. */
function startDeliveries({
  config,
  databaseUrl,
  log,
  box,
  listener,
  access,
  metrics,
  sender,
}: NodeOptions & {
  box: SecretBox
  listener: Listener
  access: AccessCache
  metrics: Metrics
}): DeliveryWorker {
  const sql = connect(databaseUrl, {
    connectionsMax: DELIVERY_CONNECTIONS_MAX,
    name: 'deliveries',
    timeLimitMs: BACKGROUND_TIME_LIMIT_MS,
  })
  const allowPrivateTargets = config.webhookAllowPrivateTargets
  const worker = startDeliveryWorker({
    sql,
    log,
    box,
    mayReadAhead: access.isCacheTrusted,
    counter: metrics.deliveries,
    sender: sender ?? createSender({ resolve: createLookUp({ allowPrivateTargets }), allowPrivateTargets }),
  })
  metrics.pools.set('deliveries', sql)
  const backlog = watchBacklog(sql, metrics, log)
  hearDeliveries(listener, worker.wake)
  access.onChange(worker.invalidate)
  return {
    ...worker,
    async close() {
      backlog.stop()
      await worker.close()
      await sql.end({ timeoutMs: POOL_END_TIMEOUT_MS })
    },
  }
}
