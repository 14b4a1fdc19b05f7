import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { nextAttempt } from '../src/delivery/schedule.ts'
import { createSender } from '../src/delivery/send.ts'
import { eventually, freePort, TESTER } from './bank.ts'
import { resolveToLoopback, startPostman, trustingSender } from './postman.ts'
import { startReceiver } from './receiver.ts'
import { takeIds } from './take-ids.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const SCHEDULE_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

test('ten attempts by the schedule, then no more', async () => {
  const post = await startPostman()
  post.receiver.answer = (response) => response.writeHead(500).end('broken')
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  expect(post.receiver.received).toHaveLength(1)
  for (const [n, delay] of SCHEDULE_MS.entries()) {
    await post.advance(delay - 50)
    expect(post.receiver.received).toHaveLength(n + 1)
    await post.advance(100)
    expect(post.receiver.received).toHaveLength(n + 2)
  }
  await post.advance(30 * DAY_MS)
  expect(post.receiver.received).toHaveLength(10)
  expect(new Set(post.receiver.received.map((received) => received.id)).size).toBe(1)
  const [delivery] = await post.deliveries(id)
  expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null })
  expect(delivery.attempts.map((attempt: { number: number }) => attempt.number)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ])
  expect(delivery.attempts[0]).toMatchObject({ status: 500, error_kind: 'status', response: 'broken' })
  expect(delivery.attempts[0].at).toMatch(/Z$/)
})

test('the schedule is spread by a fifth either way', () => {
  const now = new Date()
  const waits = (random: number) =>
    SCHEDULE_MS.map((_, n) => nextAttempt(n + 1, now, undefined, random)!.getTime() - now.getTime())
  expect(waits(0)).toEqual(SCHEDULE_MS.map((delay) => Math.round(delay * 0.8)))
  expect(waits(1)).toEqual(SCHEDULE_MS.map((delay) => Math.round(delay * 1.2)))
  expect(nextAttempt(10, now, 1000, 0.5)).toBeUndefined()
})

test('Retry-After is honoured in both forms, but never hastens and never silences', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  let retryAfter = '600'
  post.receiver.answer = (response) => response.writeHead(503, { 'retry-after': retryAfter }).end()
  const waitMs = async () => Date.parse((await post.deliveries(id))[0].next_attempt_at) - post.now()
  await post.credit()
  await post.deliver()
  expect(await waitMs()).toBe(600 * SECOND_MS)
  // A date has whole seconds; the schedule's five minutes are shorter.
  retryAfter = new Date(post.now() + 600 * SECOND_MS + HOUR_MS).toUTCString()
  await post.advance(600 * SECOND_MS)
  expect(await waitMs()).toBeGreaterThan(HOUR_MS - SECOND_MS)
  expect(await waitMs()).toBeLessThanOrEqual(HOUR_MS)
  retryAfter = '1'
  await post.advance(HOUR_MS)
  expect(await waitMs()).toBe(30 * MINUTE_MS)
  retryAfter = '99999999'
  await post.advance(30 * MINUTE_MS)
  expect(await waitMs()).toBe(DAY_MS)
  retryAfter = 'soon'
  await post.advance(DAY_MS)
  expect(await waitMs()).toBe(5 * HOUR_MS)
})

test('410 disables the subscription, says why, and its deliveries go on when it is enabled', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => response.writeHead(410).end()
  await post.credit()
  await post.deliver()
  expect(await post.subscription(id)).toMatchObject({
    status: 'disabled',
    status_reason: 'The receiver answered 410 Gone',
  })
  await post.advance(HOUR_MS)
  // What happens while it is disabled is not for it; a replay brings it.
  await post.credit()
  await post.advance(HOUR_MS)
  expect(post.receiver.received).toHaveLength(1)
  post.receiver.answer = (response) => response.writeHead(204).end()
  await post.bank.call(`/webhooks/subscriptions/${id}`, {
    method: 'PATCH',
    token: post.token,
    body: { status: 'active' },
  })
  await post.deliver()
  expect(post.receiver.received).toHaveLength(2)
  expect(await post.subscription(id)).toMatchObject({ status: 'active', status_reason: null })
  const audits = await post.bank.sql`
    select actor_kind, action, detail from audit_log where subject_kind = 'subscription' order by id`
  expect(audits.map(({ actor_kind, action }) => [actor_kind, action])).toEqual([
    ['client', 'subscription.created'],
    ['system', 'subscription.disabled'],
    ['client', 'subscription.changed'],
  ])
  expect(audits[1]!.detail).toEqual({ reason: 'The receiver answered 410 Gone' })
})

test('410 of an address that the subscription no longer has does not disable it', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  let answerGone!: () => void
  const isReceived = new Promise<void>((resolve) => {
    post.receiver.answer = (response) => {
      answerGone = () => response.writeHead(410).end()
      resolve()
    }
  })
  await post.credit()
  const delivering = post.deliver()
  await isReceived
  await post.bank.call(`/webhooks/subscriptions/${id}`, {
    method: 'PATCH',
    token: post.token,
    body: { target_url: `${post.receiver.url}/new` },
  })
  answerGone()
  await delivering
  expect(await post.subscription(id)).toMatchObject({ status: 'active' })
})

test('a dead endpoint with many deliveries waiting is probed, not hammered; a change or a test tries at once', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  post.receiver.answer = (response) => response.writeHead(500).end()
  await Promise.all(Array.from({ length: 20 }, () => post.credit()))
  await post.deliver()
  const first = post.receiver.received.length
  // Five open the breaker; three more were under way.
  expect(first).toBeLessThanOrEqual(8)
  await post.advance(SECOND_MS)
  expect(post.receiver.received).toHaveLength(first)
  await post.advance(10 * SECOND_MS)
  expect(post.receiver.received).toHaveLength(first + 1)
  await post.advance(10 * SECOND_MS)
  expect(post.receiver.received).toHaveLength(first + 1)
  post.receiver.answer = (response) => response.writeHead(204).end()
  const tested = await post.bank.call(`/webhooks/subscriptions/${id}/test`, { token: post.token, method: 'POST' })
  expect(tested.status).toBe(202)
  await post.deliver()
  expect((await post.deliveries(id)).filter(({ status }: { status: string }) => status === 'delivered')).not.toEqual([])
  expect(post.receiver.received.map((received) => received.id)).toContain(tested.body.data.event_id)
})

test('each kind of failure has its own error kind', async () => {
  const receiver = await startReceiver()
  const stranger = await startReceiver({ ofStranger: true })
  // Of this process alone: nobody else begins to listen there.
  const closedPort = await freePort()
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const { port: silentPort } = silent.address() as AddressInfo
  const openSender = (limit: { timeoutMs?: number } = {}) => {
    const opened = createSender({
      resolve: async (name) => {
        if (name === 'nowhere.test') throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
        if (name === 'empty.test') return []
        return resolveToLoopback(name)
      },
      allowPrivateTargets: true,
      ca: receiver.ca,
      ...limit,
    })
    onTestFinished(() => opened.close())
    return opened
  }
  // Only what never answers may be a timeout, however long a busy machine takes for the rest.
  const [patient, hasty] = [openSender(), openSender({ timeoutMs: 700 })]
  const kind = async (target: string, sender = patient) => {
    const { ok, errorKind, error } = await sender.send(target, {}, '{}')
    expect({ target, ok, error }).toEqual({ target, ok: false, error: expect.stringMatching(/./) })
    return errorKind
  }
  expect(await kind('https://nowhere.test/')).toBe('dns')
  expect(await kind('https://empty.test/')).toBe('dns')
  expect(await kind(`https://receiver.test:${closedPort}/`)).toBe('connect')
  expect(await kind(stranger.url)).toBe('tls')
  expect(await kind(receiver.url.replace('receiver.test', 'other.test'))).toBe('tls')
  expect(await kind(`https://receiver.test:${silentPort}/`, hasty)).toBe('timeout')
  receiver.answer = () => {}
  expect(await kind(receiver.url, hasty)).toBe('timeout')
  receiver.answer = (response) => response.destroy()
  expect(await kind(receiver.url)).toBe('connect')
  receiver.answer = (response) => response.writeHead(302, { location: 'https://elsewhere.test/' }).end()
  expect(await kind(receiver.url)).toBe('status')
  const strict = createSender({ resolve: resolveToLoopback, allowPrivateTargets: false, ca: receiver.ca })
  onTestFinished(() => strict.close())
  expect(await strict.send(receiver.url, {}, '{}')).toMatchObject({ ok: false, errorKind: 'refused_address' })
})

test('long, endless, slow and broken responses: the status counts, and the beginning of the body is stored', async () => {
  const receiver = await startReceiver()
  const [sender, hasty] = [trustingSender(receiver), trustingSender(receiver, 500)]
  for (const { close } of [sender, hasty]) onTestFinished(close)
  receiver.answer = (response) => response.end('x'.repeat(100_000))
  expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: true, response: 'x'.repeat(1024) })
  receiver.answer = (response) => response.writeHead(500).end('x'.repeat(100_000))
  expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: false, response: 'x'.repeat(16 * 1024) })
  let written = 0
  receiver.answer = (response) => {
    response.writeHead(200)
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(4096, 'y'))) written += 4096
    }
    response.on('drain', pour)
    pour()
  }
  expect(await sender.send(receiver.url, {}, '{}')).toMatchObject({ ok: true, response: 'y'.repeat(1024) })
  expect(written).toBeLessThan(50_000_000)
  receiver.answer = (response) => response.writeHead(200).write('and then ')
  // A busy machine may need all of this time for a connection.
  const slow = await eventually(async () => {
    const outcome = await hasty.send(receiver.url, {}, '{}')
    return outcome.status !== undefined && outcome
  })
  expect(slow).toMatchObject({ ok: true, response: 'and then ' })
  expect(slow.durationMs).toBeGreaterThan(400)
  receiver.answer = (response) => {
    response.writeHead(500).write('half\0')
    setImmediate(() => response.destroy())
  }
  const { status, response } = await sender.send(receiver.url, {}, '{}')
  expect({ status, response: response!.slice(0, 5) }).toEqual({
    status: 500,
    response: expect.stringMatching(/^(half\ufffd)?$/),
  })
  // Half a character at the cut, and what is no text at all.
  receiver.answer = (answer) => answer.end(Buffer.alloc(20_000, 0xff))
  expect((await sender.send(receiver.url, {}, '{}')).response).toMatch(/^\ufffd+$/)
})

test('the next delivery reuses the connection', async () => {
  const receiver = await startReceiver()
  const sender = trustingSender(receiver)
  onTestFinished(() => sender.close())
  const sockets = new Set<unknown>()
  receiver.answer = (response) => {
    sockets.add(response.socket)
    response.end('thanks')
  }
  for (let n = 0; n < 5; n++) await sender.send(receiver.url, {}, '{}')
  // A connection is free again a tick after its answer.
  expect(sockets.size).toBeLessThanOrEqual(2)
})

test('a delivery whose event is gone ends, and delays no other', async () => {
  const post = await startPostman()
  const { id } = await post.subscribe()
  const { bank } = post
  await bank.sql`
    insert into deliveries (community_id, subscription_id, event_id, event_created_at)
    select ${bank.communityId}, ${id}, -n, now() from generate_series(1, 10) n`
  await post.credit()
  await post.deliver()
  expect(post.receiver.received).toHaveLength(1)
  const rows = await bank.sql`select status, count(*) from deliveries group by 1 order by 1`
  expect(rows).toEqual([
    { status: 'delivered', count: 1 },
    { status: 'failed', count: 10 },
  ])
})

test('dozens of slow receivers delay neither another community nor their own', async () => {
  const post = await startPostman()
  const { bank } = post
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await bank.token(undefined, await bank.addPartner({}, elsewhere))
  post.receiver.answer = (response, { path }) => void (path.endsWith('/slow') || response.writeHead(204).end())
  const { id } = await post.subscribe({ target_url: `${post.receiver.url}/slow` })
  const first = await takeIds(bank.sql, bank.communityId, 'subscriptions', 80)
  await bank.sql`
    insert into subscriptions (community_id, id, partner_id, client_id, event_types, target_url, scopes, secret)
    select community_id, ${first}::int8 + n - 1, partner_id, client_id, event_types, target_url, scopes, secret
    from subscriptions, generate_series(1, 80) n where id = ${id}`
  for (let n = 0; n < 4; n++) await post.credit()
  post.worker.wake()
  // 64 by the community's share, then one for each that has none under way.
  await eventually(() => post.receiver.received.length >= 64 + 65)
  const neighbour = await bank.token(undefined, await bank.addPartner())
  await post.subscribe({ target_url: `${post.receiver.url}/own` }, neighbour)
  await post.subscribe({ target_url: `${post.receiver.url}/other`, event_types: ['user.*'] }, stranger)
  await addMember(bank.sql, TESTER, elsewhere, { name: 'Zoe' })
  await post.credit()
  post.worker.wake()
  const arrived = (who: string) => post.receiver.received.some(({ path }) => path === `/hook/${who}`)
  await eventually(() => arrived('own') && arrived('other'))
})
