import { expect, test } from 'vitest'
import { connect, transaction, type Queries } from '../src/db/connect.ts'
import { eventually } from './bank.ts'
import { newDatabase } from './database.ts'

const sleep = async (tx: Queries) => void (await tx`select pg_sleep(10)`)

/** Without scripts/patch-postgres.mjs each of these ends the process, and the connection never comes back. */
test.each([
  { nested: false, goesOn: false },
  { nested: true, goesOn: false },
  { nested: false, goesOn: true },
  { nested: true, goesOn: true },
])(
  'a connection that dies within a transaction fails that transaction and nothing else: %o',
  async ({ nested, goesOn }) => {
    const url = await newDatabase()
    const sql = connect(url, { connectionsMax: 1, name: 'victim' })
    const killer = connect(url, { connectionsMax: 1, name: 'killer' })

    const work = transaction(sql, async (tx) => {
      const [row] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`
      const killed = killer`
      select pg_terminate_backend(pid) from pg_stat_activity, pg_sleep(0.1) where pid = ${row.pid}`
      const ended = Promise.all([killed, nested ? transaction(tx, sleep) : sleep(tx)])
      if (!goesOn) return ended
      await ended.catch(() => {})
      await killer`select pg_sleep(0.1)`
      return tx`select 1`
    })
    await expect(work.then(String, ({ code }) => code)).resolves.toMatch(/^(57P01|CONNECTION_CLOSED)$/)
    // The pool may hand out the connection that is just ending once more.
    await eventually(() => sql`select 1`.catch(() => undefined))
    await Promise.all([sql.end({ timeout: 1 }), killer.end()])
  },
)
