import iconv from 'iconv-lite'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readCentihours } from '../src/core/hours.ts'
import { detectFormat } from '../src/csv/detect-format.ts'
import type { CommunityRow } from '../src/features/communities/queries.ts'
import { importListings } from '../src/features/listings/import-listings.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { TESTER } from './bank.ts'
import { lines, load, newCommunity, sql } from './csv-communities.ts'
import { resetSystemClock, setSystemClock } from './system-clock.ts'

/** One byte at a time: nothing may depend on where chunks end. */
async function* open(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1)
}

const detect = (bytes: Buffer | string) => detectFormat(() => open(Buffer.from(bytes as string)))

async function membersOf({ id }: CommunityRow) {
  const rows = await sql`
    select external_id, name, email, joined_at::text from members where community_id = ${id} order by id`
  return rows.map((row) => ({ ...row }))
}

const GERMAN = lines('external_id;name;joined_at', '1;Jürgen Weiß;31.05.2024', '2;Zoë “Zo” Čech;1.1.2020')

describe('the format of a file is detected', () => {
  test.each([
    ['UTF-8', Buffer.from(GERMAN), 'utf-8', 'Jürgen Weiß'],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${GERMAN}`), 'utf-8', 'Jürgen Weiß'],
    ['Windows-1252', iconv.encode(GERMAN, 'windows-1252'), 'windows-1252', 'Jürgen Weiß'],
    ['UTF-16', Buffer.from(`\uFEFF${GERMAN}`, 'utf16le'), 'utf-16le', 'Jürgen Weiß'],
    ['UTF-16, big endian', Buffer.from(`\uFEFF${GERMAN}`, 'utf16le').swap16(), 'utf-16be', 'Jürgen Weiß'],
  ])('%s', async (_what, bytes, encoding, name) => {
    const { sample, ...format } = await detect(bytes)
    expect(format).toMatchObject({ encoding, delimiter: 'semicolon' })
    expect(sample[1]!.fields[1]).toBe(name)
    const community = await newCommunity()
    const { summary } = await load(importMembers, community, bytes)
    expect(summary).toMatchObject({ added: 2, written: true })
    expect((await membersOf(community))[0]).toMatchObject({ name, joined_at: expect.stringMatching(/^2024-05-31/) })
  })

  test('Windows-1252 has its own quotation marks and the euro', async () => {
    const bytes = iconv.encode(lines('external_id,name', '1,“Zo” €'), 'windows-1252')
    expect((await detect(bytes)).sample[1]!.fields[1]).toBe('“Zo” €')
  })

  test.each([
    ['a,b;c\n1,2;3\n', 'comma'],
    ['a;b;c,d\n', 'semicolon'],
    ['a\tb\n1\t2\n', 'tab'],
    ['"a;b;c",d\n', 'comma'],
    ['name\n', 'comma'],
  ])('the delimiter of %j is a %s', async (text, delimiter) => {
    expect((await detect(text)).delimiter).toBe(delimiter)
  })

  test.each([
    ['a;b\n1,5;x\n', 'comma'],
    ['a;b\n1.5;x\n', 'point'],
    ['a;b\n1;x\n', 'comma'],
    ['a,b\n1,x\n', 'point'],
    ['a,b\n"1,50",x\n', 'comma'],
    ['a\tb\n1.234,50\tx\n', 'comma'],
  ])('the decimal sign of %j is a %s', async (text, decimal) => {
    expect((await detect(text)).decimal).toBe(decimal)
  })

  test.each([
    [Buffer.from('504b030414000600', 'hex'), '.xlsx', 'save it as CSV'],
    [Buffer.from('d0cf11e0a1b11ae1', 'hex'), '.xls', 'save it as CSV'],
    ['%PDF-1.7', 'PDF', 'Export the table as CSV'],
  ])('a file that is not text is rejected with what to do: %j', async (bytes, kind, advice) => {
    const failed = await detect(bytes).catch((error: Error) => error.message)
    expect(failed).toContain(kind)
    expect(failed).toContain(advice)
  })
})

describe('hours are read digit by digit', () => {
  test.each([
    ['1.234,50', 123_450, undefined],
    ['1,234.50', undefined, 123_450],
    ['1.234', 123_400, undefined],
    ['1,234', undefined, 123_400],
    ['1,5', 150, undefined],
    ['1.5', undefined, 150],
    ['-0,25', -25, undefined],
    ['−3', -300, -300],
    ['+3', 300, 300],
    ['0', 0, 0],
    ['-0', 0, 0],
    ["1'234", 123_400, 123_400],
    ['1\u202F234,50', 123_450, undefined],
    ['999999999,99', 99_999_999_999, undefined],
    ['0,125', undefined, undefined],
    ['12.34,5', undefined, undefined],
    ['1e3', undefined, undefined],
    ['', undefined, undefined],
  ])('%j', (text, withComma, withPoint) => {
    expect(readCentihours(text, 'comma')).toBe(withComma)
    expect(readCentihours(text, 'point')).toBe(withPoint)
  })
})

describe('the columns of a file', () => {
  let community: CommunityRow
  beforeAll(async () => {
    community = await newCommunity()
  })
  const table = lines('Nummer;Vorname;Nachname;Saldo;Eintritt', '7;Eva;von  Au;;5/6/2024', '8;Max;;;')
  const columns = { external_id: [0], name: [1, 2], joined_at: [4] }

  test('are mapped once, and saved for files with the same first row in the same community', async () => {
    await expect(load(importMembers, community, table)).rejects.toThrow('In the console you can say which column')
    const layout = { columns, dates: 'month_first' as const }
    expect((await load(importMembers, community, table, { layout, dryRun: true })).summary).toMatchObject({ added: 2 })
    expect(await membersOf(community)).toEqual([])

    // Now without being told.
    expect((await load(importMembers, community, table)).summary).toMatchObject({ added: 2, written: true })
    expect(await membersOf(community)).toMatchObject([
      { external_id: '7', name: 'Eva von  Au', joined_at: expect.stringMatching(/^2024-05-06/) },
      { external_id: '8', name: 'Max' },
    ])
    await expect(load(importMembers, await newCommunity(), table)).rejects.toThrow('there is no column "nummer"')
    await expect(load(importListings, community, table)).rejects.toThrow('there is no column "nummer"')
    await expect(load(importMembers, community, table.replace('Saldo', 'saldo'))).rejects.toThrow('no column')
  })

  test.each([
    [{ external_id: [0] }, 'Say which column of the file holds "name".'],
    [{ ...columns, shoe_size: [1] }, 'There is no column "shoe_size".'],
    [{ ...columns, email: [5] }, 'The file has only 5 columns.'],
  ])('a mapping that cannot be is rejected: %j', async (wrong, problem) => {
    await expect(load(importMembers, community, table, { layout: { columns: wrong } })).rejects.toThrow(problem)
  })

  test('dates follow the chosen order, and dots always have the day first', async () => {
    const dates = lines(
      'external_id,name,joined_at',
      '1,A,5/6/2024',
      '2,B,05.06.2024',
      '3,C,31/05/2024 00:00',
      '4,D,13.13.2024',
    )
    const town = await newCommunity()
    const monthFirst = await load(importMembers, town, dates, { layout: { dates: 'month_first' }, dryRun: true })
    expect(monthFirst.fates.map(({ outcome }) => outcome)).toEqual(['added', 'added', 'refused', 'refused'])
    await load(importMembers, town, dates, { skipBad: true })
    expect((await membersOf(town)).map(({ joined_at }) => (joined_at as string).slice(0, 10))).toEqual([
      '2024-06-05',
      '2024-06-05',
      '2024-05-31',
    ])
  })

  test.each([
    ['UTC', '2026-11-18T08:30:00Z', '18.11.2026', '19.11.2026'],
    ['Pacific/Auckland', '2026-11-17T11:30:00Z', '18.11.2026', '19.11.2026'],
    ['America/Los_Angeles', '2026-11-18T05:30:00Z', '17.11.2026', '18.11.2026'],
  ])(
    'somebody may have joined today, but not tomorrow, where the community is: %s',
    async (zone, now, today, later) => {
      const town = await newCommunity(zone)
      setSystemClock(Date.parse(now) - Date.now())
      onTestFinished(resetSystemClock)
      const file = lines('external_id,name,joined_at', `1,Ada,${today}`, `2,Ben,${later}`)
      const { fates } = await load(importMembers, town, file, { skipBad: true })
      expect(fates).toEqual([{ line: 3, outcome: 'refused', reason: 'The time of joining lies in the future.' }])
      const [ada] = await sql`select joined_at from members where community_id = ${town.id}`
      expect(Date.parse(ada!.joined_at)).toBeLessThanOrEqual(Date.now())
      // Later that day, and the day after.
      for (const hours of [3, 24]) {
        setSystemClock(hours * 3_600_000)
        const again = await load(importMembers, town, file.slice(0, file.indexOf('2,Ben')))
        expect(again.summary).toMatchObject({ unchanged: 1, changed: 0 })
      }
    },
  )

  test.each(['Pacific/Auckland', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Vienna'])(
    'a day is that day where the community is: %s',
    async (zone) => {
      const town = await newCommunity(zone)
      await load(importMembers, town, lines('external_id,name,joined_at', 'K-1,Ada,2020-01-01', 'K-2,Ben,1.7.2020'))
      const head = 'external_id,member_external_id,type,title,category,created_at'
      await load(importListings, town, lines(head, 'L-1,K-1,service,Bread,Kitchen,2020-01-02'))
      const days = await sql`
        select m.joined_at at time zone ${zone} as joined, a.last_active_on::text as active,
          l.created_at at time zone ${zone} as published
        from members m join accounts a on a.community_id = ${town.id} and a.member_id = m.id
        left join listings l on l.community_id = ${town.id} and l.member_id = m.id
        where m.community_id = ${town.id} order by m.id`
      expect(days.map((row) => ({ ...row }))).toEqual([
        { joined: '2020-01-01 12:00:00', active: '2020-01-01', published: '2020-01-02 12:00:00' },
        { joined: '2020-07-01 12:00:00', active: '2020-07-01', published: null },
      ])
    },
  )

  test('another day of joining moves the day of the last activity, unless an exchange came later', async () => {
    const town = await newCommunity('Europe/Vienna')
    const head = 'external_id,name,joined_at'
    await load(importMembers, town, lines(head, '1,Ada,2020-05-01', '2,Ben,2020-05-01', '3,Cleo,2020-05-01'))
    const [ada, ben] = await sql<{ id: number }[]>`select id from members where community_id = ${town.id} order by id`
    const slip = { giverId: ada!.id, receiverId: ben!.id, centihours: 10, occurredOn: '2020-06-01' }
    await recordExchanges(sql, TESTER, town.id, [slip])
    await load(importMembers, town, lines(head, '1,Ada,2020-01-01', '2,Ben,2020-07-01', '3,Cleo,2020-02-01'))
    const active = await sql`
      select last_active_on::text as day from accounts
      where community_id = ${town.id} and kind = 'member' order by member_id`
    expect(active.map(({ day }) => day)).toEqual(['2020-06-01', '2020-07-01', '2020-02-01'])
  })

  test('a file that says only the day keeps the time of that day', async () => {
    const town = await newCommunity('Europe/Vienna')
    const head = 'external_id,name,joined_at'
    await load(importMembers, town, lines(head, '1,Ada,2020-01-01T23:30:00Z', '2,Ben,2020-01-01T12:00:00Z'))
    const { fates } = await load(importMembers, town, lines(head, '1,Ada,2020-01-01', '2,Ben,2020-01-01'))
    expect(fates).toEqual([])
    const joined = async () =>
      (await sql`select joined_at from members where community_id = ${town.id} order by id`).map((row) => row.joined_at)
    // Ada joined in the first hour of the day after.
    expect(await joined()).toEqual(['2020-01-01T11:00:00.000000Z', '2020-01-01T12:00:00.000000Z'])
    await load(importMembers, town, lines(head, '2,Ben,2020-01-01T12:30:00Z'))
    expect(await joined()).toEqual(['2020-01-01T11:00:00.000000Z', '2020-01-01T12:30:00.000000Z'])
  })

  test('listings have decimal commas too', async () => {
    const town = await newCommunity()
    await load(importMembers, town, lines('external_id,name', 'K-1,Ada'))
    const head = 'external_id;member_external_id;type;title;category;hours'
    await load(importListings, town, lines(head, 'L-1;K-1;service;Bread;Kitchen;1,75'))
    const [listing] = await sql`select centihours from listings where community_id = ${town.id}`
    expect(listing!.centihours).toBe(175)
  })
})
