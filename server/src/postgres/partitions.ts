import { readDatabaseTime } from './clock.ts'
import { identifier, type Queries, type Sql, transaction, type Transaction } from './connect.ts'

export const PARTITIONED_TABLES = ['call_groups', 'events', 'attempts'] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

const WEEKS_AHEAD = 4
const WEEK_MS = 7 * 24 * 60 * 60 * 1000
/** A Monday. */
const FIRST_WEEK_MS = Date.UTC(2024, 0, 1)
const PARTITION_LOCK = 4_711_002
const CHECK_VIOLATION = '23514'
const LOCK_NOT_AVAILABLE = '55P03'
/**
 * Making and dropping a partition needs the table for itself for a moment. Behind whoever waits for that, everybody else
 * waits too: behind a long read (a backup) the whole service would stand. So it waits this long at most, and comes again.
 */
const LOCK_TIMEOUT = '200ms'

/** Makes the weekly partitions of this week and the next ones; any number of nodes may call it at once. */
export async function makePartitions(sql: Sql, at?: Date): Promise<void> {
  const now = at ?? (await readDatabaseTime(sql))
  const thisWeek = Math.floor((now.getTime() - FIRST_WEEK_MS) / WEEK_MS)
  const weeks = Array.from({ length: WEEKS_AHEAD + 1 }, (_, n) => thisWeek + n)
  const wanted = PARTITIONED_TABLES.flatMap((table) =>
    weeks.map((week) => ({ table, week, name: nameOf(table, week) })),
  )
  // Asked first, all at once: mostly there is nothing to do.
  const there = await existing(
    sql,
    wanted.map(({ name }) => name),
  )
  for (const { table, week, name } of wanted) if (!there.has(name)) await makePartition(sql, table, week)
}

async function makePartition(sql: Sql, table: string, week: number): Promise<void> {
  const name = nameOf(table, week)
  try {
    await transaction(sql, async (tx) => {
      await tx`select pg_advisory_xact_lock(${PARTITION_LOCK})`
      // Once more, under the lock; `create table if not exists … partition of` takes one that waits for every reader.
      if ((await existing(tx, [name])).has(name)) return
      await limitLockWait(tx)
      const [from, to] = [startOf(week), startOf(week + 1)]
      await tx.unsafe(
        `create table ${name} partition of ${table} for values from ('${from}T00:00Z') to ('${to}T00:00Z')`,
      )
      // As migration 0010 has it for all tables; partitions do not take it over.
      await tx.unsafe(`alter table ${name} alter column community_id set statistics 0`)
    })
  } catch (error) {
    const { code } = error as { code?: string }
    // Rows of this week stand in the default partition (after a restore): there they stay. Or the table is busy: the
    // weeks ahead leave days to try again, and until then the default partition takes what comes.
    if (code !== CHECK_VIOLATION && code !== LOCK_NOT_AVAILABLE) throw error
  }
}

async function existing(sql: Queries, names: string[]): Promise<Set<string>> {
  // Not by to_regclass(): within a transaction it still denies what another one made since this one began.
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class where relname = any (${names}::text[]) and pg_table_is_visible(oid)`
  return new Set(rows.map(({ name }) => name))
}

function nameOf(table: string, week: number): string {
  return `${table}_${startOf(week).replaceAll('-', '')}`
}

function startOf(week: number): string {
  return new Date(FIRST_WEEK_MS + week * WEEK_MS).toISOString().slice(0, 10)
}

export interface Partition {
  name: string
  /** All rows are older than this. */
  until: Date
}

/** The partitions of which all rows are older than that, oldest first. */
export async function partitionsBefore(sql: Sql, table: PartitionedTable, before: Date): Promise<Partition[]> {
  const rows = await sql<{ name: string; bound: string }[]>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass`
  return rows
    .flatMap(({ name, bound }) => {
      const to = / TO \('([^']+)'\)$/.exec(bound)?.[1]
      return to ? [{ name, until: new Date(to) }] : []
    })
    .filter(({ until }) => until <= before)
    .toSorted((one, other) => one.until.getTime() - other.until.getTime())
}

/** False: the table is busy; come again. */
export async function dropPartition(tx: Transaction, name: string): Promise<boolean> {
  try {
    await tx.savepoint(async (inner) => {
      await limitLockWait(inner)
      await inner`drop table if exists ${identifier(name)}`
    })
    return true
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}

async function limitLockWait(tx: Transaction): Promise<void> {
  await tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
}
