import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { connect, transaction, type Sql, type Transaction } from '../src/postgres/connect.ts'
import { DatabaseUnavailable } from '../src/postgres/outage.ts'
import { eventually } from './bank.ts'
import { newDatabase } from './database.ts'
import { startFlakyProxy } from './flaky-proxy.ts'

const STATEMENTS = 10_000
const CALLERS = 20

const sleep = async (tx: Transaction) => void (await tx`select pg_sleep(10)`)

function pool(url: string, options: { connectionsMax?: number; timeLimitMs?: number } = {}): Sql {
  const sql = connect(url, { connectionsMax: 1, name: 'victim', ...options })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return sql
}

function adminPool(url: string): Sql {
  const sql = connect(url, { connectionsMax: 2, name: 'killer' })
  onTestFinished(() => sql.end())
  return sql
}

async function killSession(killer: Sql, pid: number): Promise<void> {
  await killer`select pg_terminate_backend(${pid}::int4)`
  await eventually(async () => (await killer`select from pg_stat_activity where pid = ${pid}::int4`).length === 0)
}

async function pidOf(tx: Transaction): Promise<number> {
  const [row] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`
  return row.pid
}

test.each([
  { nested: false, goesOn: false },
  { nested: true, goesOn: false },
  { nested: false, goesOn: true },
  { nested: true, goesOn: true },
])('a session killed within a transaction fails that transaction and nothing else: %o', async ({ nested, goesOn }) => {
  const url = await newDatabase()
  const [sql, killer] = [pool(url), adminPool(url)]
  const work = transaction(sql, async (tx) => {
    const pid = await pidOf(tx)
    const killed = killer`select pg_terminate_backend(pid) from pg_stat_activity, pg_sleep(0.1) where pid = ${pid}`
    const ended = Promise.all([killed, nested ? transaction(tx, sleep) : sleep(tx)])
    if (!goesOn) return ended
    await ended.catch(() => {})
    return tx`select 1`
  })
  await expect(work.then(String, ({ code }) => code)).resolves.toMatch(/^(57P01|CONNECTION_LOST)$/)
  expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
})

test('a transaction whose session was killed between two statements rejects every further one, and writes nothing', async () => {
  const url = await newDatabase()
  const [sql, killer] = [pool(url), adminPool(url)]
  await killer`create table marks (id int primary key)`
  const outcomes: unknown[] = []
  const others: unknown[] = []
  let waiting: Promise<void> | undefined
  const work = transaction(sql, async (tx) => {
    await tx`insert into marks values (1)`
    await killSession(killer, await pidOf(tx))
    // The pool's only place is ours: another caller waits for it while we go on.
    const other = sql`select 'other' as whose`.then((rows) => void others.push(...rows))
    for (const id of [2, 3, 4]) outcomes.push(await tx`insert into marks values (${id})`.catch((error) => error))
    waiting = other
  })
  await expect(work).rejects.toBeInstanceOf(Error)
  await waiting
  expect(others).toEqual([{ whose: 'other' }])
  for (const outcome of outcomes) expect(outcome).toBeInstanceOf(Error)
  expect(await sql`select * from marks`).toHaveLength(0)
})

test('a statement of a transaction that has ended is rejected and runs nowhere', async () => {
  const url = await newDatabase()
  const sql = pool(url, { connectionsMax: 2 })
  await sql`create table marks (id int primary key)`
  let escaped!: Transaction
  await transaction(sql, async (tx) => {
    escaped = tx
  })
  await expect(escaped`insert into marks values (1)`).rejects.toThrow('has ended')
  expect(await sql`select * from marks`).toHaveLength(0)
})

test('a transaction in which a statement failed is rejected even if the failure was caught', async () => {
  const url = await newDatabase()
  const sql = pool(url)
  await sql`create table marks (id int primary key)`
  const work = transaction(sql, async (tx) => {
    await tx`insert into marks values (1)`
    await tx`insert into marks values (1)`.catch(() => {})
  })
  await expect(work).rejects.toMatchObject({ code: '23505' })
  expect(await sql`select * from marks`).toHaveLength(0)
})

test('10,000 statements under killed sessions and cut sockets: each result answers its own question', async () => {
  const direct = await newDatabase()
  const proxy = await startFlakyProxy(direct)
  const killer = adminPool(direct)
  await killer`create table pairs (id int8 primary key, twin int8 not null)`
  const sql = pool(proxy.url, { connectionsMax: 5 })
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))

  let [asked, answered, failed, wrong, next] = [0, 0, 0, 0, 0]
  async function ask(question: number): Promise<void> {
    const [row] = await sql<[{ question: number }]>`select ${question}::int8 as question`
    if (row?.question !== question) wrong += 1
  }
  async function askInTransaction(question: number): Promise<void> {
    await transaction(sql, async (tx) => {
      await tx`insert into pairs values (${question}, ${-question})`
      const [row] = await tx<[{ question: number }]>`select ${question}::int8 as question`
      if (row?.question !== question) wrong += 1
      await tx`insert into pairs values (${-question}, ${question})`
    })
  }
  async function caller(): Promise<void> {
    while (asked < STATEMENTS) {
      const question = (next += 1)
      const isTransaction = question % 4 === 0
      asked += isTransaction ? 3 : 1
      await (isTransaction ? askInTransaction(question) : ask(question)).then(
        () => (answered += 1),
        () => (failed += 1),
      )
    }
  }
  const over = new AbortController()
  async function trouble(): Promise<void> {
    for (let round = 0; !over.signal.aborted; round++) {
      if (round % 5 === 4) {
        proxy.cut()
        proxy.restore()
      } else {
        await killer`
          select pg_terminate_backend(pid) from (
            select pid from pg_stat_activity where application_name = 'hourbank victim' order by random() limit 1) v`
      }
      await pause(100)
    }
  }
  const troubling = trouble()
  await Promise.all(Array.from({ length: CALLERS }, caller))
  over.abort()
  await troubling

  expect(wrong).toBe(0)
  expect(unhandled).toEqual([])
  expect(answered).toBeGreaterThan(0)
  expect(failed).toBeGreaterThan(0)
  // No transaction left half of its rows behind.
  expect(await killer`select * from pairs p where not exists (select from pairs where id = p.twin)`).toHaveLength(0)
  expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
})

test('a statement beyond its time limit is ended on the server too, and its connection is not used again', async () => {
  const url = await newDatabase()
  const killer = adminPool(url)
  const sql = pool(url, { timeLimitMs: 300 })
  const failure = await sql`select pg_sleep(60)`.catch((error) => error)
  expect(failure).toBeInstanceOf(DatabaseUnavailable)
  await eventually(async () => {
    const running = await killer`
      select from pg_stat_activity where application_name = 'hourbank victim' and query like '%pg_sleep(60)%'`
    return running.length === 0
  })
  // On a busy machine, a new connection takes longer than this limit too.
  await eventually(() => sql`select 1 as one`.catch(() => undefined))
})

test('connections that went silent are replaced as soon as the network is back', async () => {
  const proxy = await startFlakyProxy(await newDatabase())
  const sql = pool(proxy.url, { connectionsMax: 3, timeLimitMs: 500 })
  const askThree = () => Promise.allSettled([1, 2, 3].map(() => sql`select pg_sleep(0.05)`))
  await askThree()
  proxy.freeze()
  const during = await askThree()
  expect(during.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  // New connections get through, those of before stay silent for ever.
  proxy.forget()
  // On a busy machine, new connections take longer than the limit too.
  await eventually(async () => (await askThree()).every(({ status }) => status === 'fulfilled'))
})

test('callers of an exhausted pool wait up to their time limit and then get an error', async () => {
  const sql = pool(await newDatabase(), { timeLimitMs: 2_000 })
  let release!: () => void
  const held = transaction(sql, () => new Promise<void>((resolve) => (release = resolve)))
  const late = sql`select 1 as one`
  const failed = late.catch((error) => error)
  expect(await failed).toBeInstanceOf(DatabaseUnavailable)
  const inTime = sql`select 1 as one`
  const answer = inTime.then((rows) => rows[0])
  release()
  // It took longer than its own limit as well.
  await held.catch(() => {})
  expect(await answer).toEqual({ one: 1 })
})

test('a database that refuses, resets or hangs while connecting ends no process and leaves no rejection unhandled', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const proxy = await startFlakyProxy(await newDatabase())
  const sql = pool(proxy.url, { connectionsMax: 3, timeLimitMs: 400 })
  for (const trouble of [proxy.cut, proxy.freeze]) {
    trouble()
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(() => sql`select 1`))
    expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
    for (const outcome of outcomes) {
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(DatabaseUnavailable)
    }
  }
  proxy.forget()
  await eventually(() => sql`select 1`.catch(() => undefined))
  expect(unhandled).toEqual([])
})

test('a statement prepared before a migration changed its result still answers', async () => {
  const url = await newDatabase()
  const [sql, other] = [pool(url), adminPool(url)]
  await other`create table things (id int)`
  await other`insert into things values (1)`
  const read = () => sql`select * from things`
  expect(await read()).toMatchObject([{ id: 1 }])
  await other`alter table things add column name text default 'new'`
  expect(await read()).toMatchObject([{ id: 1, name: 'new' }])
})
