import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { databaseClock, readDatabaseTime } from '../src/postgres/clock.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { startDeliveryWorker } from '../src/delivery/worker.ts'
import { eventually, SECRET_KEY } from './bank.ts'
import { newDatabase } from './database.ts'
import { startPostman, trustingSender, type Postman } from './postman.ts'
import { resetSystemClock, setSystemClock } from './system-clock.ts'

const SECOND_MS = 1000
const HOUR_MS = 60 * 60 * SECOND_MS
const LEASE_MS = 10 * SECOND_MS
/** What a busy machine may take between two readings. */
const SLACK_MS = 60 * SECOND_MS
/** The database's time is read every ten seconds. */
const RESYNC_MS = 40 * SECOND_MS

afterEach(resetSystemClock)

/** Makes `clock_timestamp()` of new connections differ from the real time, as if the database's clock had been set. */
async function setDatabaseClock(sql: Sql, byMs: number): Promise<void> {
  await sql.unsafe(`
    create schema if not exists skewed;
    create or replace function skewed.clock_timestamp() returns timestamptz language sql volatile
      return pg_catalog.clock_timestamp() + ${byMs} * interval '1 millisecond'`)
  const [{ name }] = await sql<[{ name: string }]>`select current_database() as name`
  await sql.unsafe(`alter database ${name} set search_path = skewed, pg_catalog, public`)
}

async function connectTo(url: string): Promise<Sql> {
  const sql = connect(url, { connectionsMax: 1, name: 'test clock' })
  onTestFinished(() => sql.end())
  return sql
}

function differenceMs(one: Date, other: Date): number {
  return Math.abs(one.getTime() - other.getTime())
}

test.each([-HOUR_MS, 2 * HOUR_MS])(
  'the database clock does not follow a step of the system clock by %i ms',
  async (step) => {
    const sql = await connectTo(await newDatabase())
    const clock = databaseClock(sql)
    await clock.sync()
    setSystemClock(step)
    expect(differenceMs(clock.now(), await readDatabaseTime(sql))).toBeLessThan(SLACK_MS)
    await clock.sync()
    expect(differenceMs(clock.now(), await readDatabaseTime(sql))).toBeLessThan(SLACK_MS)
  },
)

test('a step of the database clock is noticed at the next reading, and at once when the system clock stepped too', async () => {
  const url = await newDatabase()
  const admin = await connectTo(url)
  const sql = await connectTo(url)
  const clock = databaseClock(sql)
  await setDatabaseClock(admin, 0)
  await clock.sync()
  await setDatabaseClock(admin, -HOUR_MS)
  // Every other statement reads the stepped clock from here on.
  await sql`set search_path = skewed, pg_catalog, public`
  await eventually(async () => {
    await clock.sync()
    return differenceMs(clock.now(), await readDatabaseTime(sql)) < SLACK_MS
  })
  await setDatabaseClock(admin, HOUR_MS)
  setSystemClock(2 * HOUR_MS)
  await clock.sync()
  expect(differenceMs(clock.now(), await readDatabaseTime(sql))).toBeLessThan(SLACK_MS)
})

/** A worker that keeps time as in production. */
async function startOwnWorker(post: Postman): Promise<Sql> {
  await post.worker.close()
  const sql = connect(post.bank.databaseUrl, { connectionsMax: 4, name: 'test deliveries' })
  const worker = startDeliveryWorker({
    sql,
    log: pino({ level: 'silent' }),
    box: createSecretBox(SECRET_KEY),
    sender: trustingSender(post.receiver),
    random: () => 0.5,
  })
  onTestFinished(async () => {
    await worker.close()
    await sql.end()
  })
  await worker.idle()
  post.receiver.answer = (response) => response.writeHead(500).end()
  return sql
}

test('signatures, leases and retries keep to the database clock when the system clock steps', async () => {
  const post = await startPostman()
  const sql = await startOwnWorker(post)
  await post.subscribe()

  for (const step of [-HOUR_MS, 2 * HOUR_MS]) {
    const known = new Set(post.receiver.received.map(({ id }) => id))
    const unanswered: ServerResponse[] = []
    post.receiver.answer = (response) => void unanswered.push(response)
    setSystemClock(step)
    await post.credit()
    const received = await eventually(() => post.receiver.received.find(({ id }) => !known.has(id)))
    const now = await readDatabaseTime(sql)
    const sentAt = new Date(Number(received.headers['webhook-timestamp']) * SECOND_MS)
    expect(differenceMs(sentAt, now), 'signature').toBeLessThan(SLACK_MS)
    const [lease] = await sql<[{ seconds: number }]>`
      select extract(epoch from leased_until - now())::float8 as seconds from delivery_queues`
    expect(Math.abs(lease.seconds * SECOND_MS - LEASE_MS), 'lease').toBeLessThan(SLACK_MS)
    post.receiver.answer = (response) => response.writeHead(500).end()
    for (const response of unanswered) response.writeHead(500).end()
    const retry = await eventually(async () => {
      const [row] = await sql<{ seconds: number }[]>`
        select extract(epoch from d.next_attempt_at - now())::float8 as seconds
        from deliveries d join events e on e.community_id = d.community_id and e.id = d.event_id
        where 'evt_' || e.uuid = ${received.id} and d.attempts = 1`
      return row
    })
    expect(retry.seconds * SECOND_MS, 'retry').toBeLessThan(5 * SECOND_MS + SLACK_MS)
  }
})

test('a retry that was planned before the database clock was set back comes in time', async () => {
  const post = await startPostman()
  const admin = await connectTo(post.bank.databaseUrl)
  await setDatabaseClock(admin, 0)
  await startOwnWorker(post)
  await post.subscribe()
  await post.credit()
  await eventually(async () => (await admin`select from deliveries where attempts > 0`).length === 1)
  await setDatabaseClock(admin, -HOUR_MS)
  await eventually(() => post.receiver.received.length >= 2, RESYNC_MS)
})

test('a lease from before the database clock was set back does not keep other workers away', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  await post.worker.close()
  await post.bank.sql`
    insert into delivery_queues (community_id, subscription_id, worker, leased_until)
    values (${post.bank.communityId}, ${id}, gen_random_uuid(), now() + interval '1 hour')`
  await post.credit()
  const other = await post.startWorker(() => new Date())
  await other.deliver()
  expect(post.receiver.received).toHaveLength(1)
})
