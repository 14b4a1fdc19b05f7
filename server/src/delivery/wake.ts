import type { Logger } from 'pino'
import { notifyOtherWorkers } from '../postgres/across-communities.ts'
import type { Sql } from '../postgres/connect.ts'
import type { Listener } from '../postgres/listener.ts'
import { throttle } from '../core/throttle.ts'

const CHANNEL = 'hourbank_deliveries'
/** Announced this often at most: committing a NOTIFY takes a lock that all of a server's databases share. */
const ANNOUNCE_INTERVAL_MS = 50

/** For a node without a worker of its own: tells those that have one. Polling finds what is not heard. */
export function deliveryAnnouncer(sql: Sql, log: Logger): () => void {
  return announcer(log, () => sql`select pg_notify(${CHANNEL}, '')`)
}

/** For a worker: what is due may be another's to send. */
export function otherWorkersAnnouncer(sql: Sql, log: Logger, worker: string): () => void {
  return announcer(log, () => notifyOtherWorkers(sql, CHANNEL, worker))
}

function announcer(log: Logger, announce: () => Promise<unknown>): () => void {
  return throttle(ANNOUNCE_INTERVAL_MS, () => {
    announce().catch((error: unknown) => log.warn({ err: error }, 'deliveries were not announced'))
  })
}

/** Messages missed while the connection is lost do no harm: the worker polls as well. */
export function hearDeliveries(listener: Listener, look: () => void): void {
  listener.listen(CHANNEL, { onMessage: look })
}
