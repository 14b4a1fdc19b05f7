import type { Logger } from 'pino'
import type { Sql } from '../db/connect.ts'

const CHANNEL = 'hourbank_deliveries'
/** Announced this often at most: committing a NOTIFY takes a lock that all of a server's databases share. */
const ANNOUNCE_INTERVAL_MS = 50

/** For a node without a worker of its own: tells those that have one. Polling finds what is not heard. */
export function deliveryAnnouncer(sql: Sql, log: Logger): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      sql`select pg_notify(${CHANNEL}, '')`.catch((error) => log.warn({ err: error }, 'deliveries were not announced'))
    }, ANNOUNCE_INTERVAL_MS)
  }
}

export function hearDeliveries(listening: Sql, wake: () => void): void {
  listening.listen(CHANNEL, wake).catch(() => {
    // The driver goes on trying; meanwhile the worker polls.
  })
}
