import type { Logger } from 'pino'
import { connect, isOutage, type Queries, type Sql } from './connect.ts'

const CONNECTIONS_MAX = 10
/** Leaves time to ask the primary instead, within the time limit of a request. */
export const TIME_LIMIT_MS = 4_000
const CHECK_INTERVAL_MS = 1_000
/** A replica that lags by more is not used. */
export const LAG_MAX_MS = 5_000
/** Positions of the primary to compare with: those of about the last ten seconds. */
const MARKS_MAX = 10
/** SQLSTATE class of a transaction that was rolled back, on a replica because of a conflict with replication. */
const ROLLBACK_CLASS = '40'

/** A copy of the database for reads that may lag a little. */
export interface Replica {
  /** Whether it has everything that was committed more than `LAG_MAX_MS` ago. */
  isFresh(): boolean
  /** Runs the read on the replica, or on the primary if the replica lags, is away or gives up. */
  read<T>(primary: Sql, work: (sql: Sql) => Promise<T>): Promise<T>
  end(options?: { timeoutMs?: number }): Promise<void>
}

export interface ReplicaOptions {
  /** A pool on the primary, to compare with. */
  primary: Sql
  log: Logger
}

export function openReplica(url: string, { primary, log }: ReplicaOptions): Replica {
  const sql = connect(url, {
    connectionsMax: CONNECTIONS_MAX,
    name: 'replica',
    timeLimitMs: TIME_LIMIT_MS,
    isStandbyAllowed: true,
  })
  /** Where the primary was at which time, by our monotonic clock: the clocks of other machines do not matter. */
  let marks: (PrimaryPosition & { atMs: number })[] = []
  let freshUntilMs = -Infinity
  /** Undefined until the first report. */
  let wasFresh: boolean | undefined
  const firstReportMs = performance.now() + LAG_MAX_MS
  let isEnded = false
  let timer: NodeJS.Timeout | undefined

  function isFresh(): boolean {
    return performance.now() - freshUntilMs < LAG_MAX_MS
  }

  async function check(): Promise<void> {
    const startedAtMs = performance.now()
    let reason: string | undefined
    try {
      marks = [...marks, { ...(await readPrimaryPosition(primary)), atMs: startedAtMs }].slice(-MARKS_MAX)
      const { timeline, replayed } = await readReplicaPosition(sql)
      // A replica that follows another server than the primary can be ahead of it, with other content.
      const reached = marks.findLast((mark) => mark.timeline === timeline && mark.position <= replayed)
      if (reached) freshUntilMs = Math.max(freshUntilMs, reached.atMs)
      reason = timeline === undefined ? 'it receives nothing from a primary' : 'it lags'
    } catch (error) {
      reason = (error as Error).message
    }
    if (isEnded) return
    // One that has just been connected may need a moment to catch up.
    if (isFresh() !== wasFresh && (isFresh() || startedAtMs > firstReportMs)) {
      wasFresh = isFresh()
      if (wasFresh) log.info('the replica is used')
      else log.warn({ reason }, 'the replica is not used until it is back')
    }
    timer = setTimeout(check, Math.max(0, startedAtMs + CHECK_INTERVAL_MS - performance.now()))
  }
  void check()

  return {
    isFresh,
    async read(primarySql, work) {
      if (!isFresh()) return work(primarySql)
      try {
        return await work(sql)
      } catch (error) {
        const isAway = isOutage(error)
        if (!isAway && !isRolledBack(error)) throw error
        // Nobody else should wait for it, until it has answered again.
        if (isAway) freshUntilMs = -Infinity
        return work(primarySql)
      }
    },
    end(options) {
      isEnded = true
      clearTimeout(timer)
      return sql.end(options)
    },
  }
}

function isRolledBack(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith(ROLLBACK_CLASS)
}

interface PrimaryPosition {
  timeline: number
  position: bigint
}

/** The position up to which anything was written, in any transaction. */
async function readPrimaryPosition(sql: Queries): Promise<PrimaryPosition> {
  const [row] = await sql<[{ timeline: number; position: string }]>`
    select ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int4 as timeline, lsn::text as position
    from (select pg_current_wal_insert_lsn() as lsn) p`
  return { timeline: row.timeline, position: toPosition(row.position) }
}

/** No timeline: it is no standby, or it has no connection to a primary. */
async function readReplicaPosition(sql: Queries): Promise<{ timeline: number | undefined; replayed: bigint }> {
  const [row] = await sql<[{ timeline: number | null; replayed: string | null }]>`
    select (select received_tli from pg_stat_wal_receiver where pg_is_in_recovery()) as timeline,
      pg_last_wal_replay_lsn()::text as replayed`
  return { timeline: row.timeline ?? undefined, replayed: toPosition(row.replayed ?? '0/0') }
}

/** PostgreSQL writes a position as two hexadecimal halves. */
function toPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}
