import type { Sql } from './connect.ts'

const PARTITIONED_TABLES = ['call_log', 'events', 'attempts'] as const
const WEEKS_AHEAD = 4
const WEEK_MS = 7 * 24 * 60 * 60 * 1000
/** A Monday. */
const FIRST_WEEK_MS = Date.UTC(2024, 0, 1)
const PARTITION_LOCK = 4_711_002
const CHECK_VIOLATION = '23514'

/** Makes the weekly partitions of this week and the next ones; any number of nodes may call it at once. */
export async function makePartitions(sql: Sql, now = new Date()): Promise<void> {
  const thisWeek = Math.floor((now.getTime() - FIRST_WEEK_MS) / WEEK_MS)
  for (const table of PARTITIONED_TABLES) {
    for (let week = thisWeek; week <= thisWeek + WEEKS_AHEAD; week++) await makePartition(sql, table, week)
  }
}

async function makePartition(sql: Sql, table: string, week: number): Promise<void> {
  const [from, to] = [week, week + 1].map((n) => new Date(FIRST_WEEK_MS + n * WEEK_MS).toISOString().slice(0, 10))
  const name = `${table}_${from!.replaceAll('-', '')}`
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${PARTITION_LOCK})`
      const [row] = await tx<[{ found: boolean }]>`select to_regclass(${name}) is not null as found`
      // Asked first: `create table if not exists … partition of` takes a lock that waits for every reader.
      if (!row.found) {
        await tx.unsafe(
          `create table ${name} partition of ${table} for values from ('${from}T00:00Z') to ('${to}T00:00Z')`,
        )
      }
    })
  } catch (error) {
    // Rows of this week stand in the default partition (after a restore): there they stay.
    if ((error as { code?: string }).code !== CHECK_VIOLATION) throw error
  }
}
