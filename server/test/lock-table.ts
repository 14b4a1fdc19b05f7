import { onTestFinished } from 'vitest'
import type { Sql } from '../src/db/connect.ts'
import { eventually } from './bank.ts'

export interface OpenTransaction {
  release(): Promise<void>
}

export interface TableLock extends OpenTransaction {
  /** Resolves when so many statements wait for the table. */
  awaited(count?: number): Promise<unknown>
}

/** A statement in a transaction that stays open, with all that it has locked, and is then rolled back. */
export async function holdOpen(sql: Sql, statement: string): Promise<OpenTransaction> {
  const connection = await sql.reserve()
  let held = true
  async function release(): Promise<void> {
    if (!held) return
    held = false
    await connection`rollback`
    connection.release()
  }
  await connection`begin`
  await connection.unsafe(statement)
  onTestFinished(release)
  return { release }
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
