import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export interface Metrics {
  registry: Registry
  requestDurations: Histogram<'method' | 'route' | 'status'>
  batchedCredits: Counter<'result'>
  callsDropped: Counter
  accessCacheTrusted: Gauge
}

/** One registry per app, so that two apps in one process count separately. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return {
    registry,
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
  }
}
