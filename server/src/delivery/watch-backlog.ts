import type { Logger } from 'pino'
import type { Metrics } from '../http/shared/metrics.ts'
import { backlogAgeSeconds } from '../postgres/across-communities.ts'
import type { Sql } from '../postgres/connect.ts'

/** Once per interval and worker, however many scrape, and however many communities there are. */
const INTERVAL_MS = 15_000

/** Measures how long deliveries wait for a worker. */
export function watchBacklog(sql: Sql, { backlogAge, registry }: Metrics, log: Logger): { stop(): void } {
  registry.registerMetric(backlogAge)
  let isMeasuring = false
  let isStopped = false

  async function measure(): Promise<void> {
    if (isMeasuring) return
    isMeasuring = true
    try {
      backlogAge.set(await backlogAgeSeconds(sql))
    } catch (error) {
      if (isStopped) return
      // Unknown: without the sample, an alert on its absence fires, which NaN would not make it do.
      backlogAge.remove()
      log.warn({ err: error }, 'the delivery backlog could not be measured')
    }
    isMeasuring = false
  }

  const timer = setInterval(() => void measure(), INTERVAL_MS).unref()
  void measure()
  return {
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}
