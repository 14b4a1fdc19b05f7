import { expect, test } from 'vitest'
import { Json, transaction, type Queries } from '../src/postgres/connect.ts'
import { startPostman } from './postman.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

test('five days of failures disable the subscription; a success restarts the count', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  let ok = false
  post.receiver.answer = (response) => response.writeHead(ok ? 204 : 500).end()
  const hourly = async (hours: number) => {
    for (let hour = 0; hour < hours; hour += 10) {
      await post.credit()
      await post.advance(10 * HOUR_MS)
    }
  }
  await hourly(110)
  expect(await post.subscription(id)).toMatchObject({ status: 'active', failing_since: expect.any(String) })
  ok = true
  await post.credit()
  await post.advance(10 * HOUR_MS)
  expect(await post.subscription(id)).toMatchObject({ status: 'active', failing_since: null })
  ok = false
  await hourly(110)
  expect(await post.subscription(id)).toMatchObject({ status: 'active' })
  await hourly(20)
  expect(await post.subscription(id)).toMatchObject({
    status: 'disabled',
    status_reason: 'Nothing but failures for five days',
  })
  const audits = await post.bank.sql`select detail from audit_log where action = 'subscription.disabled'`
  expect(audits).toHaveLength(1)
})

test('two days without an attempt end a row of failures, however it began', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => response.writeHead(500).end()
  await post.credit()
  for (let day = 0; day < 4; day++) await post.advance(DAY_MS)
  const before = await post.subscription(id)
  expect(before).toMatchObject({ status: 'active', failing_since: expect.any(String) })
  // Nothing to deliver for two months. Attempts from before then are pruned some day.
  await post.advance(30 * DAY_MS)
  await post.credit()
  await post.advance(SECOND_MS)
  const { status, failing_since } = await post.subscription(id)
  expect(status).toBe('active')
  expect(Date.parse(failing_since) - Date.parse(before.failing_since)).toBeGreaterThan(30 * DAY_MS)
  await post.bank.sql`update subscriptions set failing_since = ${before.failing_since}`
  await post.bank.sql`delete from attempts where at < ${failing_since}`
  // The pause between probes of a receiver that fails is five minutes at most.
  await post.advance(6 * MINUTE_MS)
  expect(await post.subscription(id)).toMatchObject({ status: 'active', failing_since })
})

test('failures count from when the first of them was sent, so that it is among them', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => void setTimeout(() => response.writeHead(500).end(), 20)
  const { deliver } = await post.startWorker(() => new Date())
  await post.credit()
  await deliver()
  const { failing_since } = await post.subscription(id)
  const [delivery] = await post.deliveries(id)
  expect(delivery.attempts).toMatchObject([{ at: failing_since }])
})

test('a subscription that is disabled still gets the events of transactions that began before that', async () => {
  const post = await startPostman()
  const { bank, member } = post
  const { id } = await post.subscribe()
  const change = (body: object) =>
    bank.call(`/webhooks/subscriptions/${id}`, { method: 'PATCH', token: post.token, body })
  const insertEvent = (sql: Queries, hours: number) => {
    const data = new Json({ user_id: member.id, balance_centihours: hours * 100, version: hours })
    return sql`
      insert into events (community_id, type, member_id, data)
      values (${bank.communityId}, 'wallet.balance_changed', ${member.id}, ${data})`
  }
  await transaction(bank.sql, async (tx) => {
    await insertEvent(tx, 1)
    post.receiver.answer = (response) => response.writeHead(410).end()
    await post.credit()
    await post.deliver()
    expect(await post.subscription(id)).toMatchObject({ status: 'disabled' })
  })
  await insertEvent(bank.sql, 2)
  await post.deliver()
  post.receiver.answer = (response) => response.writeHead(204).end()
  await change({ status: 'active' })
  await post.deliver()
  const balances = post.receiver.received
    .filter(({ json }) => json.type === 'wallet.balance_changed')
    .map(({ json }) => json.data.balance_hours)
  expect(balances).toEqual([1])
})

test('failures of an address that the subscription no longer has do not disable it', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => response.writeHead(500).end()
  await post.credit()
  await post.deliver()
  expect(await post.subscription(id)).toMatchObject({ failing_since: expect.any(String) })
  await post.bank.call(`/webhooks/subscriptions/${id}`, {
    method: 'PATCH',
    token: post.token,
    body: { target_url: `${post.receiver.url}/new` },
  })
  expect(await post.subscription(id)).toMatchObject({ status: 'active', failing_since: null })
  await post.credit()
  await post.advance(6 * DAY_MS)
  expect(post.receiver.received.at(-1)!.path).toBe('/hook/new')
  expect(await post.subscription(id)).toMatchObject({ status: 'active', failing_since: expect.any(String) })
})
