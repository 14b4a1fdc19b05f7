import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Sql } from '../../postgres/connect.ts'

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export interface Metrics {
  registry: Registry
  requestDurations: Histogram<'method' | 'route' | 'status'>
  batchedCredits: Counter<'result'>
  callsDropped: Counter
  accessCacheTrusted: Gauge
  deliveries: Counter<'outcome'>
  /** Registered on workers only: elsewhere it would say 0 for ever. */
  backlogAge: Gauge
  /** By name, the pools whose waiting callers are counted. */
  pools: Map<string, Pick<Sql, 'waiting'>>
}

/** One registry per app, so that two apps in one process count separately. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const pools: Metrics['pools'] = new Map()
  registry.registerMetric(
    new Gauge({
      name: 'hourbank_database_pool_waiting',
      help: 'Statements and transactions that wait for a connection',
      labelNames: ['pool'],
      registers: [],
      collect() {
        for (const [pool, sql] of pools) this.set({ pool }, sql.waiting())
      },
    }),
  )
  return {
    registry,
    pools,
    requestDurations: new Histogram({
      name: 'hourbank_request_duration_seconds',
      help: 'Duration of requests',
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    }),
    batchedCredits: new Counter({
      name: 'hourbank_batched_credits_total',
      help: 'Items of credit batches by their result',
      labelNames: ['result'],
      registers: [registry],
    }),
    callsDropped: new Counter({
      name: 'hourbank_call_log_dropped_total',
      help: 'Calls that were not written to the call log because too many were waiting',
      registers: [registry],
    }),
    accessCacheTrusted: new Gauge({
      name: 'hourbank_access_cache_trusted',
      help: '1 while tokens are answered from memory; 0 means every request asks the database: see DATABASE_LISTEN_URL',
      registers: [registry],
    }),
    deliveries: new Counter({
      name: 'hourbank_deliveries_total',
      help: 'Results of deliveries: delivered, retried, failed for good, held',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    backlogAge: new Gauge({
      name: 'hourbank_delivery_backlog_age_seconds',
      help: 'How long events and due deliveries have waited for a worker; measured by workers every 15 seconds',
      registers: [],
    }),
  }
}
