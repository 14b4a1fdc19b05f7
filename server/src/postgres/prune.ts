import type { Logger } from 'pino'
import {
  deleteOldAdminRequests,
  deleteOldAlerts,
  deleteOldAttemptCounts,
  deleteOldAssertions,
  deleteOldAttempts,
  deleteOldBrowsers,
  deleteOldCalls,
  deleteOldDeliveriesOf,
  deleteOldEvents,
  deleteOldInvitations,
  deleteOldLinks,
  deleteOldSessions,
  deleteOldTokens,
  hasUnorderedEvents,
  raisePrunedPositions,
  type DeleteOld,
} from './prune-queries.ts'
import { communitiesWithSubscriptions } from './across-communities.ts'
import { readDatabaseTime } from './clock.ts'
import { transaction, type Sql, type Transaction } from './connect.ts'
import { startPeriodicJob, type PeriodicJob } from './periodic-job.ts'
import { dropPartition, partitionsBefore, type PartitionedTable } from './partitions.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const TOKEN_DAYS = 7
/** Expired assertions are rejected anyway; a day allows for any difference between clocks. */
const ASSERTION_DAYS = 1
/** Longer than a form is likely to stay open in a browser. */
const ADMIN_REQUEST_DAYS = 7
/** After they have ended. */
const ALERT_DAYS = 90
export const EVENT_DAYS = 30
/** As long as the cookie. */
const BROWSER_DAYS = 365

const PRUNE_LOCK = 4_711_003
const BATCH_MAX = 1000
/** Per table and run, of deliveries per community: a backlog of years is deleted over several runs. */
const BATCHES_MAX = 1000
const PRUNE_INTERVAL_MS = 60 * 60 * 1000
/** Keeps pruning out of startup. */
const FIRST_RUN_DELAY_MS = 60_000

export interface PruneOptions {
  callLogDays: number
  now: Date
  /** Checked between batches. */
  isStopped?: () => boolean
}

export interface Pruned {
  partitions: string[]
  rows: number
}

/**
 * Deletes rows past their retention: whole partitions where possible, otherwise small batches in separate transactions,
 * so that nothing waits long for a lock. Only one node prunes at a time; others skip their run.
 */
export async function prune(sql: Sql, { callLogDays, now, isStopped = () => false }: PruneOptions): Promise<Pruned> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const pruned: Pruned = { partitions: [], rows: 0 }

  async function dropOld(table: PartitionedTable, days: number): Promise<void> {
    for (const { name, until } of await partitionsBefore(sql, table, before(days))) {
      if (isStopped()) return
      const isDropped = await withPruneLock(sql, async (tx) => {
        if (table === 'events' && !(await advanceFeed(sql, name, until))) return false
        return dropPartition(tx, name)
      })
      if (isDropped) pruned.partitions.push(name)
    }
  }

  async function deleteOld(deleteBatch: DeleteOld, days: number): Promise<void> {
    for (let batch = 0; batch < BATCHES_MAX && !isStopped(); batch++) {
      const rows = (await withPruneLock(sql, (tx) => deleteBatch(tx, before(days), BATCH_MAX))) ?? 0
      pruned.rows += rows
      if (rows < BATCH_MAX) return
    }
  }

  await dropOld('call_groups', callLogDays)
  await deleteOld(deleteOldCalls, callLogDays)
  await deleteOld(deleteOldTokens, TOKEN_DAYS)
  await deleteOld(deleteOldAssertions, ASSERTION_DAYS)
  await deleteOld(deleteOldSessions, TOKEN_DAYS)
  await deleteOld(deleteOldLinks, TOKEN_DAYS)
  await deleteOld(deleteOldInvitations, TOKEN_DAYS)
  await deleteOld(deleteOldBrowsers, BROWSER_DAYS)
  await deleteOld(deleteOldAttemptCounts, 0)
  await deleteOld(deleteOldAdminRequests, ADMIN_REQUEST_DAYS)
  await deleteOld(deleteOldAlerts, ALERT_DAYS)
  // Delete deliveries first: a delivery without its event has nothing to send.
  for (const communityId of await communitiesWithSubscriptions(sql)) {
    await deleteOld(deleteOldDeliveriesOf(communityId), EVENT_DAYS)
  }
  await dropOld('attempts', EVENT_DAYS)
  await deleteOld(deleteOldAttempts, EVENT_DAYS)
  await dropOld('events', EVENT_DAYS)
  await withPruneLock(sql, (tx) => raisePrunedPositions(tx, 'events_default', before(EVENT_DAYS)))
  await deleteOld(deleteOldEvents, EVENT_DAYS)
  return pruned
}

/**
 * Marks the partition's events as pruned in the feed. Committed before they are deleted, so that no reader mistakes the
 * gap for the end. Returns false if some events have no position yet; the partition is then left for the next run.
 */
async function advanceFeed(sql: Sql, partition: string, until: Date): Promise<boolean> {
  // Not in the transaction that drops it: on Citus the owner of the tables, who does that, would wait for the lock of this
  // look by the role of the service, over another connection to the worker.
  if (await hasUnorderedEvents(sql, partition)) return false
  await raisePrunedPositions(sql, partition, until)
  return true
}

/** Returns undefined if another node holds the lock. */
async function withPruneLock<T>(sql: Sql, work: (tx: Transaction) => Promise<T>): Promise<T | undefined> {
  return transaction(sql, async (tx) => {
    const [lock] = await tx<[{ acquired: boolean }]>`select pg_try_advisory_xact_lock(${PRUNE_LOCK}) as acquired`
    return lock.acquired ? work(tx) : undefined
  })
}

/** Prunes one minute after the start, then every hour. */
export function startPruneJob(databaseUrl: string, callLogDays: number, log: Logger): PeriodicJob {
  return startPeriodicJob({
    databaseUrl,
    name: 'pruning',
    connectionsMax: 2,
    firstAfterMs: FIRST_RUN_DELAY_MS,
    everyMs: PRUNE_INTERVAL_MS,
    run: async (sql, isStopped) => {
      const pruned = await prune(sql, { callLogDays, now: await readDatabaseTime(sql), isStopped })
      if (pruned.rows > 0 || pruned.partitions.length > 0) log.info(pruned, 'pruned')
    },
    onError: (error) => log.warn({ err: error }, 'old rows could not be pruned; the next run tries again'),
  })
}
