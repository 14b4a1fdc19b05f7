import { connect as connectSocket, createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
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

/** Without scripts/patch-postgres.mjs nobody can handle the rejection that this leaves: an orderly end becomes a crash. */
test('a connection that is ended while it waits for its first answer ends quietly', async () => {
  const url = new URL(await newDatabase())
  const { hostname, port } = url
  let isAsked = false
  const proxy = createServer((near) => {
    const far = connectSocket(Number(port), hostname)
    far.pipe(near)
    near.on('data', (chunk) => {
      // The types of arrays: an answer never comes.
      if (chunk.includes('typarray')) isAsked = true
      else far.write(chunk)
    })
    near.on('close', () => far.destroy())
    for (const end of [near, far]) end.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  url.hostname = '127.0.0.1'
  url.port = `${(proxy.address() as AddressInfo).port}`

  const sql = connect(url.href, { connectionsMax: 1, name: 'victim' })
  const answer = sql`select 1`.catch(({ code }) => code)
  await eventually(() => isAsked)
  await sql.end({ timeout: 0 })
  expect(await answer).toBe('CONNECTION_DESTROYED')
})
