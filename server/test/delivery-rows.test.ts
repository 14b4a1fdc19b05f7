import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { asksFor } from '../src/features/events/asks-for.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { EVENT_TYPES } from '../src/features/events/event-types.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { matches } from '../src/features/subscriptions/event-patterns.ts'
import { markDue } from '../src/features/subscriptions/mark-due.ts'
import { dueQueues } from '../src/postgres/across-communities.ts'
import { transaction } from '../src/postgres/connect.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'
import { startPostman } from './postman.ts'
import { testOnOneServer } from './one-server.ts'
import { takeIds } from './take-ids.ts'

const SECOND_MS = 1000
const HOUR_MS = 60 * 60 * SECOND_MS
const IN_FLIGHT = 4
const EVENTS = 10
const IDLE_SUBSCRIPTIONS = 2000
const COUNTS_ROWS = 'A coordinator does not count the rows that its workers read.'

/** A receiver that does not answer, with more deliveries waiting than are sent at once. */
async function startWithSilentReceiver() {
  const post = await startPostman()
  const unanswered: ServerResponse[] = []
  post.receiver.answer = (response) => void unanswered.push(response)
  const { id } = await post.subscribe()
  for (let n = 0; n < EVENTS; n++) await post.credit({ hours: 0.01 })
  post.worker.wake()
  await eventually(() => unanswered.length === IN_FLIGHT)
  return {
    ...post,
    id,
    unanswered,
    async answerAll(): Promise<void> {
      post.receiver.answer = (response) => response.writeHead(204).end()
      for (const response of unanswered) response.writeHead(204).end()
      await post.worker.idle()
      await post.deliver()
    },
  }
}

const statuses = (deliveries: { status: string }[]) => deliveries.map(({ status }) => status)

test('every delivery has a row from the fan-out on; it is counted, listed and sent once', async () => {
  const { bank, id, receiver, deliveries, answerAll } = await startWithSilentReceiver()
  const admin = await addAdmin(bank)
  const waiting = async () => [
    (await admin.call(`/webhooks/${id}`)).body.data.waiting.count,
    (await admin.call('/overview')).body.data.webhooks.waiting.count,
  ]
  expect(await bank.sql`select from deliveries where status = 'pending'`).toHaveLength(EVENTS)
  expect(await waiting()).toEqual([EVENTS, EVENTS])
  expect(statuses(await deliveries(id))).toEqual(Array(EVENTS).fill('pending'))
  await answerAll()
  expect(statuses(await deliveries(id))).toEqual(Array(EVENTS).fill('delivered'))
  expect(receiver.received).toHaveLength(EVENTS)
  expect(await waiting()).toEqual([0, 0])
})

test('listing and counting deliveries writes nothing', async () => {
  const { bank, id, deliveries } = await startWithSilentReceiver()
  const admin = await addAdmin(bank)
  const versions = () => bank.sql`
    select 'd' as kind, xmin::text, ctid::text from deliveries union all
    select 'q', xmin::text, ctid::text from delivery_queues union all
    select 's', xmin::text, ctid::text from subscriptions order by 1, 3`
  const before = await versions()
  expect(before).toHaveLength(EVENTS + 2)
  await deliveries(id)
  for (const path of [`/webhooks/${id}`, `/webhooks/${id}/deliveries`, '/webhooks', '/overview']) {
    expect((await admin.call(path)).status, path).toBe(200)
  }
  expect(await versions()).toEqual(before)
})

testOnOneServer(COUNTS_ROWS, 'the search for work reads no idle subscription', async () => {
  const post = await startPostman()
  const { bank } = post
  const { id } = await post.subscribe()
  const first = await takeIds(bank.sql, bank.communityId, 'subscriptions', IDLE_SUBSCRIPTIONS)
  await bank.sql`
    insert into subscriptions (community_id, id, partner_id, client_id, event_types, target_url, scopes, secret)
    select community_id, ${first}::int8 + n - 1, partner_id, client_id, event_types, target_url, scopes, secret
    from subscriptions, generate_series(1, ${IDLE_SUBSCRIPTIONS}) n`
  await bank.sql`
    insert into delivery_queues (community_id, subscription_id) select community_id, id from subscriptions
    on conflict do nothing`
  const search = () =>
    transaction(bank.sql, async (tx) => {
      // The counters may still hold what the session read before.
      const countRead = async () => {
        const [read] = await tx<[{ rows: number }]>`
          select sum(seq_tup_read + idx_tup_fetch)::int4 as rows from pg_stat_xact_user_tables
          where relname in ('delivery_queues', 'subscriptions')`
        return read.rows
      }
      const before = await countRead()
      const now = new Date(Date.now() + SECOND_MS)
      const found = await dueQueues(tx, {
        now,
        leaseMax: new Date(now.getTime() + HOUR_MS),
        fullCommunities: [],
        perCommunityMax: 16,
        limit: 100,
      })
      return { found: found.length, rows: (await countRead()) - before }
    })
  await bank.sql`analyze`
  expect(await search()).toEqual({ found: 0, rows: 0 })
  await markDue(bank.sql, bank.communityId, [id])
  // One queue and its subscription.
  expect(await search()).toEqual({ found: 1, rows: 2 })
})

test('deliveries that commit while the worker gives its lease up are not forgotten', async () => {
  const post = await startPostman()
  const { bank, member, receiver, worker } = post
  const unanswered: ServerResponse[] = []
  receiver.answer = (response) => void unanswered.push(response)
  const { id } = await post.subscribe()
  await post.credit()
  worker.wake()
  await eventually(() => unanswered.length === 1)
  // As the fan-out of another node: the queue is marked, and not yet committed.
  const other = await openTransaction(bank.sql)
  await other.tx`
    with event as (
      insert into events (community_id, type, member_id, data, position)
      values (${bank.communityId}, 'wallet.balance_changed', ${member.id},
        jsonb_build_object('user_id', ${member.id}::int8, 'balance_centihours', 0, 'version', 1), 1000)
      returning id, created_at
    )
    insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at)
    select ${bank.communityId}, ${id}, id, created_at, ${new Date(post.now())} from event`
  await markDue(other.tx, bank.communityId, [id])
  receiver.answer = (response) => response.writeHead(204).end()
  unanswered[0]!.writeHead(204).end()
  await someoneWaits(bank.sql, '%delivery_queues%')
  await other.commit()
  await worker.idle()
  expect(receiver.received).toHaveLength(2)
  expect(await bank.sql`select due_at, worker, leased_until from delivery_queues`).toEqual([
    { due_at: null, worker: null, leased_until: null },
  ])
})

test('a subscription that changes its types still gets the events from before', async () => {
  const { bank, id, token, receiver, deliver, answerAll } = await startWithSilentReceiver()
  const change = (event_types: string[]) =>
    bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'PATCH', body: { event_types } })
  await change(['user.*'])
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await answerAll()
  await deliver()
  const types = receiver.received.map(({ json }) => json.type)
  expect(types.toSorted()).toEqual(['user.joined', ...Array(EVENTS).fill('wallet.credited')])
  // Events that it did not subscribe to when they happened are not sent later.
  await change(['*'])
  await deliver()
  expect(receiver.received).toHaveLength(EVENTS + 1)
})

test('a worker that takes over sends what is not recorded, and nothing else', async () => {
  const { id, receiver, now, worker, startWorker, unanswered, deliveries } = await startWithSilentReceiver()
  const [stuck, ...answered] = unanswered
  receiver.answer = (response) => response.writeHead(204).end()
  for (const response of answered) response.writeHead(204).end()
  await eventually(
    async () => statuses(await deliveries(id)).filter((status) => status === 'delivered').length === EVENTS - 1,
  )
  const other = await startWorker(() => new Date(now() + 11 * SECOND_MS))
  await other.deliver()
  expect(receiver.received).toHaveLength(EVENTS + 1)
  expect(receiver.received.at(-1)!.id).toBe(receiver.received[0]!.id)
  stuck!.writeHead(204).end()
  await worker.idle()
  expect(statuses(await deliveries(id))).toEqual(Array(EVENTS).fill('delivered'))
})

test('a delivery whose subscription is deleted while it is sent leaves nothing behind', async () => {
  const { bank, id, token, receiver, answerAll } = await startWithSilentReceiver()
  expect((await bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'DELETE' })).status).toBe(200)
  await answerAll()
  expect(receiver.received).toHaveLength(IN_FLIGHT)
  expect(await bank.sql`select from deliveries`).toHaveLength(0)
  expect(await bank.sql`select from delivery_queues`).toHaveLength(0)
})

test('a disabled subscription gets no new events, but after it is enabled those from before', async () => {
  const { bank, id, token, receiver, unanswered, worker, credit, deliver, deliveries } = await startWithSilentReceiver()
  receiver.answer = (response) => response.writeHead(410).end()
  for (const response of unanswered) response.writeHead(410).end()
  await worker.idle()
  expect((await bank.call(`/webhooks/subscriptions/${id}`, { token })).body.data.status).toBe('disabled')
  await credit({ hours: 0.01, reference: 'while-disabled' })
  await deliver()
  receiver.received.length = 0
  receiver.answer = (response) => response.writeHead(204).end()
  await bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'PATCH', body: { status: 'active' } })
  await credit({ hours: 0.01, reference: 'afterwards' })
  await deliver()
  const references = receiver.received.map(({ json }) => json.data.reference)
  expect(references).toContain('afterwards')
  expect(references).not.toContain('while-disabled')
  expect(await deliveries(id)).toHaveLength(EVENTS + 1)
})

test('events that wait for a failing receiver are sent before later ones', async () => {
  const { receiver, unanswered, worker, credit, advance } = await startWithSilentReceiver()
  receiver.answer = (response) => response.writeHead(500).end()
  for (const response of unanswered) response.writeHead(500).end()
  await worker.idle()
  await credit({ hours: 0.01, reference: 'later' })
  receiver.received.length = 0
  receiver.answer = (response) => response.writeHead(204).end()
  await advance(HOUR_MS)
  const references = receiver.received.map(({ json }) => json.data.reference)
  expect(references).toHaveLength(EVENTS + 1)
  // Several are under way at once, and may arrive in another order.
  expect(references.indexOf('later')).toBeGreaterThanOrEqual(EVENTS / 2)
})

test('an open breaker survives a change of workers and is closed by a redelivery', async () => {
  const post = await startPostman()
  const { bank, receiver } = post
  const { id } = await post.subscribe()
  receiver.answer = (response) => response.writeHead(500).end()
  for (let n = 0; n < EVENTS; n++) await post.credit({ hours: 0.01 })
  await post.deliver()
  const attempts = receiver.received.length
  await post.worker.close()
  const other = await post.startWorker(() => new Date(post.now()))
  await other.deliver()
  expect(receiver.received).toHaveLength(attempts)
  receiver.answer = (response) => response.writeHead(204).end()
  const [first] = await post.deliveries(id)
  const again = await bank.call(`/webhooks/deliveries/${first.id}/redeliver`, { token: post.token, method: 'POST' })
  expect(again.status).toBe(202)
  const third = await post.startWorker(() => new Date())
  await third.deliver()
  expect(receiver.received.length).toBeGreaterThan(attempts)
  expect(await failures(bank)).toBe(0)
})

async function failures({ sql }: Bank): Promise<number> {
  const [row] = await sql<[{ failures: number }]>`select failures from delivery_queues`
  return row.failures
}

test('PostgreSQL and the service agree on which events a pattern matches', async () => {
  const { sql } = await startBank()
  const types = Object.keys(EVENT_TYPES)
  const patterns = [
    '*',
    ...types,
    ...types.map((type) => `${type.split('.')[0]}.*`),
    'wallet',
    'wallet.balance.*',
    'w.*',
  ]
  const rows = await sql<{ pattern: string; type: string; asked: boolean }[]>`
    select p.pattern, t.type, ${asksFor(sql, 't')} as asked
    from unnest(${types}::text[]) as t(type), unnest(${patterns}::text[]) as p(pattern),
      lateral (select array[p.pattern] as event_types, ${SCOPE_NAMES}::text[] as scopes) s`
  expect(rows).toHaveLength(types.length * patterns.length)
  for (const { pattern, type, asked } of rows) {
    expect({ pattern, type, asked }).toEqual({ pattern, type, asked: matches(pattern, type) })
  }
})
