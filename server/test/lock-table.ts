import { onTestFinished } from 'vitest'
import type { Sql } from '../src/db/connect.ts'
import { eventually } from './bank.ts'

export interface TableLock {
  /** Resolves when so many statements wait for the table. */
  awaited(count?: number): Promise<unknown>
  release(): Promise<void>
}

/** Makes every statement on the table wait, so that a request can be held in mid-flight. */
export async function lockTable(sql: Sql, table: string): Promise<TableLock> {
  const connection = await sql.reserve()
  let held = true
  async function release(): Promise<void> {
    if (!held) return
    held = false
    await connection`commit`
    connection.release()
  }
  await connection`begin`
  await connection.unsafe(`lock table ${table} in access exclusive mode`)
  onTestFinished(release)
  return {
    release,
    awaited: (count = 1) =>
      eventually(async () => {
        const waiting = await sql`select from pg_locks where relation = ${table}::regclass and not granted`
        return waiting.length >= count
      }),
  }
}
