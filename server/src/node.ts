import { setInterval } from 'node:timers'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { buildApp, type Timeouts } from './app.ts'
import type { Config } from './config.ts'
import { connect } from './db/connect.ts'
import { epochReader } from './db/epoch.ts'
import { makePartitions } from './db/partitions.ts'
import { openAccess } from './http/access/access.ts'
import { openCallLog } from './http/call-log.ts'
import { openCounters } from './http/counters.ts'
import { createMetrics } from './http/metrics.ts'
import { createRateLimits } from './http/rate-limit.ts'

const REQUEST_CONNECTIONS_MAX = 10
const BACKGROUND_CONNECTIONS_MAX = 2
const SHUTDOWN_SECONDS = 10
const PARTITION_INTERVAL_MS = 24 * 60 * 60 * 1000

export interface NodeOptions {
  config: Config
  databaseUrl: string
  log: Logger
  onStatement?: (statement: string) => void
  /** Shorter than usual, for tests that wait for them. */
  timeouts?: Timeouts
}

/** One process that answers requests. */
export interface ServingNode {
  port: number
  /** Stops accepting, finishes what is running, flushes what is waiting. */
  close(): Promise<void>
}

export async function startNode(options: NodeOptions): Promise<ServingNode> {
  const { config, databaseUrl, log, onStatement, timeouts } = options
  const sql = connect(databaseUrl, { connectionsMax: REQUEST_CONNECTIONS_MAX, name: 'requests', onStatement })
  // Apart, so that a request never queues behind the call log.
  const background = connect(databaseUrl, { connectionsMax: BACKGROUND_CONNECTIONS_MAX, name: 'background' })
  const listening = connect(config.listenUrl ?? databaseUrl, { connectionsMax: 1, name: 'listening' })
  const metrics = createMetrics()
  const counters = openCounters(config.redisUrl, (error) =>
    log.warn({ err: error }, 'Redis is away; counting in memory'),
  )
  const access = openAccess(sql, listening, background)
  const callLog = openCallLog(background, log, metrics.callsDropped)
  const nodes = config.redisUrl ? 1 : config.webConcurrency
  const rateLimits = createRateLimits(counters, nodes)
  const deps = { config, log, sql, epoch: epochReader(sql), access, rateLimits, callLog, metrics }
  const app = await buildApp(deps, timeouts)

  const tendPartitions = () =>
    makePartitions(background).catch((error) => log.warn({ err: error }, 'partitions could not be made'))
  await tendPartitions()
  const partitionTimer = setInterval(tendPartitions, PARTITION_INTERVAL_MS)

  async function close(): Promise<void> {
    clearInterval(partitionTimer)
    await within(SHUTDOWN_SECONDS, app.close())
    app.server.closeAllConnections()
    await within(SHUTDOWN_SECONDS, callLog.close())
    await access.close()
    counters.close()
    await Promise.all([sql.end({ timeout: 1 }), background.end({ timeout: 1 })])
  }

  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    await close()
    throw error
  }
  return { port: (app.server.address() as AddressInfo).port, close }
}

/** Waits for the work, but no longer than that. */
async function within(seconds: number, work: PromiseLike<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, seconds * 1000)))
  await Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
