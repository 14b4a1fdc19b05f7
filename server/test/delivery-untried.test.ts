import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../src/features/events/event-types.ts'
import { asksFor } from '../src/features/events/asks-for.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { matches } from '../src/features/subscriptions/event-types.ts'
import { holdInHand } from '../src/delivery/in-hand.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { holdOpen } from './lock-table.ts'
import { startPostman, type Postman } from './postman.ts'

const SECOND_MS = 1000
const HOUR_MS = 60 * 60 * SECOND_MS
const ON_THE_WIRE = 4
const EVENTS = 10

/** A receiver that holds its answers back, with more waiting for it than it has places. */
async function startWithBusyReceiver() {
  const post = await startPostman()
  const heldBack: ServerResponse[] = []
  post.receiver.answer = (response) => void heldBack.push(response)
  const { id } = await post.subscribe()
  await creditMany(post, EVENTS)
  post.worker.wake()
  await eventually(() => heldBack.length === ON_THE_WIRE)
  return {
    ...post,
    id,
    heldBack,
    async answerAll(): Promise<void> {
      post.receiver.answer = (response) => response.writeHead(204).end()
      for (const response of heldBack) response.writeHead(204).end()
      await post.worker.idle()
      await post.deliver()
    },
  }
}

async function creditMany(post: Postman, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await post.credit({ hours: 0.01 })
}

const statuses = (deliveries: { status: string }[]) => deliveries.map(({ status }) => status)

test('what waits for its first attempt is counted and listed like any other, and sent once', async () => {
  const { bank, id, receiver, deliveries, answerAll } = await startWithBusyReceiver()
  const admin = await addAdmin(bank)
  const waiting = async () => [
    (await admin.call(`/webhooks/${id}`)).body.data.waiting.count,
    (await admin.call('/overview')).body.data.webhooks.waiting,
  ]
  expect(await bank.sql`select from deliveries`).toHaveLength(0)
  expect(await waiting()).toEqual([EVENTS, EVENTS])
  expect(statuses(await deliveries(id))).toEqual(Array(EVENTS).fill('pending'))
  expect(await waiting()).toEqual([EVENTS, EVENTS])
  await answerAll()
  expect(statuses(await deliveries(id))).toEqual(Array(EVENTS).fill('delivered'))
  expect(receiver.received).toHaveLength(EVENTS)
  expect(await waiting()).toEqual([0, 0])
})

test('who asks for something else is still told of what had happened before', async () => {
  const { bank, id, token, receiver, deliver, answerAll } = await startWithBusyReceiver()
  const body = { event_types: ['user.*'] }
  await bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'PATCH', body })
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await answerAll()
  await deliver()
  const types = receiver.received.map(({ json }) => json.type)
  expect(types.toSorted()).toEqual(['user.joined', ...Array(EVENTS).fill('wallet.credited')])
  // What it did not ask for then is not sent now.
  await bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'PATCH', body: { event_types: ['*'] } })
  await deliver()
  expect(receiver.received).toHaveLength(EVENTS + 1)
})

test('who takes over sends what is left, and nothing that was written down, wherever the other had got to', async () => {
  const { id, receiver, now, worker, startWorker, heldBack, deliveries } = await startWithBusyReceiver()
  const [stuck, ...answered] = heldBack
  receiver.answer = (response) => response.writeHead(204).end()
  for (const response of answered) response.writeHead(204).end()
  await eventually(() => receiver.received.length === EVENTS)
  // The first one is never answered: nothing is told to be done before it, but all the others have their rows.
  await eventually(
    async () => statuses(await deliveries(id)).filter((one) => one === 'delivered').length === EVENTS - 1,
  )
  const other = await startWorker(() => new Date(now() + 11 * SECOND_MS))
  await other.deliver()
  expect(receiver.received).toHaveLength(EVENTS + 1)
  expect(receiver.received.at(-1)!.id).toBe(receiver.received[0]!.id)
  stuck!.writeHead(204).end()
  await worker.idle()
  expect(statuses(await deliveries(id))).toEqual(Array(EVENTS).fill('delivered'))
})

test('nothing is kept of a delivery whose subscription was deleted while it was sent', async () => {
  const { bank, id, token, receiver, answerAll } = await startWithBusyReceiver()
  expect((await bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'DELETE' })).status).toBe(200)
  await answerAll()
  expect(receiver.received).toHaveLength(ON_THE_WIRE)
  expect(await bank.sql`select from deliveries`).toHaveLength(0)
  expect(await bank.sql`select from delivery_cursors`).toHaveLength(0)
})

test('what happens while it is disabled is not sent once it is enabled, but what it was owed before is', async () => {
  const { bank, id, token, receiver, heldBack, worker, credit, deliver, deliveries } = await startWithBusyReceiver()
  receiver.answer = (response) => void heldBack.push(response)
  for (const response of heldBack.splice(0)) response.writeHead(410).end()
  await eventually(async () => {
    const { body } = await bank.call(`/webhooks/subscriptions/${id}`, { token })
    return body.data.status === 'disabled'
  })
  for (const response of heldBack.splice(0)) response.writeHead(410).end()
  await worker.idle()
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

test('what waits for a receiver that fails goes out before what came later', async () => {
  const { bank, id, receiver, heldBack, worker, credit, advance } = await startWithBusyReceiver()
  receiver.answer = (response) => response.writeHead(500).end()
  for (const response of heldBack) response.writeHead(500).end()
  await worker.idle()
  expect(await bank.sql`select from deliveries where subscription_id = ${id}`).toHaveLength(EVENTS)
  const [cursor] = await bank.sql`select wanted_position - done_position as left from delivery_cursors`
  expect(cursor).toEqual({ left: 0 })
  await credit({ hours: 0.01, reference: 'later' })
  receiver.received.length = 0
  receiver.answer = (response) => response.writeHead(204).end()
  await advance(HOUR_MS)
  const references = receiver.received.map(({ json }) => json.data.reference)
  expect(references).toHaveLength(EVENTS + 1)
  expect(references.indexOf('later')).toBeGreaterThan(EVENTS - ON_THE_WIRE)
})

test('how far a subscription has got is stored up to what is in hand, and who takes over begins there', async () => {
  const { bank, startWorker, now, heldBack, receiver, worker } = await startWithBusyReceiver()
  const left = async () => {
    const [row] = await bank.sql<[{ left: number }]>`
      select wanted_position - done_position as left from delivery_cursors`
    return row.left
  }
  expect(await left()).toBe(EVENTS)
  const second = receiver.received.findIndex(({ json }) => json.data.reference === 'tx-2')
  receiver.answer = (response) => response.writeHead(204).end()
  for (const [index, response] of heldBack.entries()) if (index !== second) response.writeHead(204).end()
  await eventually(async () => {
    worker.wake()
    return (await bank.sql`select from deliveries`).length === EVENTS - 1 && (await left()) === EVENTS - 1
  })
  // Nobody waits for whoever has the cursor locked; the other stores it.
  const lock = await holdOpen(bank.sql, 'select from delivery_cursors for update')
  heldBack[second]!.writeHead(204).end()
  await worker.idle()
  await worker.close()
  expect(await left()).toBe(EVENTS - 1)
  await lock.release()
  const other = await startWorker(() => new Date(now() + 11 * SECOND_MS))
  await other.worker.close()
  expect(await left()).toBe(0)
  expect(receiver.received).toHaveLength(EVENTS)
})

test('a subscription for what seldom happens is told of it behind much that is not for it', async () => {
  const post = await startPostman()
  const { bank, member } = post
  await post.subscribe({ event_types: ['user.*'] })
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await bank.sql`
    insert into events (community_id, type, member_id, data)
    select ${bank.communityId}, 'wallet.balance_changed', ${member.id},
      jsonb_build_object('user_id', ${member.id}::int8, 'balance_centihours', 0, 'version', n)
    from generate_series(1, 1000) n`
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Cy' })
  // As if it had not got around to the first before the last came.
  await post.bank.sql`update subscriptions set status = 'paused'`
  await post.deliver()
  await post.bank.sql`update subscriptions set status = 'active'`
  await post.bank.sql`delete from deliveries`
  const [head] = await bank.sql<[{ position: number }]>`select max(position) as position from events`
  await bank.sql`
    insert into delivery_cursors (community_id, subscription_id, done_position, wanted_position)
    select community_id, id, 0, ${head.position} from subscriptions`
  await post.deliver()
  expect(post.receiver.received.map(({ json }) => json.data.name).toSorted()).toEqual(['Ada', 'Bo', 'Cy'])
})

test('what a subscription asks for is the same to PostgreSQL as to the service', async () => {
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
      lateral (select array[p.pattern] as event_types) s`
  expect(rows).toHaveLength(types.length * patterns.length)
  for (const { pattern, type, asked } of rows) {
    expect({ pattern, type, asked }).toEqual({ pattern, type, asked: matches(pattern, type) })
  }
})

test('everything is done up to what is in hand, once it is known how far was read', () => {
  const of = { communityId: 1, subscriptionId: 2 }
  const inHand = holdInHand()
  const reading = inHand.reading(of)
  inHand.take(of, 101, 11)
  inHand.take(of, 102, 12)
  expect(inHand.unstored()).toEqual([])
  reading.readTo = 15
  expect(inHand.unstored()).toMatchObject([{ ...of, position: 10 }])
  inHand.done(of, 101)
  expect(inHand.unstored()).toMatchObject([{ ...of, position: 11 }])
  inHand.stored([{ ...of, position: 11 }])
  expect(inHand.unstored()).toEqual([])
  inHand.done(of, 102)
  expect(inHand.unstored()).toMatchObject([{ ...of, position: 15 }])
})

test('what is given back while more is read is not passed by', () => {
  const of = { communityId: 1, subscriptionId: 2 }
  const inHand = holdInHand()
  inHand.reading(of).readTo = 12
  inHand.take(of, 102, 12)
  const reading = inHand.reading(of)
  inHand.giveBack(of, 102)
  reading.readTo = 15
  expect(inHand.reading(of).readTo).toBe(11)
  expect(inHand.unstored()).toMatchObject([{ ...of, position: 11 }])
})
