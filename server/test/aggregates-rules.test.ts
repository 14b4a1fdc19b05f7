import { pino } from 'pino'
import { expect, test } from 'vitest'
import { closeDueCommunities, closeDuePeriods } from '../src/features/aggregates/close-due-periods.ts'
import { hidesEveryone, RULE } from '../src/features/aggregates/rule.ts'
import { connect } from '../src/postgres/connect.ts'
import { closeListing } from '../src/features/listings/change-listing.ts'
import { hideMember, leave, showMember } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { eventually, startTestNode, TESTER, type Bank, type TestPartner } from './bank.ts'
import {
  HIDDEN,
  ten,
  foundTown,
  stamp,
  trade,
  offer,
  close,
  read,
  closeAndRead,
  category,
  told,
} from './aggregate-months.ts'

async function takeBack(bank: Bank, transferId: number, at: string): Promise<void> {
  const reversal = await reverseTransfer(bank.sql, TESTER, bank.communityId, { transferId, reason: 'A mistake' })
  await stamp(bank, [reversal], at)
}

function slip(giverId: number, receiverId: number, hours: number) {
  return { giverId, receiverId, centihours: hours * 100 }
}

async function listVisible(bank: Bank): Promise<number[]> {
  const rows = await bank.sql<{ id: number }[]>`
    select id from members where community_id = ${bank.communityId} and visible order by id`
  return rows.map(({ id }) => id)
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

test('a month with too few traders is merged with the next, or suppressed', async () => {
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

test('a figure needs ten members behind it, however much they did', async () => {
  const town = await foundTown(10)
  for (const day of [15, 16, 17]) await trade(town, town.members.slice(0, 9), `2024-01-${day}T12:00:00Z`)
  const early = await closeAndRead(town, '2024-02-11T00:00:00Z')
  const hidden = [{ from: '2024-01', to: '2024-01', figure: HIDDEN }]
  // 27 exchanges of 54 hours, but of nine.
  expect(early.flows.exchanges.periods).toEqual(hidden)
  expect(early.flows.hours_exchanged.periods).toEqual(hidden)
  await trade(town, town.members.slice(-2), '2024-02-15T12:00:00Z')
  const { flows } = await closeAndRead(town, '2024-03-11T00:00:00Z')
  expect(flows.exchanges.periods).toEqual([{ from: '2024-01', to: '2024-02', figure: ten(20) }])
  expect(flows.hours_exchanged.periods).toEqual([{ from: '2024-01', to: '2024-02', figure: ten(50) }])
})

test('of two large contributors, neither can find out the other: the rest is at least a tenth of the larger part', () => {
  const parts = { members: 12, largest: 100, second: 100 }
  const totals = [209, 210]
  const isTold = totals.map((total) => hidesEveryone({ ...parts, total }, parts.members + RULE.outsidersMin))
  expect(isTold).toEqual([false, true])
})

test('a figure is suppressed if one member contributed more than half of it', async () => {
  const town = await foundTown(16)
  const [hub, ...others] = town.members as [number, ...number[]]
  // One member is in half of the hours or more, with several others, though not in half of the exchanges.
  for (const [month, hours] of [
    ['01', 3],
    ['02', 3.01],
  ] as const) {
    await trade(town, others, `2024-${month}-15T12:00:00Z`, 1)
    const slips = others.slice(0, 5).map((other) => slip(hub, other, hours))
    const large = await recordExchanges(town.sql, TESTER, town.communityId, slips)
    await stamp(town, large, `2024-${month}-15T12:00:00Z`)
  }
  const { flows } = await closeAndRead(town, '2024-03-11T00:00:00Z')
  expect(flows.exchanges.periods).toEqual([
    { from: '2024-01', to: '2024-01', figure: ten(20) },
    { from: '2024-02', to: '2024-02', figure: ten(20) },
  ])
  expect(flows.hours_exchanged.periods).toEqual([
    { from: '2024-01', to: '2024-01', figure: ten(30) },
    { from: '2024-02', to: '2024-02', figure: HIDDEN },
  ])
})

test('a closed month never changes; later records count in the month they are recorded, whatever their date', async () => {
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

test('an exchange reversed before its month is published is ignored', async () => {
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
  expect(bounds.map(({ ends_at }) => ends_at)).toEqual(['2024-01-31T11:00:00.000000Z', '2024-03-01T05:00:00.000000Z'])
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

test('a credit that a partner reverses counts against the month of the reversal', async () => {
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

test('a stock stays as published until ten members have changed it', async () => {
  const town = await foundTown(40)
  await close(town, '2024-02-11T00:00:00Z')
  expect((await read(town)).stocks.active_members).toEqual({ min: 70, max: 79 })
  // Neither the hidden count, nor the leavers, nor the erased.
  await hideMember(town.sql, TESTER, town.communityId, town.members[0]!)
  for (const id of town.members.slice(1, 9)) await leave(town.sql, TESTER, town.communityId, id)
  await eraseMember(town.sql, TESTER, town.communityId, town.members[9]!)
  await showMember(town.sql, TESTER, town.communityId, town.members[0]!)
  expect((await closeAndRead(town, '2024-03-11T00:00:00Z')).stocks.active_members).toEqual({ min: 70, max: 79 })
  await hideMember(town.sql, TESTER, town.communityId, town.members[0]!)
  expect((await closeAndRead(town, '2024-04-11T00:00:00Z')).stocks.active_members).toEqual({ min: 60, max: 69 })
  // Counted afresh since.
  await leave(town.sql, TESTER, town.communityId, town.members[11]!)
  expect((await closeAndRead(town, '2024-05-11T00:00:00Z')).stocks.active_members).toEqual({ min: 60, max: 69 })
})

test('stocks count only what partners can see', async () => {
  const town = await foundTown(32)
  for (const member of town.members) await offer(town, member, 'Garden')
  for (const id of town.members.slice(0, 12)) await hideMember(town.sql, TESTER, town.communityId, id)
  const { stocks } = await closeAndRead(town, '2024-02-11T00:00:00Z')
  const token = await town.token()
  const users = await town.call('/users?limit=100', { token })
  const listings = await town.call('/listings?limit=100', { token })
  expect([users.body.data.length, listings.body.data.length]).toEqual([50, 20])
  expect(stocks).toMatchObject({
    active_members: { min: 50, max: 59 },
    active_services: { min: 20, max: 29 },
    listings_by_category: [{ category: 'Garden', figure: { min: 20, max: 29 } }],
  })
})

test('a figure needs ten members who are not behind it, so that it cannot reveal that everyone traded', async () => {
  const town = await foundTown(11)
  for (const id of (await listVisible(town)).slice(12, 29)) await leave(town.sql, TESTER, town.communityId, id)
  expect(await listVisible(town)).toHaveLength(24)
  for (const member of town.members) await offer(town, member, 'Garden')
  await trade(town, town.members, '2024-01-15T12:00:00Z')
  const { flows, stocks } = await closeAndRead(town, '2024-02-11T00:00:00Z')
  expect(stocks.active_members).toEqual({ min: 20, max: 29 })
  // Thirteen of 24 did nothing, but the published number of members allows for 11: everybody.
  expect(flows.trading_members.periods).toEqual([{ from: '2024-01', to: '2024-01', figure: HIDDEN }])
  expect(flows.exchanges.periods).toEqual([{ from: '2024-01', to: '2024-01', figure: HIDDEN }])
  expect(stocks.active_services).toEqual(HIDDEN)
})

test('a period that waits for a year stays suppressed, and the next one starts', async () => {
  const town = await foundTown(40)
  await trade(town, town.members, '2024-01-15T12:00:00Z')
  await trade(town, town.members.slice(0, 12), '2025-01-15T12:00:00Z')
  const early = await closeAndRead(town, '2024-12-11T00:00:00Z')
  // Forty of seventy members traded, and 51 is the most that may: so January is told at once.
  expect(early.flows.trading_members.periods[0]!.figure).toEqual({ min: 40, max: 49 })
  const all = await listVisible(town)
  await trade(town, all, '2024-12-15T12:00:00Z')
  const { flows } = await closeAndRead(town, '2026-02-11T00:00:00Z')
  expect(flows.trading_members.periods).toEqual([
    { from: '2024-01', to: '2024-01', figure: ten(40) },
    { from: '2024-02', to: '2025-01', figure: HIDDEN },
    { from: '2025-02', to: '2026-01', figure: HIDDEN },
  ])
  expect(flows.trading_members.total).toEqual(ten(40))
  await trade(town, town.members.slice(0, 12), '2026-02-15T12:00:00Z')
  const later = await closeAndRead(town, '2026-03-11T00:00:00Z')
  expect(later.flows.trading_members.periods.at(-1)).toEqual({ from: '2026-02', to: '2026-02', figure: ten(10) })
})

test('a category is published once ten members are behind it, and a suppressed one hides another with it', async () => {
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

test('the category hidden together with a suppressed one is the smallest of those published', () => {
  expect(told(category('A', 20), category('B'), category('C', 10))).toEqual([20, undefined, undefined])
  expect(told(category('A', 20), category('B'), category('C', 20))).toEqual([undefined, undefined, 20])
  expect(told(category('A', 20), category('B'), category('C'))).toEqual([20, undefined, undefined])
  expect(told(category('A'))).toEqual([undefined])
})

test('each month is closed once, even if several nodes close it concurrently', async () => {
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

test('a community that fails to close does not delay others, and each has its own figures', async () => {
  const town = await foundTown(12)
  const village = await town.addCommunity('village')
  await town.sql`update communities set created_at = '2024-01-02', time_zone = 'Nowhere/Never' where id = ${town.communityId}`
  await town.sql`update communities set created_at = '2024-01-02' where id = ${village}`
  await closeDueCommunities(town.sql, pino({ level: 'silent' }), new Date('2024-02-11T00:00:00Z'))
  const rows = await town.sql`select community_id from aggregate_periods`
  expect(rows).toEqual([{ community_id: village }])
  expect((await read(town)).closed_through).toBeNull()
})

test('worker nodes close due months when they start', async () => {
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
