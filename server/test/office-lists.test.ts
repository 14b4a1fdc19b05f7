import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { correctExchange } from '../src/features/wallet/correct-exchange.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { startBank, TESTER } from './bank.ts'

const names = ({ body }: { body: any }): string[] => body.data.map((row: any) => row.name ?? row.title)
const days = (rows: any[]): string[] => rows.map(({ occurred_on }) => occurred_on.slice(-2))

/** Reads a list to its end in pages of two. */
async function readAll(admin: TestAdmin, path: string): Promise<any[]> {
  const rows: any[] = []
  for (let cursor = ''; ;) {
    const { status, body } = await admin.call(`${path}&limit=2${cursor && `&cursor=${cursor}`}`)
    expect(status, path).toBe(200)
    rows.push(...body.data)
    if (!body.meta.has_more) return rows
    cursor = body.meta.next_cursor
  }
}

test('members are sorted and filtered by what the office asks, page by page, with a count', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  const manager = await addAdmin(bank, 'manager')
  const ids: Record<string, number> = {}
  // [name, joined, balance]: two of each are equal, so that the id has to decide.
  const people = [
    ['Émile', '2020-01-01', 0],
    ['emil', '2021-01-01', -950],
    ['Zoe', '2022-01-01', 500],
    ['adam', '2022-01-01', -100],
    ['Ärmel', '2023-01-01', 500],
  ] as const
  for (const [name, joined, balance] of people) {
    const { id } = await addMember(sql, TESTER, communityId, { name })
    ids[name] = id
    await sql`update members set joined_at = ${`${joined}T12:00:00Z`} where id = ${id}`
    await sql`update accounts set last_active_on = ${joined}::date where member_id = ${id}`
    if (balance !== 0) await adjustBalance(sql, TESTER, communityId, { memberId: id, centihours: balance, reason: 'x' })
  }
  const sorted = async (sort: string) => (await readAll(manager, `/members?sort=${sort}`)).map(({ name }) => name)
  expect(await sorted('name')).toEqual(['adam', 'Ärmel', 'emil', 'Émile', 'Zoe'])
  expect(await sorted('balance')).toEqual(['emil', 'adam', 'Émile', 'Zoe', 'Ärmel'])
  expect(await sorted('joined_at')).toEqual(['Émile', 'emil', 'Zoe', 'adam', 'Ärmel'])
  expect(await sorted('last_active_on')).toEqual(['Émile', 'emil', 'Zoe', 'adam', 'Ärmel'])
  for (const sort of ['name', 'balance', 'joined_at', 'last_active_on']) {
    expect(await sorted(`-${sort}`)).toEqual((await sorted(sort)).toReversed())
  }

  const found = async (query: string) => names(await manager.call(`/members?${query}`))
  expect(await found('balance=negative&sort=name')).toEqual(['adam', 'emil'])
  expect(await found('balance=near_limit')).toEqual(['emil'])
  expect(await found('balance=positive&sort=-name')).toEqual(['Zoe', 'Ärmel'])
  expect(await found('inactive_since=2022-01-01&sort=name')).toEqual(['emil', 'Émile'])
  expect(await found('inactive_since=2022-01-01&balance=negative')).toEqual(['emil'])
  expect(await found('q=emil&sort=-name')).toEqual(['Émile', 'emil'])
  expect((await readAll(manager, '/members?balance=positive&sort=name')).map(({ name }) => name)).toEqual([
    'Ärmel',
    'Zoe',
  ])
  const counted = async (query: string) => (await manager.call(`/members?with_total=true&limit=1&${query}`)).body.meta
  expect(await counted('')).toMatchObject({ total: 5, total_is_minimum: false })
  expect(await counted('balance=negative')).toMatchObject({ total: 2 })
  expect(await counted('q=nobody')).toMatchObject({ total: 0 })
  expect((await manager.call('/members?limit=500')).status).toBe(200)
  expect((await manager.call('/members?limit=501')).status).toBe(422)
  expect((await manager.call('/members?sort=email')).status).toBe(422)
  const { next_cursor } = (await manager.call('/members?sort=name&limit=1')).body.meta
  expect((await manager.call(`/members?sort=balance&limit=1&cursor=${next_cursor}`)).status).toBe(422)
  // The order of partners stays that of ids.
  const token = await bank.token('users.read')
  expect(names(await bank.call('/users', { token }))).toEqual(people.map(([name]) => name))
})

test('only an exchange makes a member active, on the day it happened', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben] = [
    await addMember(sql, TESTER, communityId, { name: 'Ada' }),
    await addMember(sql, TESTER, communityId, { name: 'Ben' }),
  ]
  await sql`update accounts set last_active_on = '2020-01-01' where member_id is not null`
  const active = async () => (await manager.call(`/members/${ada.id}`)).body.data.last_active_on
  await adjustBalance(sql, TESTER, communityId, { memberId: ada.id, centihours: 100, reason: 'Yearly fee' })
  const token = await bank.token()
  await bank.call('/wallet/credit', { token, body: { user_id: ada.id, hours: 1, reference: 'r' } })
  expect(await active()).toBe('2020-01-01')
  const record = (occurredOn?: string) =>
    recordExchanges(sql, TESTER, communityId, [
      { giverId: ben.id, receiverId: ada.id, centihours: 10, ...(occurredOn && { occurredOn }) },
    ])
  await record('2026-03-05')
  expect(await active()).toBe('2026-03-05')
  await record('2026-03-01')
  expect(await active()).toBe('2026-03-05')
  await record()
  expect(await active()).toBe(new Date().toISOString().slice(0, 10))
})

test('the last exchange of a member who joined on that day or later is shown; without one, there is none', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben, cleo] = await Promise.all(
    ['Ada', 'Ben', 'Cleo'].map((name) => addMember(sql, TESTER, communityId, { name })),
  )
  const today = new Date().toISOString().slice(0, 10)
  const shown = async () => {
    const listed = (await manager.call('/members?sort=name')).body.data.map((row: any) => row.last_exchange_on)
    for (const [n, member] of [ada, ben, cleo].entries()) {
      const { body } = await manager.call(`/members/${member!.id}`)
      expect(body.data).toMatchObject({ last_exchange_on: listed[n], last_active_on: today })
    }
    return listed
  }
  const record = async (giver: typeof ada, occurredOn: string) => {
    const slip = { giverId: giver!.id, receiverId: ada!.id, centihours: 10, occurredOn }
    return (await recordExchanges(sql, TESTER, communityId, [slip]))[0]!.id
  }
  await adjustBalance(sql, TESTER, communityId, { memberId: cleo!.id, centihours: 100, reason: 'Yearly fee' })
  expect(await shown()).toEqual([null, null, null])
  // Where the day of joining was the one before.
  await sql`update members set joined_at = ${`${today}T02:00:00Z`} where id = ${cleo!.id}`
  await sql`update communities set time_zone = 'America/New_York'`
  expect(await shown()).toEqual([null, null, null])
  await sql`update communities set time_zone = 'UTC'`
  await record(ben, '2026-03-05')
  await record(ben, '2026-03-01')
  expect(await shown()).toEqual(['2026-03-05', '2026-03-05', null])
  const mistake = await record(ben, today)
  expect(await shown()).toEqual([today, today, null])
  await reverseTransfer(sql, TESTER, communityId, { transferId: mistake, reason: 'A mistake' })
  expect(await shown()).toEqual(['2026-03-05', '2026-03-05', null])
})

test('an exchange that is reversed or corrected no longer makes its members active', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben, cleo] = await Promise.all(
    ['Ada', 'Ben', 'Cleo'].map((name) => addMember(sql, TESTER, communityId, { name })),
  )
  const joinedOn = '2020-01-01'
  await sql`update members set joined_at = ${`${joinedOn}T12:00:00Z`}`
  await sql`update accounts set last_active_on = ${joinedOn} where member_id is not null`
  const active = () =>
    Promise.all(
      [ada, ben, cleo].map(async (member) => (await manager.call(`/members/${member!.id}`)).body.data.last_active_on),
    )
  const slip = (giver: typeof ada, occurredOn: string) => ({
    giverId: giver!.id,
    receiverId: ada!.id,
    centihours: 10,
    occurredOn,
  })
  const record = async (giver: typeof ada, occurredOn: string) => {
    const [posted] = await recordExchanges(sql, TESTER, communityId, [slip(giver, occurredOn)])
    return posted!.id
  }
  const reason = 'A mistake'
  const reverse = (transferId: number) => reverseTransfer(sql, TESTER, communityId, { transferId, reason })
  const [march, may, secondOfMay] = [
    await record(ben, '2026-03-05'),
    await record(cleo, '2026-05-05'),
    await record(ben, '2026-05-05'),
  ]
  expect(await active()).toEqual(['2026-05-05', '2026-05-05', '2026-05-05'])
  await reverse(may)
  expect(await active()).toEqual(['2026-05-05', '2026-05-05', joinedOn])
  await reverse(secondOfMay)
  expect(await active()).toEqual(['2026-03-05', '2026-03-05', joinedOn])
  const correction = { transferId: march, slip: slip(ben, '2026-02-02'), reason }
  await correctExchange(sql, TESTER, communityId, correction, {})
  expect(await active()).toEqual(['2026-02-02', '2026-02-02', joinedOn])
  // An adjustment never made anybody active, so its reversal leaves the day alone.
  const { id } = await adjustBalance(sql, TESTER, communityId, { memberId: ben!.id, centihours: 10, reason })
  await reverse(id)
  expect(await active()).toEqual(['2026-02-02', '2026-02-02', joinedOn])
})

test('exchanges are filtered by category and sorted by day; listings are sorted by title', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben] = [
    await addMember(sql, TESTER, communityId, { name: 'Ada' }),
    await addMember(sql, TESTER, communityId, { name: 'Ben' }),
  ]
  const listing = { member_id: ada.id, type: 'service', title: 'Öl change', category: 'Car', hours: 1 }
  const { id: listing_id } = (await manager.call('/listings', { body: listing })).body.data
  await manager.call('/listings', { body: { ...listing, title: 'apples', category: 'Garden' } })
  await manager.call('/listings', { body: { ...listing, title: 'Pears', category: 'Garden' } })
  const slip = (occurred_on: string, more: object) => ({
    giver_id: ada.id,
    receiver_id: ben.id,
    hours: 0.5,
    occurred_on,
    ...more,
  })
  const recorded = await manager.call('/exchanges', {
    body: {
      slips: [
        slip('2026-02-02', { category: 'Garden' }),
        slip('2026-02-01', { listing_id }),
        slip('2026-02-03', { category: 'Garden' }),
        slip('2026-02-01', { hours: 0.25 }),
      ],
    },
  })
  expect(recorded.status, JSON.stringify(recorded.body)).toBe(201)
  expect(days(await readAll(manager, '/transfers?sort=day'))).toEqual(['01', '01', '02', '03'])
  expect(days(await readAll(manager, '/transfers?sort=-day'))).toEqual(['03', '02', '01', '01'])
  expect(days(await readAll(manager, '/transfers?from=2026-02-01&until=2026-02-02'))).toEqual(['02', '01', '01'])
  expect(days(await readAll(manager, '/transfers?category=Garden'))).toEqual(['03', '02'])
  expect(days(await readAll(manager, `/transfers?category=Garden&member_id=${ada.id}&sort=day`))).toEqual(['02', '03'])
  const cars = (await manager.call('/transfers?category=Car&with_total=true')).body
  expect(cars.data).toMatchObject([{ category: 'Car', listing: { title: 'Öl change' }, occurred_on: '2026-02-01' }])
  expect(cars.meta).toMatchObject({ total: 1 })
  expect((await manager.call('/transfers?category=Nothing')).body.data).toEqual([])
  expect((await manager.call('/transfers?with_total=true&limit=1')).body.meta).toMatchObject({ total: 4 })
  // A renamed category is the same one.
  const garden = (await manager.call('/categories')).body.data.find(({ name }: any) => name === 'Garden')
  await manager.call(`/categories/${garden.id}`, { method: 'PATCH', body: { name: 'Orchard' } })
  expect(days(await readAll(manager, '/transfers?category=Orchard'))).toEqual(['03', '02'])

  expect((await readAll(manager, '/listings?sort=title')).map(({ title }) => title)).toEqual([
    'apples',
    'Öl change',
    'Pears',
  ])
  expect((await readAll(manager, '/listings?sort=-title&type=service')).map(({ title }) => title)).toEqual([
    'Pears',
    'Öl change',
    'apples',
  ])
  expect((await manager.call('/listings?category=Orchard&with_total=true')).body.meta).toMatchObject({ total: 2 })
})

test('a cursor whose position does not fit the order of the list is rejected', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { sql, communityId } = bank
  const viewer = await addAdmin(bank, 'viewer')
  const manager = await addAdmin(bank, 'manager')
  for (const name of ['Ada', 'Ben']) {
    const { id } = await addMember(sql, TESTER, communityId, { name })
    await sql`update accounts set last_active_on = '2020-01-01' where member_id = ${id}`
    await adjustBalance(sql, TESTER, communityId, { memberId: id, centihours: 100, reason: 'x' })
    await manager.call('/listings', { body: { member_id: id, type: 'service', title: name, category: 'Home' } })
  }
  const wrongTexts = ['\0', 'a\0b', '\ud800']
  const wrongDays = ['', 'abc', '99999999-01-01', '2026-02-30', '0000-01-01', 'infinity', '\0']
  const lists: [path: string, keys: string[]][] = [
    ['/transfers?sort=day', wrongDays],
    ['/transfers?sort=-day', wrongDays],
    ['/transfers?from=2020-01-01', wrongDays],
    ['/members?sort=name', wrongTexts],
    ['/members?sort=balance', ['', 'abc', 'NaN', '1.5', '9'.repeat(40), '\0']],
    ['/members?balance=positive', ['', 'abc', 'NaN', '1.5', '9'.repeat(40), '\0']],
    ['/members?sort=last_active_on', wrongDays],
    ['/members?inactive_since=2021-01-01', wrongDays],
    ['/members?sort=-joined_at', [...wrongDays, '2026-01-01', '2026-13-01 00:00:00+00', '0000-01-01 00:00:00+00']],
    [
      '/members?sort=joined_at',
      ['2026-01-01T00:00:00+23:59', '2026-01-01 00:00:00-16:00', '2026-01-01 00:00:00+00:30'],
    ],
    ['/listings?sort=title', wrongTexts],
  ]
  for (const [path, keys] of lists) {
    const { next_cursor } = (await viewer.call(`${path}&limit=1`)).body.meta
    const next = await viewer.call(`${path}&limit=1&cursor=${next_cursor}`)
    expect({ status: next.status, rows: next.body.data?.length }, path).toEqual({ status: 200, rows: 1 })
    const parts = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
    for (const key of keys) {
      const cursor = Buffer.from(JSON.stringify([...parts.slice(0, -1), key])).toString('base64url')
      const { status, body } = await viewer.call(`${path}&limit=1&cursor=${cursor}`)
      const answer = { status, errors: body.errors }
      expect(answer, `${path} ${JSON.stringify(key)}`).toMatchObject({ status: 422, errors: [{ field: 'cursor' }] })
    }
  }
})
