import { expect, test } from 'vitest'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { TESTER } from './bank.ts'
import { startPostman } from './postman.ts'

async function start() {
  const post = await startPostman()
  const owner = await addAdmin(post.bank)
  const subscription = await post.subscribe()
  const watch = async () => (await owner.call(`/webhooks/${subscription.id}`)).body.data
  const deliveries = async (query = '') =>
    (await owner.call(`/webhooks/${subscription.id}/deliveries${query}`)).body.data
  const audit = async (action: string) => (await owner.call(`/audit?action=${action}`)).body.data
  return { ...post, owner, id: subscription.id, secret: subscription.secret, watch, deliveries, audit }
}

test('subscriptions of all partners are listed with their health, never with their secret', async () => {
  const { bank, owner, id, secret, subscribe, credit, deliver, receiver } = await start()
  const other = await bank.addPartner({ name: 'Care network' })
  const { id: second } = await subscribe({}, await bank.token(undefined, other))
  receiver.answer = (response) => response.writeHead(500).end('no')
  await credit()
  await deliver()
  const list = await owner.call('/webhooks')
  expect(list.body.data).toMatchObject([
    { id: second, partner: { name: 'Care network', status: 'active' }, status: 'active' },
    {
      id,
      partner: { id: bank.partner.partnerId, name: 'Bank' },
      client: { client_id: bank.partner.clientId },
      target_url: receiver.url,
      failing_since: expect.any(String),
      last_success_at: null,
      waiting: { count: 1, more: false },
      failures_in_a_row: { count: 1, more: false },
      held: { count: 0, more: false },
    },
  ])
  expect(JSON.stringify(list.body)).not.toContain(secret)
  expect(JSON.stringify(list.body)).not.toContain('whsec')
  const ids = async (query: string) =>
    (await owner.call(`/webhooks?${query}`)).body.data.map((row: { id: number }) => row.id)
  expect(await ids(`partner_id=${other.partnerId}`)).toEqual([second])
  expect(await ids('status=paused')).toEqual([])
})

test('a failed delivery shows every attempt with its answer, and goes out again once the receiver is well', async () => {
  const { owner, credit, deliver, advance, receiver, deliveries, watch, audit } = await start()
  receiver.answer = (response) => response.writeHead(503).end('<b>try later</b>')
  await credit({ reference: 'tx-own', note: 'For the garden' })
  await deliver()
  await advance(10_000)
  const [listed] = await deliveries()
  expect(listed).toMatchObject({
    event_type: 'wallet.credited',
    status: 'pending',
    attempts_count: 2,
    last_attempt: { number: 2, status: 503, error_kind: 'status', at: expect.stringMatching(/Z$/) },
  })
  const shown = (await owner.call(`/deliveries/${listed.id}`)).body.data
  expect(shown.attempts).toMatchObject([
    { number: 2, status: 503, response: '<b>try later</b>' },
    { number: 1, status: 503, error: 'answered 503', duration_ms: expect.any(Number) },
  ])
  expect(shown.body).toEqual(receiver.received[0]!.json)
  expect(shown.body.data).toMatchObject({ reference: 'tx-own', note: 'For the garden' })

  receiver.answer = (response) => response.writeHead(204).end()
  const again = await owner.call(`/deliveries/${listed.id}/resend`, { method: 'POST' })
  expect([again.status, again.body.data.status]).toEqual([202, 'pending'])
  await deliver()
  expect(await deliveries('?status=delivered')).toMatchObject([{ id: listed.id, attempts_count: 3 }])
  expect(receiver.received.at(-1)!.id).toBe(listed.event_id)
  expect(await watch()).toMatchObject({ failing_since: null, failures_in_a_row: { count: 0 } })
  expect(await audit('delivery.resent')).toMatchObject([
    { actor: { name: 'The owner' }, detail: { delivery_id: listed.id, event_type: 'wallet.credited' } },
  ])
})

test('deliveries of a suspended partner are held, the page says why, and they are sent when it is resumed', async () => {
  const { bank, credit, deliver, deliveries, watch, receiver } = await start()
  const change = (input: Parameters<typeof changePartner>[4]) =>
    changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, input)
  await credit()
  await change({ status: 'suspended' })
  await deliver()
  expect(await deliveries()).toMatchObject([
    { status: 'held', held_reason: 'The partner is suspended', attempts_count: 0, last_attempt: null },
  ])
  expect(await watch()).toMatchObject({ held: { count: 1 }, partner: { status: 'suspended' } })
  // Nothing that leaves it suspended touches what is held, which may be a great deal.
  await change({ name: 'Renamed' })
  await change({ scopes: ['users.read'] })
  await change({ scopes: [...SCOPE_NAMES] })
  expect(await deliveries()).toMatchObject([{ status: 'held' }])
  expect(receiver.received).toEqual([])
  await change({ status: 'active' })
  await deliver()
  expect(await deliveries()).toMatchObject([{ status: 'delivered' }])
  await credit()
  await change({ scopes: ['users.read'] })
  await deliver()
  expect(await deliveries('?status=held')).toHaveLength(1)
  await change({ scopes: [...SCOPE_NAMES] })
  await deliver()
  expect(receiver.received).toHaveLength(2)
})

test('deliveries are filtered by state, event and time', async () => {
  const { owner, id, credit, deliver, deliveries } = await start()
  await credit()
  await owner.call(`/webhooks/${id}/test`, { method: 'POST' })
  await deliver()
  expect(await deliveries()).toHaveLength(2)
  expect(await deliveries('?event_type=webhook.test')).toMatchObject([{ event_type: 'webhook.test' }])
  expect(await deliveries('?status=failed')).toEqual([])
  expect(await deliveries('?from=2999-01-01T00:00:00Z')).toEqual([])
  expect(await deliveries('?until=2999-01-01T00:00:00Z')).toHaveLength(2)
  const first = await owner.call(`/webhooks/${id}/deliveries?limit=1`)
  const cursor = first.body.meta.next_cursor
  expect(await deliveries(`?limit=1&cursor=${cursor}`)).toMatchObject([{ event_type: 'wallet.credited' }])
  expect((await owner.call(`/webhooks/${id}/deliveries?status=lost`)).status).toBe(422)
})

test('an owner pauses, resumes, tests and replays; each is recorded', async () => {
  const { owner, id, credit, deliver, receiver, watch, audit } = await start()
  const act = (verb: string, body?: object) => owner.call(`/webhooks/${id}/${verb}`, { method: 'POST', body })
  await credit()
  await deliver()
  expect((await act('pause')).body.data).toMatchObject({
    status: 'paused',
    status_reason: "Paused by the community's administrators",
  })
  await credit()
  await deliver()
  expect(receiver.received).toHaveLength(1)
  expect((await act('test')).body).toMatchObject({
    error: 'refused',
    error_description: 'The subscription is paused. Resume it first.',
  })
  expect((await act('resume')).body.data).toMatchObject({ status: 'active', status_reason: null })
  await deliver()
  expect(receiver.received).toHaveLength(2)
  expect((await act('test')).body.data.event_id).toMatch(/^evt_/)
  await deliver()
  expect(receiver.received.at(-1)!.json.type).toBe('webhook.test')
  expect((await act('replay', { since: '2020-01-01T00:00:00Z' })).body.data).toEqual({ deliveries: 2 })
  await deliver()
  expect(receiver.received).toHaveLength(5)
  expect((await act('replay', { since: 'yesterday' })).body.errors).toMatchObject([{ field: 'since' }])
  expect((await watch()).last_success_at).toEqual(expect.any(String))
  const actions = (await audit('subscription.')).map((entry: { action: string }) => entry.action)
  expect(actions).toEqual([
    'subscription.replayed',
    'subscription.tested',
    'subscription.resumed',
    'subscription.paused',
    'subscription.created',
  ])
})

test('a receiver that says it is gone is shown as disabled, with the reason and the time', async () => {
  const { credit, deliver, receiver, watch } = await start()
  receiver.answer = (response) => response.writeHead(410).end()
  await credit()
  await deliver()
  expect(await watch()).toMatchObject({
    status: 'disabled',
    status_reason: 'The receiver answered 410 Gone',
    status_changed_at: expect.any(String),
  })
})

test('viewers look, only owners act, and ids of another community are unknown', async () => {
  const { bank, id, credit, deliver, deliveries, receiver } = await start()
  await credit()
  await deliver()
  const [delivery] = await deliveries()
  const [viewer, manager] = [await addAdmin(bank, 'viewer'), await addAdmin(bank, 'manager')]
  const stranger = await addAdmin(bank, 'owner', await bank.addCommunity('elsewhere'), 'elsewhere')
  for (const path of ['/webhooks', `/webhooks/${id}`, `/webhooks/${id}/deliveries`, `/deliveries/${delivery.id}`]) {
    expect((await viewer.call(path)).status).toBe(200)
    expect((await newBrowser(bank).call(path)).status).toBe(401)
    if (path !== '/webhooks') expect((await stranger.call(path)).status).toBe(404)
  }
  expect((await stranger.call('/webhooks')).body.data).toEqual([])
  const changes: [string, object?][] = [
    [`/webhooks/${id}/pause`],
    [`/webhooks/${id}/resume`],
    [`/webhooks/${id}/test`],
    [`/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' }],
    [`/deliveries/${delivery.id}/resend`],
  ]
  for (const [path, body] of changes) {
    for (const one of [viewer, manager]) {
      expect((await one.call(path, { method: 'POST', body })).body.error).toBe('role_insufficient')
    }
    expect((await stranger.call(path, { method: 'POST', body })).body.error).toBe('not_found')
  }
  expect((await viewer.call('/webhooks/x')).status).toBe(404)
  await deliver()
  expect(receiver.received).toHaveLength(1)
})
