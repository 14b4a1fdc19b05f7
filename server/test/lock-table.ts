import { onTestFinished } from 'vitest'
import { transaction, type Queries, type Sql, type Transaction } from '../src/postgres/connect.ts'
import { eventually } from './bank.ts'
import { isCluster } from './citus-nodes.ts'

export interface OpenTransaction {
  tx: Transaction
  commit(): Promise<void>
  /** Rolls back, unless it was committed. */
  release(): Promise<void>
}

export interface TableLock extends OpenTransaction {
  /** Resolves when so many statements wait for the table. */
  awaited(count?: number): Promise<unknown>
}

class RolledBack extends Error {}

/** A transaction that stays open until the test says otherwise. */
export async function openTransaction(sql: Sql): Promise<OpenTransaction> {
  let end!: (outcome: 'commit' | 'rollback') => void
  const ending = new Promise<string>((resolve) => (end = resolve))
  let ended!: Promise<void>
  const tx = await new Promise<Transaction>((resolve, reject) => {
    ended = transaction(sql, async (opened) => {
      resolve(opened)
      if ((await ending) === 'rollback') throw new RolledBack()
    }).catch((error: unknown) => {
      reject(error)
      if (!(error instanceof RolledBack)) throw error
    })
  })
  const finish = (outcome: 'commit' | 'rollback') => () => {
    end(outcome)
    return ended
  }
  onTestFinished(finish('rollback'))
  return { tx, commit: finish('commit'), release: finish('rollback') }
}

/** A statement in a transaction that stays open, with all that it has locked, and is then rolled back. */
export async function holdOpen(sql: Sql, statement: string): Promise<OpenTransaction> {
  const held = await openTransaction(sql)
  await held.tx.unsafe(statement)
  return held
}

/** Makes every statement on the table wait, so that a request can be held in mid-flight. */
export async function lockTable(sql: Sql, table: string): Promise<TableLock> {
  return {
    ...(await holdOpen(sql, `lock table ${table} in access exclusive mode`)),
    awaited: (count = 1) =>
      eventually(async () => {
        // Databases of other tests are clones, whose tables have the same ids.
        const waiting = await sql`
          select from pg_locks
          where relation = ${table}::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`
        return waiting.length >= count
      }),
  }
}

/** Resolves when a statement in this database waits for a lock that a test can hold. */
export function someoneWaits(queries: Queries, statement = '%'): Promise<unknown> {
  return eventually(async () => (await waitingSessions(queries, statement)).length > 0)
}

/**
 * Tests share a server, so only this database counts; and a session that commits a NOTIFY waits for the others on the whole
 * server, which is the lock on an object.
 */
export async function waitingSessions(
  queries: Queries,
  statement = '%',
  application = '%',
): Promise<{ pid: number }[]> {
  const onWorkers = isCluster() ? await waitingOnWorkers(queries) : []
  return queries<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and query like ${statement} and application_name like ${application}
      and (wait_event_type = 'Lock' and wait_event <> 'object' or pid = any (${onWorkers}::int4[]))`
}

/** The coordinator's sessions whose statements wait on a worker, where the locks on rows are. */
async function waitingOnWorkers(queries: Queries): Promise<number[]> {
  const waiting = await queries<{ pid: number }[]>`
    select distinct citus_pid_for_gpid(global_pid) as pid from citus_stat_activity
    where datname = current_database() and is_worker_query and wait_event_type = 'Lock'`
  return waiting.map(({ pid }) => pid)
}
