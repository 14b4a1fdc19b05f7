import { expect, test } from 'vitest'
import { connect, transaction } from '../src/db/connect.ts'
import { eventually } from './bank.ts'
import { newDatabase } from './database.ts'

test('a connection that dies in the middle of a transaction fails that transaction and nothing else', async () => {
  const url = await newDatabase()
  const sql = connect(url, { connectionsMax: 2, name: 'victim' })
  const killer = connect(url, { connectionsMax: 1, name: 'killer' })

  async function die(nested: boolean): Promise<string> {
    const work = transaction(sql, async (tx) => {
      const [row] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`
      const sleep = async () => void (await tx`select pg_sleep(10)`)
      const killed = killer`
        select pg_terminate_backend(pid) from pg_stat_activity, pg_sleep(0.1) where pid = ${row.pid}`
      await Promise.all([killed, nested ? transaction(tx, sleep) : sleep()])
    })
    return work.then(
      () => 'ended well',
      (error: { code: string }) => error.code,
    )
  }
  // Both ways once ended the whole process.
  expect(await die(false)).toMatch(/57P01|CONNECTION_CLOSED/)
  expect(await die(true)).toMatch(/57P01|CONNECTION_CLOSED/)
  // The pool may still hand out the connection that is just ending, once.
  await eventually(() => sql`select 1`.catch(() => undefined))
  await Promise.all([sql.end({ timeout: 1 }), killer.end()])
})
