import { setTimeout } from 'node:timers/promises'
import { transaction, type Queries, type Sql, type Transaction } from '../connect.ts'
import { quoteName } from '../statement.ts'

/** Less than PostgreSQL's deadlock_timeout of a second: if both wait for each other, this gives up and not the service. */
const LOCK_TIMEOUT_MS = 200
const LOCK_TRIES_MAX = 100
const LOCK_INTERVAL_MS = 50
/** Lock not available. */
const LOCKED = '55P03'

/**
 * Runs a transaction that reads all nodes as they are at one moment. Citus takes a snapshot on each node when a transaction
 * first reads there. All tables of a community are on one node, so what could be seen in half is a change that also writes
 * a table outside of communities, such as the creation of one. Such changes wait from here until the transaction calls
 * `takeSnapshots`, which is some milliseconds. Without Citus, nothing waits.
 */
export async function atOneMoment<T>(
  sql: Sql,
  begin: (takeSnapshots: (tx: Transaction) => Promise<void>) => Promise<T>,
): Promise<T> {
  const [table] = await listDistributed(sql)
  if (table === undefined) return begin(async () => {})
  const writers = await holdWriters(sql)
  try {
    return await begin(async (tx) => {
      // A row of each shard, so from each node.
      await tx.unsafe(`select 1 from ${quoteName(table)} limit 1`)
      await writers.release()
    })
  } finally {
    await writers.release()
  }
}

async function listDistributed(sql: Queries): Promise<string[]> {
  const [citus] = await sql`select 1 from pg_extension where extname = 'citus'`
  if (!citus) return []
  const tables = await sql<{ name: string }[]>`
    select c.relname::text as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where p.partmethod = 'h' and not c.relispartition order by 1`
  return tables.map(({ name }) => name)
}

interface HeldWriters {
  release(): Promise<void>
}

/** Waits for transactions that have written a table outside of communities, and lets no other one begin to. */
async function holdWriters(sql: Sql): Promise<HeldWriters> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryToHoldWriters(sql)
    } catch (error) {
      if ((error as { code?: string }).code !== LOCKED || tries === LOCK_TRIES_MAX) throw error
      await setTimeout(LOCK_INTERVAL_MS)
    }
  }
}

async function tryToHoldWriters(sql: Sql): Promise<HeldWriters> {
  let release!: () => void
  const released = new Promise<void>((resolve) => (release = resolve))
  let ended!: Promise<void>
  await new Promise<void>((resolve, reject) => {
    ended = transaction(sql, async (tx) => {
      await lockTables(tx)
      resolve()
      await released
    })
    ended.catch(reject)
  })
  return {
    async release() {
      release()
      await ended
    },
  }
}

async function lockTables(tx: Transaction): Promise<void> {
  const tables = await tx<{ name: string }[]>`
    select c.relname::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and not c.relispartition
      -- Nobody but its owner writes any other, and nobody else may lock it.
      and has_table_privilege(c.oid, 'update')
      and not exists (select 1 from pg_dist_partition p where p.logicalrelid = c.oid and p.partmethod = 'h')
      and not exists (
        select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by 1`
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local idle_in_transaction_session_timeout = 0`)
  await tx.unsafe(`lock table ${tables.map(({ name }) => quoteName(name)).join(', ')} in share mode`)
}
