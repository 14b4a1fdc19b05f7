import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { demoCommand } from '../src/cli/demo.ts'
import { readConfig } from '../src/config.ts'
import { connect, identifier, type Sql } from '../src/postgres/connect.ts'
import { makeAnotherDemo, makeDemo, makeTestCommunity, type Demo } from '../src/demo/make-demo.ts'
import { planTown } from '../src/demo/town.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { TESTER } from './bank.ts'
import { newDatabase } from './database.ts'

const NOW = new Date('2025-03-14T15:00:00Z')
const LOWER_LIMIT = -1000

async function open(): Promise<Sql> {
  const sql = connect(await newDatabase(), { connectionsMax: 2, name: 'demo test' })
  onTestFinished(() => sql.end())
  return sql
}

/** Everything that was made up, without what differs by nature. */
async function townOf(sql: Sql, communityId: number) {
  return {
    members: await sql`
      select external_id, name, email, joined_at, balance from members m
      join accounts a on a.community_id = ${communityId} and a.member_id = m.id
      where m.community_id = ${communityId} order by m.id`,
    listings: await sql`
      select title, description, category, type, centihours, created_at from listings
      where community_id = ${communityId} order by id`,
    transfers: await sql`
      select kind, amount, debit_balance_after, credit_balance_after, occurred_on, created_at from transfers
      where community_id = ${communityId} order by id`,
    credits: await sql`
      select reference, amount, settled_on from credits where community_id = ${communityId} order by id`,
  }
}

describe('the demo of the first start', () => {
  let sql: Sql
  let demo: Demo | undefined

  beforeAll(async () => {
    sql = connect(await newDatabase(), { connectionsMax: 2, name: 'demo test' })
    demo = await makeDemo(sql, { now: NOW })
  })

  afterAll(() => sql.end())

  test('the town has the size that the documentation promises, and reads like one', async () => {
    expect(demo).toMatchObject({ email: 'admin@demo.example', password: expect.any(String) })

    const [counts] = await sql`
      select (select count(*) from members) as members, (select count(*) from members where visible) as visible_members,
        (select count(*) from listings where type = 'service' and visible) as services,
        (select count(*) from listings where type = 'request' and visible) as requests,
        (select count(*) from categories) as categories,
        (select count(distinct category) from listings) as used_categories,
        (select count(*) from transfers where kind = 'exchange') as exchanges,
        (select count(distinct name) from members) as names,
        (select count(distinct email) from members) as emails, (select count(email) from members) as with_email,
        (select count(*) from listings where centihours <= 0 or length(description) < 20) as odd_listings`
    expect(counts).toMatchObject({
      members: 250,
      visible_members: 250,
      services: 163,
      requests: 137,
      categories: 10,
      used_categories: 10,
      exchanges: 2000,
      names: 250,
      odd_listings: 0,
    })
    expect(counts!.emails).toBe(counts!.with_email)

    const [exchanges] = await sql`
      select min(amount) as least, max(amount) as most, count(*) filter (where amount % 25 > 0) as uneven,
        min(created_at) >= ${NOW.toISOString()}::timestamptz - interval '366 days' as within_a_year,
        max(created_at) < ${NOW.toISOString()}::timestamptz as past,
        count(distinct date_trunc('month', created_at)) as months
      from transfers where kind = 'exchange'`
    expect(exchanges).toMatchObject({ least: 25, uneven: 0, within_a_year: true, past: true })
    expect(exchanges!.most).toBeLessThanOrEqual(800)
    expect(exchanges!.months).toBeGreaterThanOrEqual(12)

    const [early] = await sql`
      select count(*) from transfers t
      join accounts a on a.community_id = t.community_id and a.id in (t.debit_account_id, t.credit_account_id)
      join members m on m.community_id = a.community_id and m.id = a.member_id where t.created_at < m.joined_at`
    expect(early!.count).toBe(0)
    const [credits] = await sql`select count(*), count(distinct member_id) as members from credits`
    expect(credits!.count).toBeGreaterThan(50)
  })

  test('the partner whose credentials are shown has made no credits of its own', async () => {
    const rows = await sql`
      select p.name, count(c.*)::int as credits from partners p left join credits c
        on c.community_id = p.community_id and c.partner_id = p.id group by p.name order by p.name`
    expect(rows).toEqual([
      { name: 'Demo bank', credits: 0 },
      { name: 'Savings bank', credits: expect.any(Number) },
    ])
    expect(rows[1]!.credits).toBeGreaterThan(50)
  })

  test('a quarter of the members never trade, all others do', async () => {
    const [row] = await sql`
      select count(*) from accounts a where kind = 'member'
        and not exists (
          select 1 from transfers t
          where t.community_id = a.community_id and a.id in (t.debit_account_id, t.credit_account_id))`
    expect(row!.count).toBe(62)
  })

  test('the books verify, and nobody was below the limit at any moment', async () => {
    const [community] = await sql`select id from communities`
    const report = await verifyLedger(sql, community!.id)
    expect(report).toMatchObject({ accounts: 253, differences: [] })
    const [lowest] = await sql`
      select min(least(debit_balance_after, credit_balance_after)) as centihours from transfers`
    expect(lowest!.centihours).toBeGreaterThanOrEqual(LOWER_LIMIT)
  })

  test('the check digits of all payment references are right', async () => {
    const rows = await sql<{ payment_reference: string }[]>`select payment_reference from members`
    expect(new Set(rows.map((row) => row.payment_reference)).size).toBe(250)
    for (const { payment_reference } of rows) {
      expect(payment_reference).toMatch(/^RF\d{2}\d{3,}$/)
      // ISO 7064: the first four characters to the end, letters as numbers from 10 on, and the rest by 97 is 1.
      const moved = payment_reference.slice(4) + payment_reference.slice(0, 4)
      const digits = moved.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
      expect(BigInt(digits) % 97n).toBe(1n)
    }
  })

  test('past months are closed, so that there is something to read', async () => {
    const [row] = await sql`select body, closed_at from aggregate_documents`
    const [last] = await sql`select max(month) as month from aggregate_periods`
    expect(last!.month).toBe('2025-02-01')
    expect(row!.body).toContain('"min"')
  })

  test('further members and transfers get ids of their own', async () => {
    const [{ community_id: id }] = await sql<
      [{ community_id: number }]
    >`select max(community_id) as community_id from members`
    for (const table of ['accounts', 'transfers']) {
      const [row] = await sql`
        select nextval(${`${table}_id_seq`}::regclass) > max(id) as above from ${identifier(table)} where community_id = ${id}`
      expect(row!.above).toBe(true)
    }
    for (const table of ['members', 'listings', 'credits']) {
      const rows = await sql`select last_id from id_counters where community_id = ${id} and counted = ${table}`
      expect(rows).toEqual(await sql`select max(id) as last_id from ${identifier(table)} where community_id = ${id}`)
    }
  })
})

test('the same seed and day give the same town, another seed another', async () => {
  const sql = await open()
  const towns = []
  for (const seed of [7, 7, 8]) {
    const { community } = await makeAnotherDemo(sql, TESTER, { seed, now: NOW, members: 60 })
    towns.push(await townOf(sql, community.id))
  }
  expect(towns[1]).toEqual(towns[0])
  expect(towns[2]!.members).not.toEqual(towns[0]!.members)
  expect(towns[2]!.transfers).not.toEqual(towns[0]!.transfers)
})

test('there is one first demo, however many nodes start at once; afterwards there is none', async () => {
  const sql = await open()
  const made = await Promise.all([makeDemo(sql), makeDemo(sql)])
  expect(made.filter(Boolean)).toHaveLength(1)
  expect(await makeDemo(sql)).toBeUndefined()
})

test.each([10, 11, 23, 999, 1000])('a town of %i members', async (members) => {
  const town = planTown({ members, seed: 3, now: NOW, timeZone: 'Pacific/Auckland' })
  const balances = new Map<number | undefined, number>()
  const counts = { exchange: 0, credit: 0, reversal: 0 }
  let before = 0
  for (const { kind, debit, credit, amount, debitAfter, creditAfter, at } of town.transferRows()) {
    counts[kind]++
    for (const [member, moved, after] of [
      [debit, -amount, debitAfter] as const,
      [credit, amount, creditAfter] as const,
    ]) {
      balances.set(member, (balances.get(member) ?? 0) + moved)
      if (member === undefined) continue
      expect(after).toBe(balances.get(member))
      expect(after).toBeGreaterThanOrEqual(LOWER_LIMIT)
    }
    expect(at).toBeGreaterThanOrEqual(before - 1)
    before = at
  }
  balances.delete(undefined)
  expect(balances.size).toBe(members - Math.floor(members / 4))
  expect(counts).toEqual({ exchange: town.exchanges, credit: town.credits, reversal: town.reversals })
  expect([...town.memberRows()]).toHaveLength(members)
  expect([...town.listingRows()]).toHaveLength(town.services + town.requests)
})

test('hourbank demo makes one more, of the size asked for', async () => {
  const databaseUrl = await newDatabase()
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'demo test' })
  onTestFinished(() => sql.end())
  const config = { ...readConfig({}), databaseUrl }
  await makeDemo(sql)
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  await demoCommand.run({ config, values: { members: '2000', json: true }, positionals: [] })
  const printed = JSON.parse(written.mock.calls.map(([text]) => String(text)).join(''))
  written.mockRestore()
  expect(printed).toMatchObject({ slug: 'demo-2', members: 2000, listings: 2400, transfers: 10_000 })
  expect(printed).toMatchObject({ email: 'admin@demo-2.example', client_id: expect.stringContaining('hbc_') })
  const [{ id }] = await sql<[{ id: number }]>`select id from communities where slug = 'demo-2'`
  const [counts] = await sql`
    select (select count(*) from members where community_id = ${id}) as members,
      (select count(*) from listings where community_id = ${id}) as listings,
      (select count(*) from transfers where community_id = ${id}) as transfers`
  expect(counts).toMatchObject({ members: 2000, listings: 2400, transfers: 10_000 })
  expect((await verifyLedger(sql, id)).differences).toEqual([])
  await expect(demoCommand.run({ config, values: { members: '3' }, positionals: [] })).rejects.toThrow('from 10 to')
})

test('a test community has demo data and a client, in any time zone', async () => {
  const sql = await open()
  const input = { slug: 'try-me', name: 'Try me', timeZone: 'Pacific/Kiritimati' }
  const { community, clientId } = await makeTestCommunity(sql, TESTER, input)
  expect(community).toMatchObject({ slug: 'try-me', test: true })
  expect(clientId).toBeTruthy()
  expect(await verifyLedger(sql, community.id)).toMatchObject({ differences: [] })
})
