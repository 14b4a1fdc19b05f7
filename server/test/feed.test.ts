import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connect, transaction } from '../src/postgres/connect.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { EVENT_DAYS } from '../src/postgres/prune.ts'
import { recordEvents } from '../src/features/events/record.ts'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { sealPosition } from '../src/http/shared/sealed-position.ts'
import { callNode, eventually, SECRET_KEY, startBank, startTestNode, TESTER, type Bank } from './bank.ts'

const WRITERS = 50
const EVENTS_PER_WRITER = 10
const DELAY_MAX_MS = 150
const DAY_MS = 24 * 60 * 60 * 1000

interface FeedEvent {
  id: string
  type: string
  data: Record<string, unknown>
}

async function readFeed(bank: Bank, token: string, cursor?: string, limit = 100) {
  const query = new URLSearchParams({ limit: `${limit}`, ...(cursor && { cursor }) })
  return bank.call(`/events?${query}`, { token })
}

/** From the cursor to the end there is now. */
async function readAll(bank: Bank, token: string, cursor?: string): Promise<{ events: FeedEvent[]; cursor: string }> {
  const events: FeedEvent[] = []
  for (;;) {
    const { status, body } = await readFeed(bank, token, cursor)
    if (status !== 200) throw new Error(JSON.stringify(body))
    events.push(...body.data)
    cursor = body.meta.next_cursor as string
    if (!body.meta.has_more) return { events, cursor }
  }
}

const allPlaced = (bank: Bank) =>
  eventually(async () => (await bank.sql`select from events where position is null`).length === 0)

test('a reader beside fifty writers that commit late neither misses nor repeats an event', async () => {
  const bank = await startBank()
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const writing = connect(bank.databaseUrl, { connectionsMax: WRITERS, name: 'test writers' })
  let written = 0

  async function write(writer: number): Promise<void> {
    for (let n = 0; n < EVENTS_PER_WRITER; n++) {
      await transaction(writing, async (tx) => {
        const data = { user_id: member.id, balance_centihours: 0, version: writer * EVENTS_PER_WRITER + n }
        await recordEvents(tx, bank.communityId, [{ type: 'wallet.balance_changed', memberId: member.id, data }])
        await pause(Math.random() * DELAY_MAX_MS)
      })
      written += 1
    }
  }
  const writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  const seen: string[] = []
  let cursor: string | undefined
  let rounds = 0
  const total = WRITERS * EVENTS_PER_WRITER
  await eventually(async () => {
    const { status, body } = await readFeed(bank, token, cursor, 7)
    expect(status).toBe(200)
    for (const event of body.data as FeedEvent[]) if (event.type === 'wallet.balance_changed') seen.push(event.id)
    cursor = body.meta.next_cursor
    rounds += 1
    return written === total && !body.meta.has_more && seen.length >= total
  })
  await writers
  await writing.end()
  const stored = await bank.sql`select uuid from events where type = 'wallet.balance_changed'`
  expect(seen).toHaveLength(total)
  expect(seen.toSorted()).toEqual(stored.map(({ uuid }) => `evt_${uuid}`).toSorted())
  expect(rounds).toBeGreaterThan(total / 7)
})

test('the feed holds what the scopes of the token allow, and goes on from its cursor', async () => {
  const bank = await startBank()
  const all = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada', email: 'ada@example.org' })
  await publishListing(bank.sql, TESTER, bank.communityId, {
    member_id: member.id,
    type: 'service',
    title: 'Bread',
    description: '',
    category: 'Kitchen',
    centihours: 100,
    external_id: null,
  })
  await bank.call('/wallet/credit', { token: all, body: { user_id: member.id, hours: 1, reference: 'a', note: 'n' } })
  await allPlaced(bank)
  const types = async (scope: string) => {
    const { body } = await readFeed(bank, await bank.token(scope))
    return (body.data as FeedEvent[]).map(({ type }) => type)
  }
  expect(await types('webhooks.manage')).toEqual([])
  expect(await types('webhooks.manage users.read')).toEqual(['user.joined'])
  expect(await types('webhooks.manage listings.read')).toEqual(['listing.published'])
  expect(await types('webhooks.manage wallet.read')).toEqual(['wallet.credited'])
  const { events, cursor } = await readAll(bank, all)
  expect(events.map(({ type }) => type)).toEqual(['user.joined', 'listing.published', 'wallet.credited'])
  expect(events[0]!.data).toMatchObject({ email: 'ada@example.org', version: 1 })
  expect(events[2]!.data).toMatchObject({ reference: 'a', note: 'n', hours: 1 })
  expect((await bank.sql`select from audit_log where action = 'members.email_read'`).length).toBe(1)
  const plain = await readAll(bank, await bank.token('webhooks.manage users.read'))
  expect(plain.events[0]!.data).not.toHaveProperty('email')
  const stranger = await bank.addPartner()
  const others = await readAll(bank, await bank.token(undefined, stranger))
  expect(others.events[2]!.data).toEqual({ user_id: member.id, balance_hours: 1, version: expect.any(Number) })

  expect((await readAll(bank, all, cursor)).events).toEqual([])
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await allPlaced(bank)
  expect((await readAll(bank, all, cursor)).events.map(({ data }) => data.name)).toEqual(['Bo'])
})

test('a reader of the oldest events gets a cursor that works, though only whole weeks are pruned', async () => {
  const bank = await startBank()
  const token = await bank.token()
  for (let n = 0; n < 3; n++) await addMember(bank.sql, TESTER, bank.communityId, { name: `Member ${n}` })
  await allPlaced(bank)
  const at = new Date(Date.now() - (EVENT_DAYS + 1) * DAY_MS)
  await createPartitions(bank.sql, at)
  await bank.sql`update events set created_at = ${at}`
  const first = await readFeed(bank, token, undefined, 1)
  expect(first.body.meta.has_more).toBe(true)
  const second = await readFeed(bank, token, first.body.meta.next_cursor)
  expect((second.body.data as FeedEvent[]).map(({ data }) => data.name)).toEqual(['Member 1', 'Member 2'])
})

test('a page ends after many events that the reader may not read, and the next goes on', async () => {
  const bank = await startBank()
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await publishListing(bank.sql, TESTER, bank.communityId, {
    member_id: member.id,
    type: 'service',
    title: 'Mowing',
    description: '',
    category: 'Garden',
    centihours: 100,
    external_id: null,
  })
  await allPlaced(bank)
  // As if half a million others lay between them.
  await bank.sql`update events set position = position + 500000 where type like 'listing.%'`
  await bank.sql`update event_heads set position = position + 500000`
  const token = await bank.token('webhooks.manage listings.read')
  const first = await readFeed(bank, token)
  expect(first.body).toMatchObject({ data: [], meta: { has_more: true } })
  expect(first.headers.get('link')).toContain('rel="next"')
  const { events, cursor } = await readAll(bank, token)
  expect(events.map(({ type }) => type)).toEqual(['listing.published'])
  expect((await readAll(bank, token, cursor)).events).toEqual([])
})

test('the feed of another community has none of the events', async () => {
  const bank = await startBank()
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await bank.addPartner({}, elsewhere)
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await allPlaced(bank)
  const { body } = await readFeed(bank, await bank.token(undefined, stranger))
  expect(body.data).toEqual([])
})

test('a cursor older than what is kept is 410 cursor_expired, one from before a restore 410 resync_required', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const { body } = await readFeed(bank, token)
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await allPlaced(bank)
  const later = await readFeed(bank, token)
  await bank.sql`update event_heads set pruned_position = position`
  const expired = await readFeed(bank, token, body.meta.next_cursor)
  expect({ status: expired.status, error: expired.body.error }).toEqual({ status: 410, error: 'cursor_expired' })
  // A reader that was at the end continues; a new reader starts with the oldest event that is left.
  expect(await readFeed(bank, token, later.body.meta.next_cursor)).toMatchObject({ status: 200, body: { data: [] } })
  expect(await readFeed(bank, token)).toMatchObject({ status: 200, body: { data: [] } })

  await bank.sql`update installation set epoch = gen_random_uuid()`
  const { url } = await startTestNode(bank.databaseUrl)
  const restored = await callNode(url, `/events?cursor=${later.body.meta.next_cursor}`, { token })
  expect({ status: restored.status, error: restored.body.error }).toEqual({ status: 410, error: 'resync_required' })
})

test('cursors and entity tags show nothing of events that the token may not read, and cursors cannot be forged', async () => {
  const bank = await startBank()
  const blind = await bank.token('webhooks.manage listings.read')
  const read = async (path: string) => {
    const { status, headers, body } = await bank.call(path, { token: blind })
    return { status, etag: headers.get('etag'), cursor: body.meta?.next_cursor as string, error: body.error }
  }
  const first = await read('/events')
  for (let n = 0; n < 11; n++) await addMember(bank.sql, TESTER, bank.communityId, { name: `Member ${n}` })
  await allPlaced(bank)
  const second = await read('/events')
  expect(second.etag).toBe(first.etag)
  expect(second.cursor).not.toBe(first.cursor)
  expect(second.cursor.length).toBe(first.cursor.length)
  const [epoch, list, sealed] = JSON.parse(`${Buffer.from(second.cursor, 'base64url')}`) as [string, string, string]
  expect(typeof sealed).toBe('string')
  expect((await bank.call('/events', { token: blind, headers: { 'if-none-match': first.etag! } })).status).toBe(304)

  const encode = (position: unknown) => Buffer.from(JSON.stringify([epoch, list, position])).toString('base64url')
  const bytes = Buffer.from(sealed, 'base64url')
  bytes[bytes.length - 1]! ^= 1
  for (const forged of [3, '3', bytes.toString('base64url')]) {
    expect(await read(`/events?cursor=${encode(forged)}`)).toMatchObject({ status: 410, error: 'cursor_expired' })
  }
  expect(await read(`/events?cursor=${encode(sealed)}`)).toMatchObject({ status: 200 })

  // A partner of two communities fills one of them itself, to know its positions.
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await bank.token(undefined, await bank.addPartner({}, elsewhere))
  const carried = await bank.call(`/events?cursor=${encode(sealed)}`, { token: stranger })
  expect(carried.body.error).toBe('cursor_expired')
})

test('a cursor expires by its age, not by what happened since', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const [row] = await bank.sql<[{ epoch: string }]>`select epoch from installation`
  const box = createSecretBox(SECRET_KEY, undefined, 'feed cursors')
  const readAt = async (days: number) => {
    const at = new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString()
    const place = { epoch: row.epoch, list: `events of community ${bank.communityId}` }
    const { body } = await readFeed(bank, token)
    const [epoch, list] = JSON.parse(`${Buffer.from(body.meta.next_cursor, 'base64url')}`) as [string, string]
    const cursor = JSON.stringify([epoch, list, sealPosition(box, place, { id: 0, at })])
    return (await readFeed(bank, token, Buffer.from(cursor).toString('base64url'))).status
  }
  expect(await readAt(29)).toBe(200)
  expect(await readAt(31)).toBe(410)
})

test('the feed needs a token with webhooks.manage; an invalid cursor gets 422', async () => {
  const bank = await startBank()
  expect((await bank.call('/events')).status).toBe(401)
  expect((await readFeed(bank, await bank.token('users.read'))).status).toBe(403)
  const token = await bank.token()
  expect((await bank.call('/events?cursor=nonsense', { token })).status).toBe(422)
  expect((await bank.call('/events?limit=101', { token })).status).toBe(422)
})
