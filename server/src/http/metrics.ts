import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export interface Metrics {
  registry: Registry
  observeRequest(method: string, route: string, status: number, seconds: number): void
  callsDropped: Counter
  accessCacheTrusted: Gauge
}

/** One registry per app, so that two apps in one process do not count together. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requestSeconds = new Histogram({
    name: 'hourbank_request_duration_seconds',
    help: 'Duration of partner API requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  // As many as there are routes and statuses. The library would join and look up the labels of every request anew.
  const byLabels = new Map<string, { observe(seconds: number): void }>()
  return {
    registry,
    observeRequest(method, route, status, seconds) {
      const key = `${method} ${route} ${status}`
      let labelled = byLabels.get(key)
      if (!labelled) byLabels.set(key, (labelled = requestSeconds.labels({ method, route, status })))
      labelled.observe(seconds)
    },
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
