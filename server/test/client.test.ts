import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ApiError, Hourbank, HourbankError, verifyWebhook, type HourbankOptions } from '../../client/src/index.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, changeMember, leave } from '../src/features/members/change-member.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { createSender } from '../src/delivery/send.ts'
import { eventually, startBank, TESTER, type Bank, type BankOptions, type TestPartner } from './bank.ts'
import { credentials } from './oauth.ts'
import { startReceiver } from './receiver.ts'

let bank: Bank
let hourbank: Hourbank

async function start(options?: BankOptions): Promise<void> {
  bank = await startBank(options)
  hourbank = clientOf(bank)
}

function clientOf(
  { url }: { url: string },
  options: Partial<HourbankOptions> = {},
  partner: TestPartner = bank.partner,
) {
  return new Hourbank({
    baseUrl: url,
    clientId: partner.clientId,
    clientSecret: partner.clientSecret,
    retries: 0,
    ...options,
  })
}

async function join(...names: string[]) {
  const members = []
  for (const name of names) members.push(await addMember(bank.sql, TESTER, bank.communityId, { name }))
  return members
}

function publish(member_id: number, title: string, type: 'service' | 'request' = 'service') {
  return publishListing(bank.sql, TESTER, bank.communityId, {
    member_id,
    type,
    title,
    description: 'Two loaves',
    category: 'Kitchen',
    centihours: 150,
    external_id: null,
  })
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function refusalOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

describe('members', () => {
  test('are read one by one, by page, and all in a row', async () => {
    await start()
    const [ada, bo, cy] = await join('Ada', 'Bo', 'Cy')
    await changeMember(bank.sql, TESTER, bank.communityId, ada!.id, { email: 'ada@example.org' })
    expect(await hourbank.users.get(ada!.id)).toMatchObject({ name: 'Ada', email: 'ada@example.org', status: 'active' })

    const first = await hourbank.users.list({ limit: 2 })
    expect(first.data.map(({ name }) => name)).toEqual(['Ada', 'Bo'])
    expect(first.meta).toMatchObject({ limit: 2, has_more: true })
    const second = await hourbank.users.list({ limit: 2, cursor: first.meta.next_cursor! })
    expect(second.data.map(({ id }) => id)).toEqual([cy!.id])

    expect((await collect(hourbank.users.iterate({ limit: 1 }))).map(({ name }) => name)).toEqual(['Ada', 'Bo', 'Cy'])
    const pages = await collect(hourbank.users.pages({ limit: 2 }))
    expect(pages.map(({ data }) => data.length)).toEqual([2, 1])
    const { data } = await hourbank.users.list({ payment_reference: bo!.payment_reference })
    expect(data.map(({ name }) => name)).toEqual(['Bo'])

    expect(await refusalOf(hourbank.users.get(999))).toMatchObject({ status: 404, code: 'user_not_found' })
    // What is no id must not lead somewhere else.
    await expect(hourbank.users.get('..' as never)).rejects.toBeInstanceOf(TypeError)
    await expect(hourbank.users.get(1.5)).rejects.toBeInstanceOf(TypeError)
  })

  test('are kept as a copy by rounds of changes and removals', async () => {
    await start()
    const [ada, bo] = await join('Ada', 'Bo')
    const first = await hourbank.users.changes()
    expect(first.items.map(({ name }) => name)).toEqual(['Ada', 'Bo'])
    const removals = await hourbank.removals.changes()
    expect(removals.items).toEqual([])

    await changeMember(bank.sql, TESTER, bank.communityId, ada!.id, { name: 'Ada Lang' })
    await leave(bank.sql, TESTER, bank.communityId, bo!.id)
    const second = await hourbank.users.changes(first.syncedUntil)
    expect(second.items.map(({ name }) => name)).toEqual(['Ada Lang'])
    const gone = await hourbank.removals.changes(removals.syncedUntil)
    expect(gone.items).toMatchObject([{ type: 'user', id: bo!.id }])
    expect((await hourbank.users.changes(second.syncedUntil)).items).toEqual([])
    expect((await hourbank.removals.changes(gone.syncedUntil)).items).toEqual([])
  })
})

test('listings are read one by one, filtered, all in a row, and by changes and removals', async () => {
  await start()
  const [ada] = await join('Ada')
  const bread = await publish(ada!.id, 'Bread')
  await publish(ada!.id, 'Lift', 'request')
  expect(await hourbank.listings.get(bread.id)).toMatchObject({ title: 'Bread', hours: 1.5, user_id: ada!.id })
  const titles = async (query: object) => (await hourbank.listings.list(query)).data.map(({ title }) => title)
  expect(await titles({})).toEqual(['Bread', 'Lift'])
  expect(await titles({ type: 'request' })).toEqual(['Lift'])
  expect(await titles({ q: 'bread', category: 'Kitchen', user_id: ada!.id })).toEqual(['Bread'])
  expect(await collect(hourbank.listings.iterate({ limit: 1 }))).toHaveLength(2)
  expect(await collect(hourbank.listings.pages({ limit: 1 }))).toHaveLength(2)

  const { items, syncedUntil } = await hourbank.listings.changes()
  expect(items).toHaveLength(2)
  await closeListing(bank.sql, TESTER, bank.communityId, bread.id)
  expect((await hourbank.listings.changes(syncedUntil)).items).toEqual([])
  const removal = { type: 'listing', id: bread.id }
  expect((await hourbank.removals.list({ since: syncedUntil, type: 'listing' })).data).toMatchObject([removal])
  expect(await collect(hourbank.removals.iterate())).toMatchObject([removal])
  expect(await collect(hourbank.removals.pages({ type: 'user' }))).toMatchObject([{ data: [] }])
})

describe('hours', () => {
  test('are credited once per reference, and a repetition is told what happened', async () => {
    await start()
    const [ada] = await join('Ada')
    const request = { user_id: ada!.id, hours: 1.5, reference: 'a/b?c=ä&🥖', note: 'Hi', settled_on: '2026-01-30' }
    const credit = await hourbank.wallet.credit(request)
    expect(credit).toMatchObject({ ...request, status: 'completed', balance_hours: 1.5, replayed: false })
    expect(await hourbank.wallet.credit(request)).toEqual({ ...credit, replayed: true })
    expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ user_id: ada!.id, balance_hours: 1.5 })

    const refusal = await refusalOf(hourbank.wallet.credit({ ...request, hours: 2 }))
    const { replayed: _, ...stored } = credit
    expect(refusal).toMatchObject({ status: 409, code: 'reference_conflict', storedCredit: stored, data: stored })
    expect((await hourbank.wallet.credits({ reference: request.reference })).data).toEqual([stored])
  })

  test('two hundred identical credits at once make one transfer', async () => {
    await start()
    const [ada] = await join('Ada')
    const credit = { user_id: ada!.id, hours: 1, reference: 'tx-1' }
    const answers = await Promise.all(Array.from({ length: 200 }, () => hourbank.wallet.credit(credit)))
    expect(new Set(answers.map(({ transaction_id }) => transaction_id)).size).toBe(1)
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 1 })
  })

  test('are listed with the sum of the whole selection, and taken back once', async () => {
    await start()
    const [ada] = await join('Ada')
    for (const hours of [1, 2, 3]) {
      await hourbank.wallet.credit({ user_id: ada!.id, hours, reference: `tx-${hours}` })
    }
    const page = await hourbank.wallet.credits({ user_id: ada!.id, limit: 1 })
    expect(page).toMatchObject({ data: [{ reference: 'tx-1' }], meta: { total_count: 3, total_hours: 6 } })
    const all = await collect(hourbank.wallet.iterateCredits({ limit: 2 }))
    expect(all.map(({ reference }) => reference)).toEqual(['tx-1', 'tx-2', 'tx-3'])
    expect(await collect(hourbank.wallet.creditPages({ limit: 2 }))).toHaveLength(2)

    const request = { reference: 'tx-2', reversal_reference: 'back-2', reason: 'Returned' }
    const reversal = await hourbank.wallet.reverse(request)
    expect(reversal).toMatchObject({ ...request, credit: { status: 'reversed', hours: 2 }, replayed: false })
    expect(await hourbank.wallet.reverse(request)).toEqual({ ...reversal, replayed: true })
    expect(await refusalOf(hourbank.wallet.reverse({ ...request, reversal_reference: 'back-3' }))).toMatchObject({
      code: 'reference_conflict',
      storedCredit: { reference: 'tx-2', status: 'reversed' },
    })
    expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 4 })
    const reversed = await hourbank.wallet.credits({ status: 'reversed' })
    expect(reversed).toMatchObject({ data: [{ reference: 'tx-2' }], meta: { total_count: 1, total_hours: 2 } })
  })
})

test('community totals are read as they are', async () => {
  await start()
  const aggregates = await hourbank.aggregates.community()
  const { body } = await bank.call('/aggregates/community', { token: await bank.token() })
  expect(aggregates).toEqual(body.data)
  expect(aggregates.stocks.active_members).toEqual({ suppressed: true })
})

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

describe('a refusal', () => {
  test('names every field, the scope that is needed, the request as the service knows it, and no credentials', async () => {
    await start()
    const error = await refusalOf(hourbank.wallet.credit({ user_id: 1, hours: -1, reference: '' }))
    expect(error).toMatchObject({ name: 'ApiError', kind: 'api', status: 422, code: 'validation_failed' })
    expect(error.errors.map(({ field }) => field).toSorted()).toEqual(['hours', 'reference'])
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(error.message).toContain('POST /wallet/credit: 422 validation_failed')
    expect(error).toBeInstanceOf(HourbankError)

    const reader = clientOf(bank, { scope: ['users.read', 'listings.read'] })
    expect(await refusalOf(reader.wallet.credits())).toMatchObject({
      code: 'insufficient_scope',
      requiredScopes: ['wallet.read', 'wallet.write'],
      message: expect.stringContaining('Needs the scope wallet.read or wallet.write.'),
    })
    expect((await reader.users.list()).data).toEqual([])

    const wrong = clientOf(bank, { retries: 5 }, { ...bank.partner, clientSecret: 'not-the-right-secret' })
    const refusal = await refusalOf(wrong.users.list())
    expect(refusal).toMatchObject({ status: 401, code: 'invalid_client' })
    expect(inspect([refusal, wrong], { depth: 10, showHidden: true })).not.toContain('not-the-right-secret')
  })

  test('by an administrator who switched the API off is told at once, with the reason', async () => {
    await start()
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Closed over Easter' })
    const waits: number[] = []
    const patient = clientOf(bank, { retries: 5, wait: async (ms) => void waits.push(ms) })
    const error = await eventually(() => refusalOf(patient.users.list()))
    expect(error).toMatchObject({ status: 503, code: 'partner_api_disabled', retryAfterSeconds: 5 })
    expect(error.description).toContain('Closed over Easter')
    expect(waits).toEqual([])
  })

  test('for too many requests is told with the time to wait when that is longer than the call may take', async () => {
    await start()
    await bank.sql`update partners set rate_limit_per_minute = 2`
    const waits: number[] = []
    const hasty = clientOf(bank, { retries: 5, totalTimeoutMs: 1_000, wait: async (ms) => void waits.push(ms) })
    await hasty.users.list()
    const error = await refusalOf(hasty.users.list())
    expect(error).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(error.retryAfterSeconds).toBeGreaterThan(1)
    expect(waits).toEqual([])
  })
})

/** A client that tells what it sent. */
function counting() {
  const paths: string[] = []
  let authorization = ''
  const client = clientOf(bank, {
    fetch: (url, init) => {
      paths.push(new URL(url).pathname.replace(API_PREFIX, ''))
      authorization = init.headers.authorization ?? authorization
      return fetch(url, init)
    },
  })
  const tokens = () => paths.filter((path) => path === '/oauth/token').length
  return { client, paths, tokens, held: () => authorization.replace('Bearer ', '') }
}

async function liveTokens(): Promise<number> {
  const [row] = await bank.sql`select count(*)::int4 as live from tokens where revoked_at is null`
  return row!.live
}

describe('the token', () => {
  test('is asked for once by a hundred calls at once, kept, and replaced in the middle when it was revoked', async () => {
    await start()
    const { client, tokens, held } = counting()
    const [ada] = await join('Ada')
    await Promise.all(Array.from({ length: 100 }, () => client.users.list()))
    expect(tokens()).toBe(1)
    await bank.call('/oauth/revoke', { body: { ...credentials(bank.partner), token: held() } })
    await client.wallet.credit({ user_id: ada!.id, hours: 1, reference: 'tx-1' })
    expect(tokens()).toBe(2)
    expect(await client.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 1 })
  })

  test('is given back on request, after which there is another, and at the end, after which there is none', async () => {
    await start()
    const { client, tokens, paths } = counting()
    await client.revokeToken()
    expect(paths).toEqual([])
    await client.users.list()
    await client.revokeToken()
    expect(await liveTokens()).toBe(0)
    await client.users.list()
    expect({ live: await liveTokens(), tokens: tokens() }).toEqual({ live: 1, tokens: 2 })

    await client.close()
    expect(await liveTokens()).toBe(0)
    const sent = paths.length
    await expect(client.users.list()).rejects.toMatchObject({ name: 'HourbankError', kind: 'closed' })
    await client.close()
    expect(paths.length).toBe(sent)
  })
})

test('an address is taken with or without the prefix and a slash; what is none, and limits that are none, are refused', async () => {
  await start()
  for (const baseUrl of [bank.url, `${bank.url}/`, `${bank.url}/api/partner/v1`, `${bank.url}/api/partner/v1/`]) {
    expect((await clientOf({ url: baseUrl }).users.list()).data).toEqual([])
  }
  for (const baseUrl of ['', 'hours.example.org', 'ftp://a', 'https://a:b@c', 'https://a?b', 'https://a#b']) {
    expect(() => clientOf({ url: baseUrl })).toThrow(TypeError)
  }
  expect(() => clientOf(bank, { clientId: '' })).toThrow(TypeError)
  expect(() => clientOf(bank, { clientSecret: undefined as never })).toThrow(TypeError)
  for (const wrong of [{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { totalTimeoutMs: Infinity }, { retries: 1000 }]) {
    expect(() => clientOf(bank, wrong)).toThrow(RangeError)
    await expect(hourbank.users.list({}, wrong)).rejects.toBeInstanceOf(RangeError)
  }
  // Nor does a client that is printed tell what it was given.
  const printed = inspect(hourbank, { depth: 10, showHidden: true }) + JSON.stringify(hourbank)
  expect(printed).not.toContain(bank.partner.clientSecret)
  expect(printed).not.toContain(bank.partner.clientId)
})
