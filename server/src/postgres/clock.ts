import type { Queries, Sql } from './connect.ts'

/** How long the monotonic clock is trusted to run at the speed of the database's. */
const SYNC_INTERVAL_MS = 10_000
/** A larger change between the system's clock and the monotonic one means that the system's was set. */
const STEP_MS = 100

/**
 * The database's time, so that nodes whose own clocks differ agree on when a lease ends. Between two readings it advances
 * by the monotonic clock: the system's clock can be set at any moment.
 */
export interface DatabaseClock {
  now(): Date
  /**
   * Call it before the time is needed. Asks the database at intervals, and at once after the system's clock was set.
   * Returns by how much the database's clock turned out to have been set; 0 without a reading, and after the first.
   */
  sync(): Promise<number>
}

export function databaseClock(sql: Sql): DatabaseClock {
  let offsetMs = performance.timeOrigin
  let syncedAtMs = -Infinity
  let systemOffsetMs = readSystemOffset()

  /** The embedded database and most small ones share the system's clock, so that theirs was set with it. */
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
      const heardAtMs = performance.now()
      // The database read its clock between the two; half the round trip is the best guess.
      const nextOffsetMs = time.getTime() - (sentAtMs + heardAtMs) / 2
      const setByMs = syncedAtMs === -Infinity ? 0 : nextOffsetMs - offsetMs
      offsetMs = nextOffsetMs
      syncedAtMs = heardAtMs
      systemOffsetMs = nextSystemOffsetMs
      return setByMs
    },
  }
}

function readSystemOffset(): number {
  return Date.now() - performance.now()
}

/** For work that decides by the time what to close or delete: the database's clock is the one that rows were written by. */
export async function readDatabaseTime(sql: Queries): Promise<Date> {
  const [row] = await sql<[{ ms: number }]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
  return new Date(Math.round(row.ms))
}
