import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, test } from 'vitest'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { eventually, SECRET_KEY, startBank, TESTER, type Answer } from './bank.ts'
import { partnerActions, startPostman, trustingSender } from './postman.ts'
import { startReceiver, type Received } from './receiver.ts'

const HOUR_MS = 60 * 60 * 1000
const PATH = '/webhooks/subscriptions'
const GOOD = { event_types: ['wallet.*'], target_url: 'https://hooks.example.org/hourbank' }

const outcome = ({ status, body }: Answer) => ({ status, error: body.error })
const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

test('deliveries are verified by the public Standard Webhooks libraries, unmodified', async () => {
  const receiver = await startReceiver()
  const bank = await startBank({ sender: trustingSender(receiver) })
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const { status, body, headers } = await bank.call(PATH, {
    token,
    body: { event_types: ['wallet.*', 'user.*', 'future.thing'], target_url: receiver.url },
  })
  expect({ status, meta: body.meta }).toEqual({ status: 201, meta: { unknown_event_types: ['future.thing'] } })
  expect(headers.get('location')).toBe(`/api/partner/v1${PATH}/${body.data.id}`)
  await bank.call('/wallet/credit', { token, body: { user_id: member.id, hours: 1.5, reference: 'tx-1', note: 'hi' } })
  const received = await eventually(() => receiver.received.find(({ json }) => json.type === 'wallet.credited'))
  expect(verify(body.data.secret, received)).toEqual(received.json)
  const svix = new SvixWebhook(body.data.secret)
  expect(svix.verify(received.body, received.headers as Record<string, string>)).toEqual(received.json)
  expect(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, received)).toThrow()
  expect(received.json.data).toMatchObject({
    user_id: member.id,
    hours: 1.5,
    reference: 'tx-1',
    note: 'hi',
    balance_hours: 1.5,
  })
  const { deliveries } = partnerActions(bank, token, member.id, receiver)
  const log = await eventually(async () =>
    (await deliveries(body.data.id)).find(
      ({ event_type, status: is }: Record<string, string>) => event_type === 'wallet.credited' && is === 'delivered',
    ),
  )
  expect(log).toMatchObject({
    event_id: received.id,
    status: 'delivered',
    attempts: [{ number: 1, status: 204, error_kind: null }],
  })
})

test('each endpoint asks for a token, for webhooks.manage, and hides what belongs to others', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  const [delivery] = await post.deliveries(id)
  const narrow = await bank.token('users.read')
  const other = await bank.token(undefined, await bank.addPartner())
  const elsewhere = await bank.addCommunity('elsewhere')
  const abroad = await bank.token(undefined, await bank.addPartner({}, elsewhere))
  const since = new Date(Date.now() - HOUR_MS).toISOString()
  const ofOne: [method: string, path: string, status: number, body?: object][] = [
    ['GET', `${PATH}/${id}`, 200],
    ['PATCH', `${PATH}/${id}`, 200, { event_types: ['wallet.credited'] }],
    ['POST', `${PATH}/${id}/test`, 202],
    ['POST', `${PATH}/${id}/rotate-secret`, 200],
    ['POST', `${PATH}/${id}/replay`, 202, { since }],
    ['GET', `${PATH}/${id}/deliveries`, 200],
    ['POST', `/webhooks/deliveries/${delivery.id}/redeliver`, 202],
    ['DELETE', `${PATH}/${id}`, 200],
  ]
  const ofAll: typeof ofOne = [
    ['GET', PATH, 200],
    ['POST', PATH, 201, GOOD],
    ['GET', '/webhooks/event-types', 200],
  ]
  for (const [method, path, status, body] of [...ofAll, ...ofOne]) {
    const as = async (of: string | undefined) => {
      const answer = await bank.call(path, { method, token: of, body })
      return { request: `${method} ${path}`, ...outcome(answer) }
    }
    const request = `${method} ${path}`
    expect(await as(undefined)).toEqual({ request, status: 401, error: 'authentication_required' })
    expect(await as(narrow)).toEqual({ request, status: 403, error: 'insufficient_scope' })
    if (path.includes(`/${id}`) || path.includes('/deliveries/')) {
      const error = path.includes('redeliver') ? 'delivery_not_found' : 'subscription_not_found'
      expect(await as(other)).toEqual({ request, status: 404, error })
      expect(await as(abroad)).toEqual({ request, status: 404, error })
      const unknown = path.replace(/\/\d+/, '/x')
      expect(outcome(await bank.call(unknown, { method, token, body }))).toEqual({ status: 404, error })
    }
    expect(await as(token)).toEqual({ request, status, error: undefined })
  }
  for (const path of [`${PATH}/${id}`, `${PATH}/${id}/deliveries`]) {
    expect((await bank.call(path, { token })).status).toBe(404)
  }
  expect((await bank.call(PATH, { token: other })).body.data).toEqual([])
})

test('twenty subscriptions and no more, even when forty are asked for at once', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const token = await bank.token()
  const answers = await Promise.all(Array.from({ length: 40 }, () => bank.call(PATH, { token, body: GOOD })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
  expect(
    answers.filter(({ status, body }) => status === 409 && body.error === 'subscription_limit_reached'),
  ).toHaveLength(20)
  const { body } = await bank.call(PATH, { token })
  expect(body.data).toHaveLength(20)
  await bank.call(`${PATH}/${body.data[0].id}`, { method: 'DELETE', token })
  expect((await bank.call(PATH, { token, body: GOOD })).status).toBe(201)
  const other = await bank.token(undefined, await bank.addPartner())
  expect((await bank.call(PATH, { token: other, body: GOOD })).status).toBe(201)
})

test('an invalid subscription gets 422 with the field', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const token = await bank.token()
  const { body: made } = await bank.call(PATH, { token, body: GOOD })
  const wrong: [field: string, body: object][] = [
    ['event_types', { event_types: [] }],
    ['event_types', { event_types: Array.from({ length: 51 }, (_, n) => `future.e${n}`) }],
    ['event_types', { event_types: 'wallet.credited' }],
    ['event_types', { event_types: ['Wallet.credited'] }],
    ['event_types', { event_types: ['wallet.'] }],
    ['event_types', { event_types: ['*.credited'] }],
    ['event_types', { event_types: [''] }],
    ['event_types', { event_types: [`a.${'b'.repeat(99)}`] }],
    ...[
      'http://hooks.example.org/',
      'ftp://hooks.example.org/',
      'hooks.example.org',
      'https:hooks.example.org',
      'https://',
      'https://user:secret@hooks.example.org/',
      'https://user@hooks.example.org/',
      'https://hooks.example.org/#part',
      'https://hooks.example.org/#',
      ' https://hooks.example.org/',
      `https://hooks.example.org/${'a'.repeat(2049 - 'https://hooks.example.org/'.length)}`,
      'https://localhost/',
      'https://localhost./',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://[::1]/',
      'https://intranet/',
      'https://hooks.example.org:99999/',
    ].map((target_url): [string, object] => ['target_url', { target_url }]),
    ['target_url', { target_url: null }],
  ]
  for (const [field, change] of wrong) {
    for (const [path, method] of [
      [PATH, 'POST'],
      [`${PATH}/${made.data.id}`, 'PATCH'],
    ] as const) {
      const { status, body } = await bank.call(path, {
        token,
        method,
        body: method === 'POST' ? { ...GOOD, ...change } : change,
      })
      expect({ change, status, error: body.error }).toEqual({ change, status: 422, error: 'validation_failed' })
      expect(body.errors[0].field.split('.')[0]).toBe(field)
    }
  }
  const missing = await bank.call(PATH, { token, body: {} })
  expect(missing.body.errors.map((error: { field: string }) => error.field)).toEqual(['event_types', 'target_url'])
  expect(
    outcome(await bank.call(`${PATH}/${made.data.id}`, { token, method: 'PATCH', body: { status: 'disabled' } }))
      .status,
  ).toBe(422)
  expect(
    outcome(await bank.call(`${PATH}/${made.data.id}/replay`, { token, body: { since: 'yesterday' } })).status,
  ).toBe(422)
  const longest = `https://hooks.example.org/${'a'.repeat(2048 - 'https://hooks.example.org/'.length)}`
  const fifty = Array.from({ length: 50 }, (_, n) => `future.e${n}`)
  const accepted = await bank.call(PATH, { token, body: { event_types: fifty, target_url: longest } })
  expect(accepted.status).toBe(201)
  expect(accepted.body.meta.unknown_event_types).toEqual(fifty)
})

test('the secret is shown only on creation and rotation, and is encrypted at rest', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id, secret } = await post.subscribe()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const rotated = await bank.call(`${PATH}/${id}/rotate-secret`, { method: 'POST', token })
  expect(rotated.body.data.secret).not.toBe(secret)
  const others = [
    await bank.call(PATH, { token }),
    await bank.call(`${PATH}/${id}`, { token }),
    await bank.call(`${PATH}/${id}`, { token, method: 'PATCH', body: { status: 'paused' } }),
    await bank.call(`${PATH}/${id}/deliveries`, { token }),
    await bank.call(`${PATH}/${id}`, { token, method: 'DELETE' }),
  ]
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(JSON.stringify(others.map(({ body }) => body))).not.toContain('whsec')
  const { id: another, secret: plain } = await post.subscribe()
  const [row] = await bank.sql<[{ secret: Buffer }]>`select secret from subscriptions where id = ${another}`
  expect(row.secret.includes(plain)).toBe(false)
  expect(row.secret.includes(Buffer.from(plain.slice(6), 'base64'))).toBe(false)
  expect(createSecretBox(SECRET_KEY).open(row.secret)).toBe(plain)
  const audits = await bank.sql`
    select actor_kind, actor_name, action, detail from audit_log where subject_kind = 'subscription' and subject_id = ${id} order by id`
  expect(audits.map(({ action }) => action)).toEqual([
    'subscription.created',
    'subscription.secret_rotated',
    'subscription.changed',
    'subscription.deleted',
  ])
  expect(audits[0]).toMatchObject({
    actor_kind: 'client',
    actor_name: bank.partner.clientId,
    detail: { event_types: ['wallet.*'], target_host: `receiver.test:${post.receiver.port}` },
  })
  expect(JSON.stringify(audits)).not.toContain('whsec')
})

test('after a rotation both secrets verify for a day, then the new one alone', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id, secret: old } = await post.subscribe()
  const { body } = await bank.call(`${PATH}/${id}/rotate-secret`, { method: 'POST', token })
  const fresh = body.data.secret as string
  await post.credit()
  await post.deliver()
  const [during] = post.receiver.received
  for (const secret of [old, fresh]) {
    expect(verify(secret, during!)).toEqual(during!.json)
    const svix = new SvixWebhook(secret)
    expect(svix.verify(during!.body, during!.headers as Record<string, string>)).toEqual(during!.json)
  }
  await post.advance(23.9 * HOUR_MS)
  await post.credit()
  await post.deliver()
  const signatures = (n: number) => String(post.receiver.received[n]!.headers['webhook-signature']).split(' ')
  expect(signatures(1)).toHaveLength(2)
  await post.advance(0.2 * HOUR_MS)
  await post.credit()
  await post.deliver()
  expect(signatures(2)).toHaveLength(1)
})

test('a subscription waits while paused, continues when resumed, follows changes, and ends when deleted', async () => {
  const post = await startPostman()
  const { bank, token, receiver } = post
  const { id } = await post.subscribe()
  const patch = async (body: object) => (await bank.call(`${PATH}/${id}`, { token, method: 'PATCH', body })).body.data
  expect(await patch({ status: 'paused' })).toMatchObject({ status: 'paused' })
  await post.credit()
  await post.advance(HOUR_MS)
  expect(receiver.received).toEqual([])
  expect(await post.deliveries(id)).toMatchObject([{ status: 'pending', attempts: [] }])
  expect(await patch({ status: 'active' })).toMatchObject({ status: 'active', status_reason: null })
  await post.deliver()
  expect(receiver.received).toHaveLength(1)
  expect(await patch({ event_types: ['user.*'], target_url: `${receiver.url}/elsewhere` })).toMatchObject({
    event_types: ['user.*'],
    target_url: `${receiver.url}/elsewhere`,
  })
  await post.credit()
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await post.deliver()
  expect(receiver.received.map(({ path, json }) => [path, json.type])).toEqual([
    ['/hook', 'wallet.credited'],
    ['/hook/elsewhere', 'user.joined'],
  ])
  expect(await patch({})).toMatchObject({ id, status: 'active' })
  await bank.call(`${PATH}/${id}`, { token, method: 'DELETE' })
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Cy' })
  await post.deliver()
  expect(receiver.received).toHaveLength(2)
  expect(await bank.sql`select from deliveries`).toHaveLength(0)
})

test('a change to what a subscription already has changes and records nothing; others record what differs', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id } = await post.subscribe()
  const change = async (body: object) => (await bank.call(`${PATH}/${id}`, { method: 'PATCH', token, body })).body.data
  const stored = await post.subscription(id)
  const { event_types, target_url } = stored
  const queues = () => bank.sql`select resets from delivery_queues`
  await post.credit()
  await post.deliver()
  const before = { subscription: await post.subscription(id), queues: await queues() }
  for (const body of [{ event_types, target_url, status: 'active' }, { status: 'active' }, { event_types }, {}]) {
    expect(await change(body)).toEqual(before.subscription)
  }
  expect({ subscription: await post.subscription(id), queues: await queues() }).toEqual(before)
  await change({ event_types: ['wallet.credited'], target_url, status: 'active' })
  // While it fails, setting the status again restarts the count of failures.
  post.receiver.answer = (response) => response.writeHead(500).end()
  await post.credit()
  await post.deliver()
  expect(await post.subscription(id)).toMatchObject({ failing_since: expect.any(String) })
  expect(await change({ status: 'active' })).toMatchObject({ failing_since: null })
  const audits = await bank.sql`select detail from audit_log where action = 'subscription.changed' order by id`
  expect(audits).toEqual([{ detail: { event_types: ['wallet.credited'] } }, { detail: { status: 'active' } }])
})

test('a test event goes to that subscription alone, whatever it subscribes to, and not into the feed', async () => {
  const post = await startPostman()
  const { bank, token, receiver } = post
  const { id } = await post.subscribe({ event_types: ['listing.*'], target_url: `${receiver.url}/this` })
  await post.subscribe({ event_types: ['*'], target_url: `${receiver.url}/other` })
  const { body } = await bank.call(`${PATH}/${id}/test`, { method: 'POST', token })
  await post.deliver()
  expect(receiver.received).toMatchObject([
    { path: '/hook/this', id: body.data.event_id, json: { type: 'webhook.test', data: { subscription_id: id } } },
  ])
  const feed = await bank.call('/events', { token })
  expect(feed.body.data.map(({ type }: { type: string }) => type)).not.toContain('webhook.test')
})

test('a redelivery has the id of the delivery and starts the schedule again', async () => {
  const post = await startPostman()
  const { bank, token, receiver } = post
  const { id } = await post.subscribe()
  receiver.answer = (response) => response.writeHead(500).end()
  await post.credit()
  await post.deliver()
  receiver.answer = (response) => response.writeHead(204).end()
  const [failed] = await post.deliveries(id)
  const again = await bank.call(`/webhooks/deliveries/${failed.id}/redeliver`, { method: 'POST', token })
  expect(again).toMatchObject({ status: 202, body: { data: { id: failed.id, status: 'pending' } } })
  await post.deliver()
  const [delivered] = await post.deliveries(id)
  expect(delivered).toMatchObject({ status: 'delivered', attempts: [{ status: 500 }, { status: 204 }] })
  receiver.answer = (response) => response.writeHead(200).end('thanks')
  await bank.call(`/webhooks/deliveries/${failed.id}/redeliver`, { method: 'POST', token })
  await post.deliver()
  // The success before is still told, between the failure and the new one, but not what it was answered with.
  const [twice] = await post.deliveries(id)
  expect(twice.attempts).toMatchObject([
    { number: 1, status: 500 },
    { number: 1, status: 204, response: null },
    { number: 1, status: 200, response: 'thanks' },
  ])
  expect(new Set(receiver.received.map((received) => received.id)).size).toBe(1)
  expect(receiver.received).toHaveLength(3)
})

test('a replay sends all events since a time in order under their ids, including missed ones', async () => {
  const post = await startPostman()
  const { bank, token, receiver } = post
  await post.credit()
  const since = (await bank.sql`select clock_timestamp() as now`)[0]!.now
  await post.credit()
  await post.deliver()
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  expect(receiver.received).toHaveLength(1)
  const { status, body } = await bank.call(`${PATH}/${id}/replay`, { token, body: { since } })
  expect({ status, body }).toEqual({ status: 202, body: { data: { deliveries: 2 } } })
  await post.deliver()
  expect(receiver.received.map(({ json }) => json.data.reference).toSorted()).toEqual(['tx-2', 'tx-3', 'tx-3'])
  const [first, , third] = receiver.received.toSorted((one, other) =>
    one.json.data.reference < other.json.data.reference ? 1 : -1,
  )
  expect(first!.id).not.toBe(third!.id)
  const nothing = await bank.call(`${PATH}/${id}/replay`, { token, body: { since: '2099-01-01T00:00:00Z' } })
  expect(nothing.body.data).toEqual({ deliveries: 0 })
})
