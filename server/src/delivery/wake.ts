import type { Logger } from 'pino'
import { throttle } from '../core/throttle.ts'
import { tracing } from '../core/tracing.ts'
import type { Sql } from '../postgres/connect.ts'
import type { Listener } from '../postgres/listener.ts'

const CHANNEL = 'hourbank_deliveries'
/** Limits the rate of announcements: committing a NOTIFY takes a lock that all databases of a server share. */
const ANNOUNCE_INTERVAL_MS = 50

/** Wakes the workers of all nodes. Messages can get lost: workers poll as well. */
export function deliveryAnnouncer(sql: Sql, log: Logger): () => void {
  return throttle(ANNOUNCE_INTERVAL_MS, () => {
    sql`select pg_notify(${CHANNEL}, ${tracing?.takeAnnouncement() ?? ''})`.catch((error: unknown) =>
      log.warn({ err: error }, 'deliveries were not announced'),
    )
  })
}

export function hearDeliveries(listener: Listener, wake: () => void): void {
  listener.listen(CHANNEL, {
    onMessage(payload) {
      tracing?.hear(payload)
      wake()
    },
  })
}
