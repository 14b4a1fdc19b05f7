import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { closeDueCommunities, closeDuePeriods } from '../src/features/aggregates/close-due-periods.ts'
import { sumOf, toFigure } from '../src/features/aggregates/figures.ts'
import { nothingPublished } from '../src/features/aggregates/published.ts'
import { renderDocument } from '../src/features/aggregates/render-document.ts'
import { CommunityAggregates } from '../src/features/aggregates/schema.ts'
import { connect } from '../src/postgres/connect.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, hideMember, leave } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { eventually, startBank, startTestNode, TESTER, type Bank, type TestPartner } from './bank.ts'
import { sendPlain, UNPACKERS } from './raw-http.ts'

const PATH = '/aggregates/community'
const HEARD_WITHIN = { timeout: 10_000, interval: 20 }
const HIDDEN = { suppressed: true }

const ten = (min: number) => ({ min, max: min + 9 })

/** A town that was founded with the year 2024. No node of it closes anything by itself: the test has the clock. */
async function foundTown(members: number, timeZone = 'UTC'): Promise<Bank & { members: number[] }> {
  const bank = await startBank({ config: { role: 'api' } })
  const founded = '2024-01-02T12:00:00Z'
  await bank.sql`
    update communities set created_at = ${founded}, time_zone = ${timeZone}, lower_limit_centihours = -100000000
    where id = ${bank.communityId}`
  return Object.assign(bank, { members: await join(bank, members, founded) })
}

async function join(bank: Bank, count: number, at: string): Promise<number[]> {
  const ids: number[] = []
  for (let n = 0; n < count; n++) {
    ids.push((await addMember(bank.sql, TESTER, bank.communityId, { name: `Member ${n}` })).id)
  }
  await bank.sql`
    update members set recorded_at = ${at} where community_id = ${bank.communityId} and id = any (${ids}::int8[])`
  return ids
}

/** The books stamp what they are told with the hour; here, that hour is the test's. */
async function stamp(bank: Bank, transfers: { id: number }[], at: string): Promise<number[]> {
  const ids = transfers.map(({ id }) => id)
  await bank.sql`
    update transfers set created_at = ${at} where community_id = ${bank.communityId} and id = any (${ids}::int8[])`
  return ids
}

/** Everyone gives their neighbour that many hours, in a ring. */
async function trade(bank: Bank, members: number[], at: string, hours = 2, occurredOn?: string): Promise<number[]> {
  const slips = members.map((giverId, n) => ({
    giverId,
    receiverId: members[(n + 1) % members.length]!,
    centihours: hours * 100,
    ...(occurredOn && { occurredOn }),
  }))
  return stamp(bank, await recordExchanges(bank.sql, TESTER, bank.communityId, slips), at)
}

async function takeBack(bank: Bank, transferId: number, at: string): Promise<void> {
  const reversal = await reverseTransfer(bank.sql, TESTER, bank.communityId, { transferId, reason: 'A mistake' })
  await stamp(bank, [reversal], at)
}

function slip(giverId: number, receiverId: number, hours: number) {
  return { giverId, receiverId, centihours: hours * 100 }
}

let references = 0

async function credit(bank: Bank, partner: TestPartner, members: number[], at: string, hours = 3): Promise<void> {
  const token = await bank.token(undefined, partner)
  for (const user_id of members) {
    const reference = `credit-${++references}`
    const { status } = await bank.call('/wallet/credit', { token, body: { user_id, hours, reference } })
    expect(status).toBe(201)
    await bank.sql`
      update transfers t set created_at = ${at} from credits c
      where t.community_id = ${bank.communityId} and c.community_id = ${bank.communityId}
        and c.transfer_id = t.id and c.reference = ${reference}`
  }
}

async function offer(bank: Bank, member_id: number, category: string, type: 'service' | 'request' = 'service') {
  return publishListing(bank.sql, TESTER, bank.communityId, {
    member_id,
    type,
    title: 'Bread',
    description: '',
    category,
    centihours: null,
    external_id: null,
  })
}

async function close(bank: Bank, now: string): Promise<void> {
  await closeDuePeriods(bank.sql, bank.communityId, new Date(now))
}

/** Nodes keep the document in memory, and hear within a second that there is another. */
async function read(bank: Bank): Promise<CommunityAggregates> {
  const token = await bank.token()
  const [stored] = await bank.sql<{ body: string }[]>`
    select body from aggregate_documents where community_id = ${bank.communityId}`
  return vi.waitFor(async () => {
    const { status, body } = await bank.call(PATH, { token })
    expect(status).toBe(200)
    if (stored) expect(body).toEqual(JSON.parse(stored.body))
    return body.data
  }, HEARD_WITHIN)
}

async function closeAndRead(bank: Bank, now: string): Promise<CommunityAggregates> {
  await close(bank, now)
  return read(bank)
}

test('a figure is the bucket its number lies in: ten wide below 1,000, two significant digits above, nothing below ten', () => {
  expect([9, 10, 19, 20, 240, 999, 1000, 1099, 1100, 12_345, 99_999].map(toFigure)).toEqual([
    HIDDEN,
    { min: 10, max: 19 },
    { min: 10, max: 19 },
    { min: 20, max: 29 },
    { min: 240, max: 249 },
    { min: 990, max: 999 },
    { min: 1000, max: 1099 },
    { min: 1000, max: 1099 },
    { min: 1100, max: 1199 },
    { min: 12_000, max: 12_999 },
    { min: 99_000, max: 99_999 },
  ])
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (value) => {
      const figure = toFigure(value)
      if (value < 10) {
        expect(figure).toEqual(HIDDEN)
        return
      }
      const { min, max } = figure as { min: number; max: number }
      expect(min <= value && value <= max).toBe(true)
      // Every number of a bucket is told the same, and its neighbours are not.
      expect([toFigure(min), toFigure(max)]).toEqual([figure, figure])
      expect(toFigure(max + 1)).toMatchObject({ min: max + 1 })
      expect(max - min + 1).toBe(Math.max(10, 10 ** (`${value}`.length - 2)))
    }),
  )
})

test('a total is the sum of what was published, no closer', () => {
  expect(sumOf([])).toEqual(HIDDEN)
  expect(sumOf([toFigure(12), toFigure(1234)].flatMap((figure) => ('min' in figure ? figure : [])))).toEqual({
    min: 1210,
    max: 1318,
  })
})

test('a community that has not lived through a close has an honest, empty document', async () => {
  const bank = await startBank()
  expect(await read(bank)).toEqual({
    closed_through: null,
    closed_at: null,
    flows: {
      exchanges: { total: HIDDEN, periods: [] },
      hours_exchanged: { total: HIDDEN, periods: [] },
      hours_credited: { total: HIDDEN, periods: [] },
      trading_members: { total: HIDDEN, periods: [] },
      new_members: { total: HIDDEN, periods: [] },
    },
    stocks: { active_members: HIDDEN, active_services: HIDDEN, active_requests: HIDDEN, listings_by_category: [] },
  })
})

test('strangers are refused, and tokens without the scope', async () => {
  const bank = await startBank()
  expect(await bank.call(PATH)).toMatchObject({ status: 401, body: { error: 'authentication_required' } })
  const token = await bank.token('users.read wallet.write')
  expect(await bank.call(PATH, { token })).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
})

test('a month with ten traders is told, by its buckets and in the documented shape', async () => {
  const town = await foundTown(12)
  await trade(town, town.members.slice(0, 10), '2024-01-15T12:00:00Z', 2.75)
  for (const member of town.members) await offer(town, member, 'Garden')
  const token = await town.token('aggregates.read')
  await close(town, '2024-02-11T00:00:00Z')
  const answer = await town.call(PATH, { token })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('api-version')).toBe('2.0')
  expect(answer.headers.get('cache-control')).toBe('private, no-cache')
  const january = { from: '2024-01', to: '2024-01' }
  const once = (min: number, max: number) => ({
    total: { min, max },
    periods: [{ ...january, figure: { min, max } }],
  })
  expect(answer.body).toEqual({
    data: {
      closed_through: '2024-01',
      closed_at: '2024-02-11T00:00:00.000Z',
      flows: {
        exchanges: once(10, 19),
        hours_exchanged: once(20, 29),
        hours_credited: { total: HIDDEN, periods: [{ ...january, figure: HIDDEN }] },
        trading_members: once(10, 19),
        new_members: once(10, 19),
      },
      stocks: {
        active_members: { min: 10, max: 19 },
        active_services: { min: 10, max: 19 },
        active_requests: HIDDEN,
        listings_by_category: [{ category: 'Garden', figure: { min: 10, max: 19 } }],
      },
    },
  })
  // The stored text bypasses the serialiser, so the schema is held to it here.
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(CommunityAggregates)
  expect(validate(answer.body.data), JSON.stringify(validate.errors)).toBe(true)
})

test('the entity tag comes from the stored bytes, and changes only with a close', async () => {
  const town = await foundTown(12)
  const token = await town.token()
  const before = await town.call(PATH, { token })
  await trade(town, town.members, '2024-01-15T12:00:00Z')
  await close(town, '2024-02-10T23:59:59Z')
  expect((await town.call(PATH, { token })).headers.get('etag')).toBe(before.headers.get('etag'))
  await closeAndRead(town, '2024-02-11T00:00:00Z')
  const after = await town.call(PATH, { token })
  const etag = after.headers.get('etag')!
  expect(etag).toMatch(/^W\/"/)
  expect(etag).not.toBe(before.headers.get('etag'))
  const again = await town.call(PATH, { token, headers: { 'if-none-match': `"other", ${etag}` } })
  expect(again).toMatchObject({ status: 304, body: '' })
  expect(again.headers.get('api-version')).toBe('2.0')
})

test('a long document goes out compressed to whoever accepts it, under the same tag', async () => {
  const town = await foundTown(12)
  const token = await town.token()
  const get = (headers: Record<string, string> = {}) =>
    sendPlain(`${town.url}${API_PREFIX}${PATH}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
  // What has nothing to tell is short.
  expect((await get({ 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBeNull()

  for (const month of ['2024-01', '2024-02', '2024-03']) await trade(town, town.members, `${month}-15T12:00:00Z`)
  await closeAndRead(town, '2024-04-11T00:00:00Z')
  const plain = await get()
  expect(plain.headers.get('content-encoding')).toBeNull()
  for (const [encoding, unpack] of Object.entries(UNPACKERS)) {
    const packed = await get({ 'accept-encoding': encoding })
    expect(Object.fromEntries(packed.headers)).toMatchObject({
      'content-encoding': encoding,
      'content-length': `${packed.bytes.length}`,
      'content-type': 'application/json; charset=utf-8',
      vary: 'accept-encoding',
      etag: plain.headers.get('etag'),
    })
    expect(unpack(packed.bytes)).toEqual(plain.bytes)
    const known = await get({ 'accept-encoding': encoding, 'if-none-match': plain.headers.get('etag')! })
    expect({ status: known.status, bytes: known.bytes.length }).toEqual({ status: 304, bytes: 0 })
    expect(known.headers.get('content-encoding')).toBeNull()
  }
})

test('a month with too few traders is told together with the next, or never', async () => {
  const town = await foundTown(12)
  await trade(town, town.members.slice(0, 6), '2024-01-15T12:00:00Z')
  await trade(town, town.members.slice(6), '2024-02-15T12:00:00Z')
  await trade(town, town.members.slice(0, 8), '2024-03-15T12:00:00Z')
  await trade(town, town.members.slice(0, 8), '2024-04-15T12:00:00Z')
  const { flows } = await closeAndRead(town, '2024-05-11T00:00:00Z')
  expect(flows.trading_members.periods).toEqual([
    { from: '2024-01', to: '2024-02', figure: { min: 10, max: 19 } },
    { from: '2024-03', to: '2024-04', figure: HIDDEN },
  ])
  expect(flows.exchanges.periods[0]).toEqual({ from: '2024-01', to: '2024-02', figure: { min: 10, max: 19 } })
  expect(flows.exchanges.total).toEqual({ min: 10, max: 19 })
})

test('nobody who has half of it, and nobody beside one other, can be found in a figure', async () => {
  const town = await foundTown(14)
  const [hub, ...others] = town.members as [number, ...number[]]
  // One member is in most of the hours, though not in most of the exchanges.
  const slips = others.map((other, n) => slip(other, others[(n + 1) % others.length]!, 1))
  const large = slip(hub, others[0]!, 30)
  await stamp(
    town,
    await recordExchanges(town.sql, TESTER, town.communityId, [...slips, large]),
    '2024-01-15T12:00:00Z',
  )
  const { flows } = await closeAndRead(town, '2024-02-11T00:00:00Z')
  expect(flows.exchanges.periods).toEqual([{ from: '2024-01', to: '2024-01', figure: { min: 10, max: 19 } }])
  expect(flows.hours_exchanged.periods).toEqual([{ from: '2024-01', to: '2024-01', figure: HIDDEN }])
})

test('a closed month is frozen; what is recorded later counts where it is recorded, whatever its day', async () => {
  const town = await foundTown(12)
  const january = await trade(town, town.members, '2024-01-15T12:00:00Z')
  const first = await closeAndRead(town, '2024-02-11T00:00:00Z')
  await trade(town, town.members, '2024-02-20T12:00:00Z', 2, '2024-01-15')
  await takeBack(town, january[0]!, '2024-02-21T12:00:00Z')
  // Even what is written into a closed month behind everyone's back.
  await trade(town, town.members, '2024-01-20T12:00:00Z')
  await close(town, '2024-02-12T00:00:00Z')
  expect(await read(town)).toEqual(first)
  const { flows } = await closeAndRead(town, '2024-03-11T00:00:00Z')
  // Twelve backdated ones, less the one of January that was taken back.
  expect(flows.exchanges.periods).toEqual([
    { from: '2024-01', to: '2024-01', figure: { min: 10, max: 19 } },
    { from: '2024-02', to: '2024-02', figure: { min: 10, max: 19 } },
  ])
  expect(flows.hours_exchanged.periods.map(({ figure }) => figure)).toEqual([
    { min: 20, max: 29 },
    { min: 20, max: 29 },
  ])
})

test('what is taken back before its month is told is as if it had never been', async () => {
  const town = await foundTown(13)
  const made = await trade(town, town.members.slice(0, 11), '2024-01-15T12:00:00Z')
  // Two of eleven in the ring: nine exchanges remain, though each of eleven members is still in one.
  for (const id of made.slice(0, 2)) await takeBack(town, id, '2024-01-31T23:59:59Z')
  const { flows } = await closeAndRead(town, '2024-02-11T00:00:00Z')
  expect(flows.trading_members.periods[0]!.figure).toEqual({ min: 10, max: 19 })
  expect(flows.exchanges.periods[0]!.figure).toEqual(HIDDEN)
})

test("months are the community's months", async () => {
  const town = await foundTown(12, 'Pacific/Auckland')
  // Half past midnight on the 1st of February there, still January elsewhere.
  await trade(town, town.members, '2024-01-31T11:30:00Z')
  await close(town, '2024-02-10T10:59:59Z')
  expect((await read(town)).closed_through).toBeNull()
  const january = await closeAndRead(town, '2024-02-10T11:00:00Z')
  expect(january.closed_through).toBe('2024-01')
  expect(january.flows.exchanges.periods).toEqual([{ from: '2024-01', to: '2024-01', figure: HIDDEN }])
  const february = await closeAndRead(town, '2024-03-11T00:00:00Z')
  expect(february.flows.exchanges.periods).toEqual([{ from: '2024-01', to: '2024-02', figure: { min: 10, max: 19 } }])
})

test('a change of the time zone counts nothing twice and leaves nothing out', async () => {
  const town = await foundTown(12, 'Pacific/Auckland')
  await close(town, '2024-02-11T00:00:00Z')
  await town.sql`update communities set time_zone = 'America/New_York' where id = ${town.communityId}`
  await trade(town, town.members, '2024-01-31T11:30:00Z')
  const { flows } = await closeAndRead(town, '2024-03-12T00:00:00Z')
  expect(flows.exchanges.periods).toEqual([{ from: '2024-01', to: '2024-02', figure: { min: 10, max: 19 } }])
  const bounds = await town.sql<{ starts_at: string; ends_at: string }[]>`
    select starts_at, ends_at from aggregate_periods order by month`
  expect(bounds.map(({ ends_at }) => ends_at)).toEqual(['2024-01-31T11:00:00Z', '2024-03-01T05:00:00Z'])
  expect(bounds[1]!.starts_at).toBe(bounds[0]!.ends_at)
})

test("a partner's credits count once enough members are behind them, whatever other partners do", async () => {
  const town = await foundTown(30)
  const care = await town.addPartner({ name: 'Care network' })
  await credit(town, town.partner, town.members.slice(0, 12), '2024-01-15T12:00:00Z')
  await credit(town, care, town.members.slice(12, 18), '2024-01-15T12:00:00Z', 100)
  await credit(town, town.partner, town.members.slice(0, 12), '2024-02-15T12:00:00Z')
  await credit(town, care, town.members.slice(18, 24), '2024-03-15T12:00:00Z', 100)
  const { flows } = await closeAndRead(town, '2024-04-11T00:00:00Z')
  expect(flows.hours_credited).toEqual({
    total: { min: 1260, max: 1377 },
    periods: [
      { from: '2024-01', to: '2024-01', figure: { min: 30, max: 39 } },
      { from: '2024-02', to: '2024-02', figure: { min: 30, max: 39 } },
      { from: '2024-03', to: '2024-03', figure: { min: 1200, max: 1299 } },
    ],
  })
  const [row] = await town.sql<[{ published: { waiting_partners: object } }]>`
    select published from aggregate_documents where community_id = ${town.communityId}`
  expect(row.published.waiting_partners).toEqual({})
})

test('a credit that a partner takes back counts against the month of the return', async () => {
  const town = await foundTown(30)
  await credit(town, town.partner, town.members.slice(0, 20), '2024-01-15T12:00:00Z', 4)
  await close(town, '2024-02-11T00:00:00Z')
  await credit(town, town.partner, town.members.slice(0, 20), '2024-02-15T12:00:00Z', 4)
  const reference = `credit-${references - 25}`
  const token = await town.token()
  const body = { reference, reversal_reference: 'returned' }
  expect((await town.call('/wallet/credits/reverse', { token, body })).status).toBe(201)
  await town.sql`update transfers set created_at = '2024-02-20T12:00:00Z' where kind = 'reversal'`
  const { flows } = await closeAndRead(town, '2024-03-11T00:00:00Z')
  expect(flows.hours_credited.periods.map(({ figure }) => figure)).toEqual([
    { min: 80, max: 89 },
    { min: 70, max: 79 },
  ])
})

test('a stock stays as it was told until ten members have changed it', async () => {
  const town = await foundTown(40)
  await close(town, '2024-02-11T00:00:00Z')
  expect((await read(town)).stocks.active_members).toEqual({ min: 40, max: 49 })
  // The hidden count, the leavers and the erased do not.
  await hideMember(town.sql, TESTER, town.communityId, town.members[0]!)
  for (const id of town.members.slice(1, 9)) await leave(town.sql, TESTER, town.communityId, id)
  await eraseMember(town.sql, TESTER, town.communityId, town.members[9]!)
  expect((await closeAndRead(town, '2024-03-11T00:00:00Z')).stocks.active_members).toEqual({ min: 40, max: 49 })
  await leave(town.sql, TESTER, town.communityId, town.members[10]!)
  expect((await closeAndRead(town, '2024-04-11T00:00:00Z')).stocks.active_members).toEqual({ min: 30, max: 39 })
  // Counted afresh since.
  await leave(town.sql, TESTER, town.communityId, town.members[11]!)
  expect((await closeAndRead(town, '2024-05-11T00:00:00Z')).stocks.active_members).toEqual({ min: 30, max: 39 })
})

test('a category is named once ten members are behind it, and one that is suppressed takes another with it', async () => {
  const town = await foundTown(24)
  const listings = []
  for (const member of town.members) listings.push(await offer(town, member, 'Garden'))
  for (const member of town.members.slice(0, 14)) listings.push(await offer(town, member, 'Kitchen', 'request'))
  for (const member of town.members.slice(0, 11)) listings.push(await offer(town, member, 'Music'))
  for (const member of town.members.slice(0, 9)) await offer(town, member, 'Rare')
  const first = await closeAndRead(town, '2024-02-11T00:00:00Z')
  expect(first.stocks).toMatchObject({ active_services: { min: 40, max: 49 }, active_requests: { min: 10, max: 19 } })
  expect(first.stocks.listings_by_category).toEqual([
    { category: 'Garden', figure: ten(20) },
    { category: 'Kitchen', figure: ten(10) },
    { category: 'Music', figure: ten(10) },
  ])
  for (const { id } of listings.slice(-10)) await closeListing(town.sql, TESTER, town.communityId, id)
  const second = await closeAndRead(town, '2024-03-11T00:00:00Z')
  expect(second.stocks.listings_by_category).toEqual([
    { category: 'Garden', figure: ten(20) },
    { category: 'Kitchen', figure: HIDDEN },
    { category: 'Music', figure: HIDDEN },
  ])
})

const category = (name: string, min?: number) => ({ name, figure: min ? ten(min) : HIDDEN })

function told(...categories: object[]): (number | undefined)[] {
  const published = { ...nothingPublished('2024-01'), categories: { ...categories } as never }
  const { listings_by_category } = JSON.parse(renderDocument(published, null)).data.stocks
  return listings_by_category.map(({ figure }: { figure: { min?: number } }) => figure.min)
}

test('the smallest of the categories that are told is the one that goes with a suppressed one', () => {
  expect(told(category('A', 20), category('B'), category('C', 10))).toEqual([20, undefined, undefined])
  expect(told(category('A', 20), category('B'), category('C', 20))).toEqual([undefined, undefined, 20])
  expect(told(category('A', 20), category('B'), category('C'))).toEqual([20, undefined, undefined])
  expect(told(category('A'))).toEqual([undefined])
})

test('however many nodes close at once, each month is closed once', async () => {
  const town = await foundTown(12)
  for (const month of ['01', '02', '03']) await trade(town, town.members, `2024-${month}-15T12:00:00Z`)
  const statements: string[] = []
  const nodes = Array.from({ length: 6 }, () =>
    connect(town.databaseUrl, { connectionsMax: 1, name: 'test node', onStatement: (text) => statements.push(text) }),
  )
  const now = new Date('2024-04-11T00:00:00Z')
  await Promise.all([
    ...nodes.slice(0, 3).map((sql) => closeDuePeriods(sql, town.communityId, now)),
    ...nodes.slice(3).map((sql) => closeDueCommunities(sql, pino({ level: 'silent' }), now)),
  ])
  await Promise.all(nodes.map((sql) => sql.end()))
  expect(statements.filter((text) => text.includes('insert into aggregate_periods'))).toHaveLength(3)
  expect(statements.filter((text) => text.includes('as exchanges_largest'))).toHaveLength(3)
  expect(statements.filter((text) => text.includes('insert into aggregate_holdings'))).toHaveLength(1)
  expect((await read(town)).flows.exchanges).toMatchObject({
    total: { min: 30, max: 57 },
    periods: [{ to: '2024-01' }, { to: '2024-02' }, { to: '2024-03' }],
  })
})

test('a community that fails to close holds up nobody, and each has figures of its own', async () => {
  const town = await foundTown(12)
  const village = await town.addCommunity('village')
  await town.sql`update communities set created_at = '2024-01-02', time_zone = 'Nowhere/Never' where id = ${town.communityId}`
  await town.sql`update communities set created_at = '2024-01-02' where id = ${village}`
  await closeDueCommunities(town.sql, pino({ level: 'silent' }), new Date('2024-02-11T00:00:00Z'))
  const rows = await town.sql`select community_id from aggregate_periods`
  expect(rows).toEqual([{ community_id: village }])
  expect((await read(town)).closed_through).toBeNull()
})

test('nodes that work close what is due when they start; nodes that only answer do not', async () => {
  const town = await foundTown(12)
  await trade(town, town.members, '2024-01-15T12:00:00Z')
  expect((await read(town)).closed_at).toBeNull()
  await Promise.all([
    startTestNode(town.databaseUrl, { config: { role: 'worker' } }),
    startTestNode(town.databaseUrl, { config: { role: 'all' } }),
  ])
  const { closed_through } = await eventually(async () => {
    const answer = await read(town)
    return answer.closed_at !== null && answer
  })
  expect(Date.parse(`${closed_through}-01`)).toBeGreaterThan(Date.now() - 75 * 24 * 60 * 60 * 1000)
})
