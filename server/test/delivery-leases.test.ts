import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { hearDeliveries } from '../src/delivery/wake.ts'
import { openListener } from '../src/postgres/listener.ts'
import { recordEvents } from '../src/features/events/record.ts'
import { eventually } from './bank.ts'
import { holdOpen, someoneWaits, waitingSessions } from './lock-table.ts'
import { startPostman, trustingSender } from './postman.ts'

const SECOND_MS = 1000
const HOUR_MS = 60 * 60 * SECOND_MS
const SUBSCRIPTIONS = 10
/** Deliveries over which shares are compared, and those that wait meanwhile, so that both workers stay busy. */
const WINDOW = 300
const WAITING_MIN = 1500

test('closing a worker aborts deliveries in flight without counting an attempt, and another worker sends them', async () => {
  const post = await startPostman()
  await post.subscribe()
  await post.credit()
  post.receiver.answer = () => {}
  post.worker.wake()
  await eventually(() => post.receiver.received.length === 1)
  await post.worker.close()
  await post.worker.idle()
  expect(await post.bank.sql`select status, attempts from deliveries`).toEqual([{ status: 'pending', attempts: 0 }])
  post.receiver.answer = (response) => response.writeHead(204).end()
  await post.startWorker(() => new Date())
  expect(post.receiver.received).toHaveLength(2)
})

test('a worker keeps its leases while it is alive', async () => {
  const post = await startPostman()
  let nowMs = post.now()
  const [first, second] = [await post.startWorker(() => new Date(nowMs)), await post.startWorker(() => new Date(nowMs))]
  await post.subscribe()
  await post.credit()
  const waiting: (() => void)[] = []
  post.receiver.answer = (response) => void waiting.push(() => response.writeHead(204).end())
  first.worker.wake()
  await eventually(() => waiting.length === 1)
  for (let seconds = 5; seconds <= 30; seconds += 5) {
    nowMs += 5 * SECOND_MS
    // While it is paused nothing of it is due.
    await post.bank.sql`update subscriptions set status = ${seconds < 20 ? 'paused' : 'active'}`
    first.worker.wake()
    const until = new Date(nowMs + 10 * SECOND_MS)
    await eventually(
      async () => (await post.bank.sql`select from delivery_queues where leased_until = ${until}`).length === 1,
    )
    await second.deliver()
  }
  waiting[0]!()
  await first.worker.idle()
  expect(post.receiver.received).toHaveLength(1)
  expect(await post.bank.sql`select from deliveries where status = 'delivered'`).toHaveLength(1)
})

test("another worker takes over a dead worker's queues after ten seconds and ignores its late results", async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  await post.credit()
  const waiting: (() => void)[] = []
  post.receiver.answer = (response) => void waiting.push(() => response.writeHead(500).end())
  post.worker.wake()
  await eventually(() => waiting.length === 1)
  const startedAt = post.now()
  // Another worker, whose clock is the test's: it takes nothing that is leased, and all that no longer is.
  let nowMs = startedAt
  const other = await post.startWorker(() => new Date(nowMs))
  nowMs = startedAt + 9 * SECOND_MS
  await other.deliver()
  expect(post.receiver.received).toHaveLength(1)
  post.receiver.answer = (response) => response.writeHead(204).end()
  nowMs = startedAt + 11 * SECOND_MS
  await other.deliver()
  expect(post.receiver.received.map((received) => received.id)).toEqual(Array(2).fill(post.receiver.received[0]!.id))
  waiting[0]!()
  await post.worker.idle()
  expect(await post.deliveries(id)).toMatchObject([{ status: 'delivered', attempts: [{ number: 1, status: 204 }] }])
})

test('a subscription whose deliveries are being deleted delays no other', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id } = await post.subscribe()
  await post.subscribe({ target_url: `${post.receiver.url}/other` })
  await post.credit()
  await post.deliver()
  const locked = await holdOpen(
    bank.sql,
    `select 1 from deliveries where community_id = ${bank.communityId} and subscription_id = ${id} for update`,
  )
  const deleting = bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'DELETE' })
  await someoneWaits(bank.sql)
  await post.credit()
  await post.deliver()
  expect(post.receiver.received.filter(({ path }) => path === '/hook/other')).toHaveLength(2)
  await locked.release()
  expect((await deleting).status).toBe(200)
  expect(await bank.sql`select from deliveries where subscription_id = ${id}`).toHaveLength(0)
  expect(await bank.sql`select from delivery_queues where subscription_id = ${id}`).toHaveLength(0)
})

test('a deletion that is interrupted leaves a subscription that is paused, and is completed by another', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  const locked = await holdOpen(
    bank.sql,
    `select 1 from deliveries where community_id = ${bank.communityId} and subscription_id = ${id} for update`,
  )
  const path = `/webhooks/subscriptions/${id}`
  const deleting = bank.call(path, { token, method: 'DELETE' })
  await someoneWaits(bank.sql)
  const [waiting] = await waitingSessions(bank.sql)
  await bank.sql`select pg_terminate_backend(${waiting!.pid}, 60000)`
  expect((await deleting).status).toBe(503)
  await locked.release()
  const { data } = (await bank.call(path, { token })).body
  expect(data).toMatchObject({ status: 'paused', status_reason: expect.stringContaining('delete it again') })
  expect((await bank.call(path, { token, method: 'DELETE' })).body).toEqual({ data })
  expect(await bank.sql`select from deliveries`).toHaveLength(0)
})

test('new deliveries of a subscription that another worker has leased are announced to it', async () => {
  const post = await startPostman()
  const { bank } = post
  const heard: string[] = []
  const listener = openListener(bank.databaseUrl)
  onTestFinished(() => listener.close())
  await new Promise<void>((resolve) =>
    listener.listen('hourbank_deliveries', {
      onMessage: (payload) => void heard.push(payload),
      onListening: resolve,
    }),
  )
  await post.subscribe()
  const unanswered: ServerResponse[] = []
  post.receiver.answer = (response) => void unanswered.push(response)
  await post.credit()
  const second = await post.startWorker(() => new Date(), { isIdle: false })
  await eventually(() => unanswered.length === 1)
  // The node's own announcement arrives first.
  await pause(SECOND_MS / 2)
  heard.length = 0
  await recordEvents(bank.sql, bank.communityId, [
    {
      type: 'wallet.balance_changed',
      memberId: post.member.id,
      data: { user_id: post.member.id, balance_centihours: 0, version: 2 },
    },
  ])
  await post.deliver()
  await eventually(() => heard.length > 0)
  expect(post.receiver.received).toHaveLength(1)
  second.worker.wake()
  await eventually(() => unanswered.length === 2)
  for (const response of unanswered) response.writeHead(204).end()
  await second.worker.idle()
})

test('workers come to share busy subscriptions evenly, also when one starts later', async () => {
  const sent: number[] = []
  const post = await startPostman({
    sender(receiver) {
      const sender = trustingSender(receiver)
      const index = sent.push(0) - 1
      return {
        ...sender,
        async send(...request) {
          sent[index]! += 1
          // Queues of quick receivers are shared; on a busy machine none would be quick.
          return { ...(await sender.send(...request)), durationMs: 1 }
        },
      }
    },
  })
  const { bank, member } = post
  // Both by a clock that goes on, as the workers of a service share one. That of `post.worker` stands still: it would
  // never find due what the other fanned out later, and would take the other's leases for those of a clock set back.
  const first = await post.startWorker(() => new Date())
  for (let n = 0; n < SUBSCRIPTIONS; n++) await post.subscribe()
  const addEvents = () => bank.sql`
    insert into events (community_id, type, member_id, data)
    select ${bank.communityId}, 'wallet.balance_changed', ${member.id},
      jsonb_build_object('user_id', ${member.id}::int8, 'balance_centihours', 0, 'version', n)
    from generate_series(1, 100) n`
  await addEvents()
  first.worker.wake()
  await eventually(() => sent[1]! > 0)
  const second = await post.startWorker(() => new Date(), { isIdle: false })
  const listener = openListener(bank.databaseUrl)
  onTestFinished(() => listener.close())
  hearDeliveries(listener, () => {
    first.worker.wake()
    second.worker.wake()
  })
  const sentByEach = () => sent.slice(1)
  const sentByBoth = () => sentByEach().reduce((sum, count) => sum + count)
  // Both stay busy until they share evenly: each sends at least a third of what is sent in a while.
  const isEven = async () => {
    const [before, enough] = [sentByEach(), sentByBoth() + WINDOW]
    await eventually(async () => {
      const [left] = await bank.sql<[{ count: number }]>`select count(*) from deliveries where status = 'pending'`
      if (left.count < WAITING_MIN) await addEvents()
      first.worker.wake()
      return sentByBoth() >= enough
    })
    const shares = sentByEach().map((count, index) => count - before[index]!)
    return Math.min(...shares) > WINDOW / 3
  }
  await eventually(isEven, 300 * SECOND_MS)
})

test('several workers at once send each event once', async () => {
  const post = await startPostman()
  await post.subscribe()
  await post.subscribe({ target_url: `${post.receiver.url}/second` })
  // By a clock that goes on: leases of one that stands still end meanwhile.
  const workers = await Promise.all([1, 2, 3, 4].map(() => post.startWorker(() => new Date())))
  const writing = Promise.all(
    Array.from({ length: 100 }, (_, n) => post.credit({ hours: 0.01, reference: `many-${n}` })),
  )
  const isDone = async () => {
    await Promise.all(workers.map((one) => one.deliver()))
    return post.receiver.received.length >= 200
  }
  await eventually(isDone)
  await writing
  expect(post.receiver.received).toHaveLength(200)
  expect(new Set(post.receiver.received.map(({ id, path }) => `${id} ${path}`)).size).toBe(200)
  const positions = await post.bank.sql`select count(*), count(distinct position) as places, max(position) from events`
  expect(positions[0]).toEqual({ count: 101, places: 101, max: 101 })
})

test('deleting, replaying and sending again while deliveries complete breaks nothing', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const others = await Promise.all([1, 2].map(() => post.startWorker(() => new Date())))
  const since = new Date(Date.now() - HOUR_MS).toISOString()
  await Promise.all(Array.from({ length: 40 }, () => post.credit({ hours: 0.01 })))
  const kept = await post.subscribe()
  const statuses: number[] = []
  // As the SDKs do, a call that is rejected because a replay is running is made again.
  const call = async (path: string, method: string, body?: object) => {
    const answered = async () => {
      const { status } = await bank.call(path, { token, method, body })
      return status !== 429 && status
    }
    statuses.push(await eventually(answered))
  }
  for (let round = 0; round < 5; round++) {
    const { id } = await post.subscribe({ target_url: `${post.receiver.url}/gone` })
    await call(`/webhooks/subscriptions/${id}/replay`, 'POST', { since })
    const delivering = Promise.all([post, ...others].map((one) => one.deliver()))
    const [first] = await post.deliveries(kept.id)
    await Promise.all([
      call(`/webhooks/subscriptions/${kept.id}/replay`, 'POST', { since }),
      call(`/webhooks/subscriptions/${id}`, 'DELETE'),
      ...(first ? [call(`/webhooks/deliveries/${first.id}/redeliver`, 'POST')] : []),
      call(`/webhooks/subscriptions/${kept.id}/replay`, 'POST', { since }),
    ])
    await delivering
  }
  await Promise.all([post, ...others].map((one) => one.deliver()))
  await post.deliver()
  expect(statuses.filter((status) => status !== 200 && status !== 202)).toEqual([])
  expect(await bank.sql`select from deliveries where status <> 'delivered'`).toHaveLength(0)
})
