import { readDatabaseTime } from './clock.ts'
import { type Queries, type Sql, transaction, type Transaction } from './connect.ts'

const PARTITIONED_TABLES = ['call_groups', 'events', 'attempts'] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

const WEEKS_AHEAD = 4
const WEEK_MS = 7 * 24 * 60 * 60 * 1000
/** A Monday. */
const FIRST_WEEK_MS = Date.UTC(2024, 0, 1)
const PARTITION_LOCK = 4_711_002
const CHECK_VIOLATION = '23514'
const LOCK_NOT_AVAILABLE = '55P03'
/**
 * Creating or dropping a partition needs an exclusive lock on the table, and every other query queues behind a waiting
 * exclusive lock: during a long read (a backup) the whole service would stall. So give up after this time and retry.
 */
const LOCK_TIMEOUT = '200ms'

/** Creates the weekly partitions of this week and the next ones; safe to call on any number of nodes at once. */
export async function createPartitions(sql: Sql, at?: Date): Promise<void> {
  const now = at ?? (await readDatabaseTime(sql))
  const thisWeek = Math.floor((now.getTime() - FIRST_WEEK_MS) / WEEK_MS)
  const weeks = Array.from({ length: WEEKS_AHEAD + 1 }, (_, n) => thisWeek + n)
  const wanted = PARTITIONED_TABLES.flatMap((table) =>
    weeks.map((week) => ({ table, week, name: nameOf(table, week) })),
  )
  // Check all names in one query first: usually there is nothing to do.
  const existing = await findExisting(
    sql,
    wanted.map(({ name }) => name),
  )
  for (const { table, week, name } of wanted) if (!existing.has(name)) await createPartition(sql, table, week)
}

async function createPartition(sql: Sql, table: string, week: number): Promise<void> {
  const name = nameOf(table, week)
  try {
    await transaction(sql, async (tx) => {
      await tx`select pg_advisory_xact_lock(${PARTITION_LOCK})`
      // Check again under the lock. `create table if not exists … partition of` would first take a lock that waits for
      // every reader.
      if ((await findExisting(tx, [name])).has(name)) return
      await limitLockWait(tx)
      await tx`select create_week_partition(${table}, ${startOf(week)}::date)`
    })
  } catch (error) {
    const { code } = error as { code?: string }
    // After a restore the default partition may hold rows of this week, which stay there. If the table is busy, a later
    // run has weeks to retry, and the default partition takes the rows in the meantime.
    if (code !== CHECK_VIOLATION && code !== LOCK_NOT_AVAILABLE) throw error
  }
}

async function findExisting(sql: Queries, names: string[]): Promise<Set<string>> {
  // Not to_regclass(): within a transaction it does not see tables that others created since the transaction began.
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

/** Returns the partitions that hold only rows older than `before`, oldest first. */
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

/** Returns false if the table is busy; retry later. */
export async function dropPartition(tx: Transaction, name: string): Promise<boolean> {
  try {
    await tx.savepoint(async (inner) => {
      await limitLockWait(inner)
      await inner`select drop_week_partition(${name})`
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
