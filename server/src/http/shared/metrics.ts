import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { countRequestDurations, type RequestDurations } from './request-durations.ts'

export interface Metrics {
  observeRequest: RequestDurations['observe']
  text(): Promise<string>
  contentType: string
  callsDropped: Counter
  accessCacheTrusted: Gauge
}

/** One registry per app, so that two apps in one process count separately. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = countRequestDurations()
  return {
    observeRequest: durations.observe,
    contentType: registry.contentType,
    async text() {
      return durations.text() + (await registry.metrics())
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
