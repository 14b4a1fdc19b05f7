import { onTestFinished } from 'vitest'
import { transaction, type Sql, type Transaction } from '../src/postgres/connect.ts'
import { eventually } from './bank.ts'

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
        const waiting = await sql`select from pg_locks where relation = ${table}::regclass and not granted`
        return waiting.length >= count
      }),
  }
}
