import { describe, expect, test } from 'vitest'
import { verifyWebhook } from '../../client/src/index.ts'
import { createSender } from '../src/delivery/send.ts'
import { eventually } from './bank.ts'
import { startReceiver } from './receiver.ts'
import { bank, hourbank, start, join, collect, refusalOf } from './client-calls.ts'

async function startWithReceiver() {
  const receiver = await startReceiver()
  const sender = createSender({
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    allowPrivateTargets: true,
    ca: receiver.ca,
  })
  await start({ sender })
  await bank.sql`update partners set rate_limit_per_minute = 100000`
  const { subscriptions } = hourbank.webhooks
  const arrived = (type: string, count = 1) =>
    eventually(() => {
      const found = receiver.received.filter(({ json }) => json.type === type)
      return found.length >= count && found.at(-1)!
    })
  return { receiver, subscriptions, arrived }
}

describe('webhooks', () => {
  test('are chosen from a catalogue, subscribed to, changed, paused, listed and deleted', async () => {
    await start()
    const { subscriptions } = hourbank.webhooks
    const made = await subscriptions.create({
      event_types: ['wallet.*', 'future.thing'],
      target_url: 'https://partner.example.org/hook',
    })
    expect(made).toMatchObject({ status: 'active', unknown_event_types: ['future.thing'] })
    expect(made.secret).toMatch(/^whsec_/)
    const { secret: _, unknown_event_types: __, ...plain } = made
    expect(await subscriptions.get(made.id)).toEqual(plain)
    expect((await subscriptions.list()).data).toEqual([plain])
    expect(await collect(subscriptions.iterate())).toEqual([plain])
    expect(await subscriptions.update(made.id, { status: 'paused', event_types: ['*'] })).toMatchObject({
      status: 'paused',
      event_types: ['*'],
      unknown_event_types: [],
    })
    expect(await subscriptions.delete(made.id)).toBeUndefined()
    expect((await subscriptions.list()).data).toEqual([])
    expect(await refusalOf(subscriptions.delete(made.id))).toMatchObject({ code: 'subscription_not_found' })

    const types = await hourbank.webhooks.eventTypes()
    expect(types.find(({ name }) => name === 'user.joined')).toMatchObject({ scope: 'users.read' })
  })

  test('arrive, are verified, and are sent again on request', async () => {
    const { receiver, subscriptions, arrived } = await startWithReceiver()
    const { id, secret } = await subscriptions.create({ event_types: ['wallet.credited'], target_url: receiver.url })
    const { event_id } = await subscriptions.test(id)
    const tried = await arrived('webhook.test')
    const event = await verifyWebhook(tried.body, tried.headers, secret)
    expect(event).toEqual({ id: event_id, ...tried.json })
    // The type of the event tells the type of its data: this would not compile otherwise.
    if (event.type === 'webhook.test') expect(event.data.subscription_id).toBe(id)

    const [ada] = await join('Ada')
    await hourbank.wallet.credit({ user_id: ada!.id, hours: 1.5, reference: 'tx-1' })
    const credited = await arrived('wallet.credited')
    expect(await verifyWebhook(credited.body, credited.headers, secret)).toMatchObject({
      type: 'wallet.credited',
      data: { user_id: ada!.id, hours: 1.5, reference: 'tx-1', balance_hours: 1.5 },
    })

    const delivery = await eventually(async () => {
      const { data } = await subscriptions.deliveries(id, { status: 'delivered' })
      return data.find(({ event_type }) => event_type === 'wallet.credited')
    })
    expect(delivery).toMatchObject({ event_id: credited.id, attempts: [{ status: 204 }] })
    expect(await collect(subscriptions.iterateDeliveries(id, { limit: 1 }))).toHaveLength(2)

    expect(await hourbank.webhooks.redeliver(delivery.id)).toMatchObject({ id: delivery.id, subscription_id: id })
    expect((await arrived('wallet.credited', 2)).id).toBe(credited.id)
    expect(await subscriptions.replay(id, { since: '2020-01-01T00:00:00Z' })).toEqual({ deliveries: 1 })
    expect((await arrived('wallet.credited', 3)).id).toBe(credited.id)
  })

  test('are signed with both secrets after a rotation', async () => {
    const { receiver, subscriptions, arrived } = await startWithReceiver()
    const old = await subscriptions.create({ event_types: ['*'], target_url: receiver.url })
    const fresh = await subscriptions.rotateSecret(old.id)
    expect(fresh.secret).not.toBe(old.secret)
    await subscriptions.test(old.id)
    const { body, headers } = await arrived('webhook.test')
    for (const secrets of [old.secret, fresh.secret, [old.secret, fresh.secret]]) {
      expect(await verifyWebhook(body, headers, secrets)).toMatchObject({ type: 'webhook.test' })
    }
  })
})

test('events are followed as a feed, from where the last reading ended', async () => {
  await start()
  await bank.sql`update partners set rate_limit_per_minute = 100000`
  const [ada] = await join('Ada')
  const first = await eventually(async () => {
    const page = await hourbank.events.list({ limit: 10 })
    return page.data.length > 0 && page
  })
  expect(first.data).toMatchObject([{ type: 'user.joined', data: { id: ada!.id, name: 'Ada', version: 1 } }])
  const cursor = first.meta.next_cursor!
  expect(await collect(hourbank.events.iterate({ cursor }))).toEqual([])

  await hourbank.wallet.credit({ user_id: ada!.id, hours: 1, reference: 'tx-1' })
  await join('Bo', 'Cy')
  const types = () => collect(hourbank.events.iterate({ cursor, limit: 1 })).then((all) => all.map(({ type }) => type))
  const expected = ['wallet.credited', 'user.joined', 'user.joined']
  await eventually(async () => (await types()).length === expected.length)
  expect(await types()).toEqual(expected)
  const pages = await collect(hourbank.events.pages({ cursor, limit: 2 }))
  expect(pages.map(({ data }) => data.length)).toEqual([2, 1])
  expect(await collect(hourbank.events.pages({ cursor: pages.at(-1)!.meta.next_cursor! }))).toMatchObject([
    { data: [] },
  ])
})
