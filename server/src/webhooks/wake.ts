import type { Logger } from 'pino'
import { notifyOtherWorkers } from '../db/across-communities.ts'
import type { Sql } from '../db/connect.ts'
import type { Listener } from '../db/listener.ts'

const CHANNEL = 'hourbank_deliveries'
/** Announced this often at most: committing a NOTIFY takes a lock that all of a server's databases share. */
const ANNOUNCE_INTERVAL_MS = 50

/** For a node without a worker of its own: tells those that have one. Polling finds what is not heard. */
export function deliveryAnnouncer(sql: Sql, log: Logger): () => void {
  return announceNowAndThen(log, () => sql`select pg_notify(${CHANNEL}, '')`)
}

/** For a worker: what is due may be another's to send. */
export function otherWorkersAnnouncer(sql: Sql, log: Logger, worker: string): () => void {
  return announceNowAndThen(log, () => notifyOtherWorkers(sql, CHANNEL, worker))
}

function announceNowAndThen(log: Logger, announce: () => PromiseLike<unknown>): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      announce().then(undefined, (error: unknown) => log.warn({ err: error }, 'deliveries were not announced'))
    }, ANNOUNCE_INTERVAL_MS)
  }
}

/** Messages missed while the connection is lost do no harm: the worker polls as well. */
export function hearDeliveries(listener: Listener, look: () => void): void {
  listener.listen(CHANNEL, { onMessage: look })
}
