import type { Sql } from './connect.ts'

/** How long the local clock is trusted to run at the right speed. */
const SYNC_INTERVAL_MS = 10_000

/** The database's time: nodes whose own clocks differ must agree on when a lease ends. */
export interface DatabaseClock {
  now(): Date
  /** Call it before the time is needed; asks the database every so often. */
  sync(): Promise<void>
}

export function databaseClock(sql: Sql): DatabaseClock {
  let offsetMs = 0
  let syncedAtMs = -Infinity
  return {
    now: () => new Date(Date.now() + offsetMs),
    async sync() {
      if (performance.now() - syncedAtMs < SYNC_INTERVAL_MS) return
      const sentAtMs = Date.now()
      const [row] = await sql<[{ ms: number }]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`
      const heardAtMs = Date.now()
      // Half of the way there and back, as the clock was read in between.
      offsetMs = Math.round(row.ms - (sentAtMs + heardAtMs) / 2)
      syncedAtMs = performance.now()
    },
  }
}
