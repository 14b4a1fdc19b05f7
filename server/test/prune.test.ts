import { expect, onTestFinished, test } from 'vitest'
import { connect, identifier, type Sql } from '../src/postgres/connect.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { prune } from '../src/postgres/prune.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { holdOpen } from './lock-table.ts'
import { startPostman } from './postman.ts'
import { addKeyClient, assertionOf, present } from './key-clients.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const CALL_LOG_DAYS = 90

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)
const pruneAt = (sql: Sql, now: Date) => prune(sql, { callLogDays: CALL_LOG_DAYS, now })

async function count(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from ${identifier(table)}`
  return row.count
}

test('events are deleted after thirty days with their deliveries and attempts; an old feed cursor gets cursor_expired', async () => {
  const post = await startPostman()
  const { bank } = post
  const { sql } = bank
  const start = await bank.call('/events', { token: post.token })
  const { id } = await post.subscribe()
  await post.credit()
  post.receiver.answer = (response) => response.writeHead(500).end()
  await post.deliver()
  expect(await count(sql, 'attempts')).toBe(1)
  await pruneAt(sql, inDays(29))
  expect([await count(sql, 'events'), await count(sql, 'deliveries'), await count(sql, 'attempts')]).toEqual([2, 1, 1])
  // The first token has been pruned.
  const head = await bank.call('/events', { token: await bank.token() })
  // A week's partition goes as a whole, once its last day is old enough.
  const { partitions } = await pruneAt(sql, inDays(30 + 7 + 1))
  expect(new Set(partitions.map((name) => name.replace(/_\d+$/, '')))).toEqual(new Set(['attempts', 'events']))
  expect([await count(sql, 'events'), await count(sql, 'deliveries'), await count(sql, 'attempts')]).toEqual([0, 0, 0])
  // The first one went too.
  const token = await bank.token()
  expect(await post.deliveries(id, token)).toEqual([])
  const expired = await bank.call(`/events?cursor=${start.body.meta.next_cursor}`, { token })
  expect({ status: expired.status, error: expired.body.error }).toEqual({ status: 410, error: 'cursor_expired' })
  expect((await bank.call(`/events?cursor=${head.body.meta.next_cursor}`, { token })).status).toBe(200)
  // What comes afterwards goes on behind.
  await post.credit({}, token)
  await post.deliver()
  const next = await bank.call(`/events?cursor=${head.body.meta.next_cursor}`, { token })
  expect(next.body.data).toHaveLength(1)
  expect(post.receiver.received).toHaveLength(2)
})

test('of each subscription the old deliveries go, in the order of their events, and the others stay', async () => {
  const post = await startPostman()
  const { sql } = post.bank
  for (const path of ['/one', '/two']) await post.subscribe({ target_url: `${post.receiver.url}${path}` })
  for (let n = 0; n < 4; n++) await post.credit()
  await post.deliver()
  const events = await sql<{ id: number }[]>`select id from events where type = 'wallet.credited' order by id`
  const [, second, third, last] = events.map(({ id }) => id) as [number, number, number, number]
  // Ids and times have another order where transactions overlapped: the third is older than the second, the last is old.
  await sql`
    update events set created_at = case id when ${second} then ${inDays(0)}::timestamptz
      when ${third} then ${inDays(-1)}::timestamptz else ${inDays(-40)}::timestamptz end`
  await sql`
    update deliveries d set event_created_at = e.created_at from events e
    where e.community_id = d.community_id and e.id = d.event_id`
  const left = async () => {
    const rows = await sql<{ events: number[] }[]>`
      select array_agg(event_id order by event_id) as events from deliveries group by subscription_id`
    return rows.map((row) => row.events)
  }
  await pruneAt(sql, new Date())
  // What is behind the first event that is kept is left to a later run.
  const kept = [second, third, last]
  expect(await left()).toEqual([kept, kept])
  await pruneAt(sql, inDays(31))
  expect(await left()).toEqual([])
})

test('the call log goes after CALL_LOG_DAYS, tokens seven days after they expired', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql } = bank
  const token = await bank.token()
  await bank.call('/webhooks/event-types', { token })
  await eventually(async () => (await count(sql, 'call_log')) >= 2)
  // Half an hour before, and well after seven days since it was issued.
  await pruneAt(sql, inDays(7 + 0.5 / 24))
  expect(await count(sql, 'tokens')).toBe(1)
  await pruneAt(sql, inDays(7.1))
  expect(await count(sql, 'tokens')).toBe(0)
  expect(await count(sql, 'call_log')).toBe(2)
  await prune(sql, { callLogDays: CALL_LOG_DAYS, now: inDays(CALL_LOG_DAYS - 1) })
  expect(await count(sql, 'call_log')).toBe(2)
  await prune(sql, { callLogDays: CALL_LOG_DAYS, now: inDays(CALL_LOG_DAYS + 8) })
  expect(await count(sql, 'call_log')).toBe(0)
})

test('accepted assertions go a day after they expired, and not before', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  expect((await present(bank.url, await assertionOf(bank.url, await addKeyClient(bank)))).status).toBe(200)
  await pruneAt(bank.sql, inDays(0.9))
  expect(await count(bank.sql, 'client_assertions')).toBe(1)
  await pruneAt(bank.sql, inDays(1.1))
  expect(await count(bank.sql, 'client_assertions')).toBe(0)
})

test('what stands in default partitions goes too, in batches', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  await sql`
    insert into call_log (community_id, at, request_id, method, path, status, duration_ms)
    select ${communityId}, '2020-01-01'::timestamptz + n * interval '1 second', gen_random_uuid(), 'GET', '/', 200, 1
    from generate_series(1, 2500) n`
  await sql`
    insert into events (community_id, created_at, type, data, position)
    select ${communityId}, '2020-01-01', 'wallet.balance_changed', '{}', n from generate_series(1, 1500) n`
  await sql`
    insert into attempts (community_id, at, delivery_id, number, duration_ms)
    select ${communityId}, '2020-01-01'::timestamptz, n, 1, 1 from generate_series(1, 1200) n`
  await sql`insert into event_heads (community_id, position) values (${communityId}, 1500)
    on conflict (community_id) do update set position = 1500`
  const { rows } = await pruneAt(sql, new Date())
  expect(rows).toBe(2500 + 1500 + 1200)
  const [head] = await sql`select pruned_position from event_heads where community_id = ${communityId}`
  expect(head!.pruned_position).toBe(1500)
  for (const table of ['call_groups_default', 'events_default', 'attempts_default'])
    expect(await count(sql, table)).toBe(0)
})

test('events that have not been fanned out yet are kept', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  // From before the first partition, so that it is in the default one.
  await bank.sql`
    insert into events (community_id, created_at, type, data)
    values (${bank.communityId}, '2020-01-01', 'wallet.balance_changed', '{}')`
  await pruneAt(bank.sql, inDays(60))
  expect([await count(bank.sql, 'events'), await count(bank.sql, 'events_default')]).toEqual([2, 1])
})

test('only one node prunes at a time; the others skip the round', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  await bank.token()
  const other = await holdOpen(bank.sql, 'select pg_advisory_xact_lock(4711003)')
  expect(await pruneAt(bank.sql, inDays(365))).toEqual({ partitions: [], rows: 0 })
  expect(await count(bank.sql, 'tokens')).toBe(1)
  await other.release()
  await pruneAt(bank.sql, inDays(365))
  // Only the tokens are counted: the call log may write the call that issued the token at any moment.
  expect(await count(bank.sql, 'tokens')).toBe(0)
})

test('a table that somebody reads for long is not waited for, neither to drop a partition nor to make one', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql } = bank
  const reader = connect(bank.databaseUrl, { connectionsMax: 1, name: 'test reader' })
  onTestFinished(() => reader.end())
  const reading = await holdOpen(reader, 'select count(*) from call_log')
  const before = await partitionNames(sql)
  const writing = Promise.all([pruneAt(sql, inDays(365)), createPartitions(sql, inDays(700))])
  // Meanwhile calls are logged: neither waits for the reader, and nothing waits behind them.
  await sql`
    insert into call_log (community_id, at, request_id, method, path, status, duration_ms)
    values (${bank.communityId}, now(), gen_random_uuid(), 'GET', '/', 200, 1)`
  await writing
  const still = await partitionNames(sql)
  expect(still.filter((name) => name.startsWith('call_groups'))).toEqual(
    before.filter((name) => name.startsWith('call_groups')),
  )
  await reading.release()
  const { partitions } = await pruneAt(sql, inDays(365))
  expect(partitions.filter((name) => name.startsWith('call_groups')).length).toBeGreaterThan(0)
})

test('under load: credits and deliveries go on while weeks of events are dropped', async () => {
  const post = await startPostman()
  const { bank } = post
  const { sql, communityId } = bank
  for (let week = 6; week < 12; week++) await createPartitions(sql, inDays(-7 * week))
  await sql`
    insert into events (community_id, created_at, type, data, position)
    select ${communityId}, now() - interval '80 days' + n * interval '12 minutes', 'wallet.balance_changed', '{}', n
    from generate_series(1, 4000) n`
  await sql`update event_heads set position = 4000 where community_id = ${communityId}`
  const { id } = await post.subscribe()
  await sql`
    insert into deliveries (community_id, subscription_id, event_id, event_created_at)
    select ${communityId}, ${id}, id, created_at from events where position <= 4000`
  await sql`update subscriptions set status = 'paused'`
  const pruning = pruneAt(sql, new Date())
  for (let n = 0; n < 30; n++) await post.credit()
  const { partitions } = await pruning
  expect(partitions.filter((name) => name.startsWith('events_')).length).toBeGreaterThan(3)
  await sql`update subscriptions set status = 'active'`
  await sql`delete from deliveries where event_id in (select id from events where position <= 4000 and position > 0)`
  await post.deliver()
  expect(post.receiver.received).toHaveLength(30)
})

async function partitionNames(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits i join pg_class c on c.oid = i.inhparent and c.relkind = 'p'
    order by 1`
  return rows.map(({ name }) => name)
}
