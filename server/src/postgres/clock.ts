import type { Queries, Sql } from './connect.ts'

/** How long the monotonic clock is assumed to run at the same speed as the database's clock. */
const SYNC_INTERVAL_MS = 10_000
/** A larger change between the system clock and the monotonic clock means that the system clock was set. */
const STEP_MS = 100

/**
 * The database's time, so that nodes with different clocks agree on when a lease ends. Between two readings it advances
 * with the monotonic clock, because the system clock can be set at any time.
 */
export interface DatabaseClock {
  now(): Date
  /**
   * Call this before using the time. Reads the database's clock at intervals, and immediately after the system clock
   * was set. Returns by how much the database's clock was set; 0 without a reading and after the first one.
   */
  sync(): Promise<number>
}

export function databaseClock(sql: Sql): DatabaseClock {
  let offsetMs = performance.timeOrigin
  let syncedAtMs = -Infinity
  let systemOffsetMs = readSystemOffset()

  /** The embedded database and most small installations share the system clock. */
  function wasSystemClockSet(): boolean {
    return Math.abs(readSystemOffset() - systemOffsetMs) > STEP_MS
  }

  return {
    now: () => new Date(Math.round(performance.now() + offsetMs)),
    async sync() {
      if (performance.now() - syncedAtMs < SYNC_INTERVAL_MS && !wasSystemClockSet()) return 0
      const nextSystemOffsetMs = readSystemOffset()
      const sentAtMs = performance.now()
      const time = await readDatabaseTime(sql)
      const receivedAtMs = performance.now()
      // The database read its clock during the round trip; its midpoint is the best estimate.
      const nextOffsetMs = time.getTime() - (sentAtMs + receivedAtMs) / 2
      const setByMs = syncedAtMs === -Infinity ? 0 : nextOffsetMs - offsetMs
      offsetMs = nextOffsetMs
      syncedAtMs = receivedAtMs
      systemOffsetMs = nextSystemOffsetMs
      return setByMs
    },
  }
}

function readSystemOffset(): number {
  return Date.now() - performance.now()
}

/** Jobs that close or delete by age compare with the database's clock, because it set the timestamps of the rows. */
export async function readDatabaseTime(sql: Queries): Promise<Date> {
  const [row] = await sql<[{ ms: number }]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
  return new Date(Math.round(row.ms))
}
