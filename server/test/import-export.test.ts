import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Command } from '../src/cli/command.ts'
import { exportCommands } from '../src/cli/export.ts'
import { importCommands } from '../src/cli/import.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import type { CommunityRow } from '../src/features/communities/queries.ts'
import { readConfig } from '../src/config.ts'
import { exportRows, type Export } from '../src/csv/export-rows.ts'
import type { RowOutcome, ImportOptions } from '../src/features/spreadsheets/import-rows.ts'
import { connect, identifier, type Sql } from '../src/postgres/connect.ts'
import { makeTestCommunity } from '../src/demo/make-demo.ts'
import { listingsExport } from '../src/features/listings/export-listings.ts'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { importListings } from '../src/features/listings/import-listings.ts'
import { addMember, changeMember, hideMember, leave } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { membersExport } from '../src/features/members/export-members.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { transfersExport } from '../src/features/wallet/export-transfers.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { volume } from './volume.ts'

let databaseUrl: string
let sql: Sql
let folder: string

beforeAll(async () => {
  databaseUrl = await newDatabase()
  sql = connect(databaseUrl, { connectionsMax: 4, name: 'import test' })
  folder = await mkdtemp(join(tmpdir(), 'hourbank-csv-test-'))
})

afterAll(async () => {
  await sql.end()
  await rm(folder, { recursive: true, force: true })
})

let communities = 0
const newCommunity = () => createCommunity(sql, TESTER, { slug: `town-${++communities}`, name: 'Town' })

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

const lines = (...texts: string[]) => texts.map((text) => `${text}\r\n`).join('')

/** What became of the file, and of each row that was told of. */
async function load(
  importFile: typeof importMembers,
  community: CommunityRow,
  text: string,
  options: ImportOptions = {},
): Promise<{ summary: Awaited<ReturnType<typeof importMembers>>; fates: RowOutcome[] }> {
  const fates: RowOutcome[] = []
  const summary = await importFile(sql, TESTER, community, bytesOf(text), {
    ...options,
    onRow: (fate) => fates.push({ ...fate }),
  })
  return { summary, fates }
}

async function save<Row extends object>(what: Export<Row>): Promise<string> {
  let text = ''
  await exportRows(sql, what, async (chunks) => {
    for await (const chunk of chunks) text += chunk
  })
  return text
}

async function everythingOf({ id }: CommunityRow) {
  const tables = ['members', 'accounts', 'listings', 'categories', 'events', 'audit_log', 'removals']
  const rows: Record<string, unknown> = {}
  for (const table of tables) {
    rows[table] = await sql`select * from ${identifier(table)} where community_id = ${id} order by id`
  }
  return rows
}

const MEMBERS = lines(
  'external_id,name,email,status,hidden,joined_at',
  'L-1,Anna Auer,anna@example.org,active,false,2020-02-29',
  'L-2,Bilal Haddad,,inactive,false,2021-05-31T10:00:00.123456Z',
  'L-3,"Krenn, Doris",doris@example.org,active,TRUE,',
)

describe('members import', () => {
  test('adds members with their wallets, events and audit entries, as the office does', async () => {
    const community = await newCommunity()
    const { summary } = await load(importMembers, community, MEMBERS)
    expect(summary).toEqual({ rows: 3, added: 3, changed: 0, unchanged: 0, refused: 0, written: true })
    const rows = await sql`
      select m.external_id, m.name, m.email, m.status, m.hidden, m.joined_at, m.left_at is not null as left, a.active,
        a.hidden as wallet_hidden, a.balance
      from members m join accounts a on a.community_id = ${community.id} and a.member_id = m.id
      where m.community_id = ${community.id} order by m.id`
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      {
        external_id: 'L-1',
        joined_at: '2020-02-29T12:00:00Z',
        status: 'active',
        left: false,
        active: true,
        balance: 0,
      },
      { external_id: 'L-2', email: null, joined_at: '2021-05-31T10:00:00.123456Z', left: true, active: false },
      { external_id: 'L-3', name: 'Krenn, Doris', hidden: true, active: true, wallet_hidden: true },
    ])
    // Partners are told of what they can see, in the same words as of a member whom the office adds.
    await addMember(sql, TESTER, community.id, { name: 'Emre', external_id: 'L-4' })
    const events = await sql`select type, data from events where community_id = ${community.id} order by id`
    expect(events.map(({ type, data }) => [type, data.name])).toEqual([
      ['user.joined', 'Anna Auer'],
      ['user.joined', 'Emre'],
    ])
    expect(new Set(Object.keys(events[0]!.data))).toEqual(new Set(Object.keys(events[1]!.data)))
    const audit = await sql`select action from audit_log where community_id = ${community.id} order by id`
    expect(audit.map(({ action }) => action)).toEqual([
      'community.created',
      'member.added',
      'member.added',
      'member.added',
      'members.imported',
      'member.added',
    ])
  })

  test('a second import of the same file changes nothing', async () => {
    const community = await newCommunity()
    await load(importMembers, community, MEMBERS)
    const before = await everythingOf(community)
    const { summary } = await load(importMembers, community, MEMBERS)
    expect(summary).toMatchObject({ rows: 3, unchanged: 3, written: true })
    const after = await everythingOf(community)
    expect({ ...after, audit_log: [] }).toEqual({ ...before, audit_log: [] })
  })

  test('changes what differs, and only that', async () => {
    const community = await newCommunity()
    await load(importMembers, community, MEMBERS)
    const [anna] = await sql<[{ id: number }]>`
      select id from members where community_id = ${community.id} and external_id = 'L-1'`
    await publishListing(sql, TESTER, community.id, listingOf(anna.id))
    const changed = lines(
      'external_id,name,email,status,hidden',
      'L-1,Anna Auer,new@example.org,inactive,',
      'L-2,Bilal Haddad,,active,',
      'L-3,Doris Krenn,,,false',
    )
    const { fates } = await load(importMembers, community, changed, { dryRun: true })
    expect(fates).toEqual([
      { line: 2, outcome: 'changed', reason: 'email, status' },
      { line: 3, outcome: 'changed', reason: 'status' },
      { line: 4, outcome: 'changed', reason: 'name, email, hidden' },
    ])
    await load(importMembers, community, changed)
    const rows = await sql`
      select m.name, m.email, m.status, m.hidden, m.joined_at, a.active, a.hidden as wallet_hidden
      from members m join accounts a on a.community_id = ${community.id} and a.member_id = m.id
      where m.community_id = ${community.id} order by m.id`
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { email: 'new@example.org', status: 'inactive', active: false, joined_at: '2020-02-29T12:00:00Z' },
      { status: 'active', active: true, email: null },
      { name: 'Doris Krenn', email: null, hidden: false, wallet_hidden: false },
    ])
    const events = await sql`select type, member_id from events where community_id = ${community.id} order by id`
    expect(events.map(({ type }) => type)).toEqual([
      'user.joined',
      'listing.published',
      'user.updated',
      'listing.closed',
      'user.left',
      'user.joined',
      'user.joined',
    ])
    const removals = await sql`select type from removals where community_id = ${community.id} order by id`
    expect(removals.map(({ type }) => type)).toEqual(['listing', 'user'])
  })

  const MIXED = lines(
    'external_id,name,email,status,hidden,joined_at',
    'L-1,Anna Auer,anna@example.org,active,false,2020-02-29',
    'L-2,Bilal Haddad,bilal@example.org,,,',
    'L-9,Nobody,not an address,asleep,perhaps,yesterday',
    ',Without,,,,',
    'L-5,,,,,',
    'L-6,Too,few',
    'L-7,Gabriele,,,,2999-01-01',
    'L-8,Hadi,,,,',
    'L-8,Hadi again,,,,',
    ',,,,,',
  )

  test('a dry run tells every row’s fate and writes nothing', async () => {
    const community = await newCommunity()
    await load(importMembers, community, MEMBERS)
    const before = await everythingOf(community)
    const { summary, fates } = await load(importMembers, community, MIXED, { dryRun: true })
    expect(summary).toEqual({ rows: 9, added: 1, changed: 1, unchanged: 1, refused: 6, written: false })
    expect(fates).toEqual([
      { line: 2, outcome: 'unchanged', reason: '' },
      { line: 3, outcome: 'changed', reason: 'email' },
      {
        line: 4,
        outcome: 'refused',
        reason:
          'The email address is not one. The status must be active or inactive. Hidden must be true or false. ' +
          'The time of joining must be like 2024-05-31 or 2024-05-31T12:00:00Z.',
      },
      { line: 5, outcome: 'refused', reason: expect.stringContaining('external id is missing') },
      { line: 6, outcome: 'refused', reason: 'The name must have 1 to 200 characters.' },
      { line: 7, outcome: 'refused', reason: 'The row has 3 fields, the first line 6.' },
      { line: 8, outcome: 'refused', reason: 'The time of joining lies in the future.' },
      { line: 9, outcome: 'added', reason: null },
      { line: 10, outcome: 'refused', reason: 'The external id is in line 9 already.' },
    ])
    expect(await everythingOf(community)).toEqual(before)
  })

  test('one bad row keeps everything from being written, and all reasons are told', async () => {
    const community = await newCommunity()
    const before = await everythingOf(community)
    const { summary, fates } = await load(importMembers, community, MIXED)
    expect(summary).toMatchObject({ added: 3, refused: 6, written: false })
    expect(fates.map(({ line }) => line)).toEqual([4, 5, 6, 7, 8, 10])
    expect(await everythingOf(community)).toEqual(before)
  })

  test('bad rows can be left out', async () => {
    const community = await newCommunity()
    const { summary } = await load(importMembers, community, MIXED, { skipBad: true })
    expect(summary).toMatchObject({ added: 3, refused: 6, written: true })
    const rows = await sql`select external_id, name from members where community_id = ${community.id} order by id`
    expect(rows.map(({ name }) => name)).toEqual(['Anna Auer', 'Bilal Haddad', 'Hadi'])
  })

  test.each([
    ['', 'The file is empty'],
    ['name,email\nAnna,\n', '"external_id" is missing'],
    ['external_id,name,phone\n1,Anna,2\n', 'there is no column "phone"'],
    ['external_id,name,name\n1,Anna,2\n', '"name" is there twice'],
    ['external_id;name\n1;Anna\n', 'separated by semicolons'],
    ['external_id,name\n1,Anna\n2,"Bil', 'Line 3: The quote that opens here is never closed'],
  ])('a broken file is refused as a whole: %j', async (text, problem) => {
    const community = await newCommunity()
    const before = await everythingOf(community)
    await expect(load(importMembers, community, text, { skipBad: true })).rejects.toThrow(problem)
    expect(await everythingOf(community)).toEqual(before)
  })

  test('headers in another order, in capitals, with a byte order mark', async () => {
    const community = await newCommunity()
    await load(importMembers, community, '\uFEFFName, External_ID\nAnna,L-1\n')
    const rows = await sql`select external_id, name from members where community_id = ${community.id}`
    expect({ ...rows[0] }).toEqual({ external_id: 'L-1', name: 'Anna' })
  })

  test('who was erased does not come back', async () => {
    const community = await newCommunity()
    const { id } = await addMember(sql, TESTER, community.id, { name: 'Anna' })
    const text = await save(membersExport(community))
    await eraseMember(sql, TESTER, community.id, id)
    const { fates } = await load(importMembers, community, text)
    expect(fates).toEqual([{ line: 2, outcome: 'refused', reason: 'This member was erased.' }])
    expect(await save(membersExport(community))).toBe('external_id,name,email,status,hidden,joined_at\r\n')
  })

  test('other communities are left alone', async () => {
    const [one, other] = [await newCommunity(), await newCommunity()]
    await load(importMembers, one, MEMBERS)
    const before = await everythingOf(one)
    const { summary } = await load(importMembers, other, MEMBERS)
    expect(summary).toMatchObject({ added: 3 })
    expect(await everythingOf(one)).toEqual(before)
  })
})

const listingOf = (memberId: number) => ({
  member_id: memberId,
  type: 'service' as const,
  title: 'Bread',
  description: '',
  category: 'Kitchen',
  centihours: null,
  external_id: null,
})

const LISTINGS = lines(
  'external_id,member_external_id,type,title,description,category,hours,status,created_at',
  'A,L-1,service,Bread,"Sourdough.\nOn Fridays.",Kitchen,0.75,active,2024-01-02',
  'B,L-1,request,Bicycle,,Repairs,,closed,',
  'C,L-2,service,Walks,,Company,1,closed_with_member,',
  'D,L-3,service,Piano,,Music,1.5,,',
)

async function withMembers() {
  const community = await newCommunity()
  await load(importMembers, community, MEMBERS)
  return community
}

describe('listings import', () => {
  test('adds listings, with the categories they name', async () => {
    const community = await withMembers()
    expect((await load(importListings, community, LISTINGS)).summary).toMatchObject({ added: 4, written: true })
    const rows = await sql`
      select external_id, type, title, description, category, centihours, status, closed_by_leaving, visible
      from listings where community_id = ${community.id} order by id`
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { external_id: 'A', description: 'Sourdough.\nOn Fridays.', centihours: 75, status: 'active', visible: true },
      { external_id: 'B', centihours: null, status: 'closed', closed_by_leaving: false, visible: false },
      { external_id: 'C', centihours: 100, status: 'closed', closed_by_leaving: true, visible: false },
      { external_id: 'D', centihours: 150, status: 'active', visible: false },
    ])
    const events = await sql`
      select type, data from events where community_id = ${community.id} and type like 'listing.%'`
    expect(events.map(({ data }) => data.title)).toEqual(['Bread'])
    expect((await load(importListings, community, LISTINGS)).summary).toMatchObject({ unchanged: 4 })
  })

  test('changes, closes and reopens', async () => {
    const community = await withMembers()
    await load(importListings, community, LISTINGS)
    const changed = lines(
      'external_id,member_external_id,type,title,category,hours,status',
      'A,L-1,service,Bread,Kitchen,0.75,closed',
      'B,L-1,request,Bicycle brakes,Bicycles,1,active',
      'C,L-2,service,Walks,Company,1,closed',
    )
    await load(importListings, community, changed)
    const rows = await sql`
      select external_id, title, category, centihours, status, closed_by_leaving, visible from listings
      where community_id = ${community.id} and external_id in ('A', 'B', 'C') order by id`
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { status: 'closed', visible: false },
      { title: 'Bicycle brakes', category: 'Bicycles', centihours: 100, status: 'active', visible: true },
      { status: 'closed', closed_by_leaving: false },
    ])
    const events = await sql`
      select type from events where community_id = ${community.id} and type like 'listing.%' order by id`
    expect(events.map(({ type }) => type)).toEqual(['listing.published', 'listing.closed', 'listing.published'])
  })

  test('refuses what cannot be, with the reason', async () => {
    const community = await withMembers()
    await load(importListings, community, LISTINGS)
    const { fates } = await load(
      importListings,
      community,
      lines(
        'external_id,member_external_id,type,title,category,hours,status',
        'A,L-3,service,Bread,Kitchen,,',
        'E,L-9,service,Bread,Kitchen,,',
        'F,L-2,service,Bread,Kitchen,,',
        'G,L-1,service,Bread,Kitchen,,closed_with_member',
        'H,,gift,,,1.255,open',
        'I,L-1,service,Bread,Kitchen,0,',
      ),
    )
    expect(fates.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'The listing belongs to another member.'],
      [3, 'There is no member with the external id L-9.'],
      [4, 'The member has left and cannot publish listings.'],
      [5, 'The member has not left, so nothing was closed with them.'],
      [
        6,
        "The member's external id is missing. The type must be service or request. " +
          'The hours must be a number with at most two decimals. ' +
          'The status must be one of active, closed, closed_with_member. ' +
          'The title must have 1 to 200 characters. The category must have 1 to 100 characters.',
      ],
      [7, 'The hours must be greater than 0.'],
    ])
  })
})

async function expectRoundTrip(community: CommunityRow): Promise<void> {
  const [members, listings] = [await save(membersExport(community)), await save(listingsExport(community))]
  const empty = await newCommunity()
  expect((await load(importMembers, empty, members)).fates).toEqual([])
  expect((await load(importListings, empty, listings)).fates).toEqual([])
  expect(await save(membersExport(empty))).toBe(members)
  expect(await save(listingsExport(empty))).toBe(listings)
  // And where it comes from, it changes nothing.
  const before = await everythingOf(community)
  for (const [importFile, text] of [[importMembers, members] as const, [importListings, listings] as const]) {
    const { summary } = await load(importFile, community, text)
    expect(summary).toMatchObject({ added: 0, changed: 0, refused: 0 })
  }
  expect({ ...(await everythingOf(community)), audit_log: [] }).toEqual({ ...before, audit_log: [] })
}

describe('the round trip', () => {
  test('export, import into an empty community, export: equal to the byte', async () => {
    const { community } = await makeTestCommunity(sql, TESTER, { slug: 'round-trip', name: 'Round trip' })
    await expectRoundTrip(community)
  })

  test('whatever the texts, and whoever is hidden, has left or has no external id', async () => {
    const community = await newCommunity()
    const names = [
      '=1+1',
      "'=1+1",
      "''@x",
      '-5',
      '"quoted", with comma',
      'emoji 👩‍👩‍👧‍👦 ‮',
      ' spaces ',
      "O'Hara",
      '＝1',
      'hb-00000000-1',
    ]
    for (const [n, name] of names.entries()) {
      const wish = { name, email: n % 2 ? `m${n}@example.org` : null, external_id: n % 3 ? `+${n}` : null }
      const { id } = await addMember(sql, TESTER, community.id, wish)
      for (const description of [`${name}\r\n\t${name}\n`, '\r', '']) {
        const listing = { ...listingOf(id), title: name, description, category: `@${name}`, centihours: n * 25 || null }
        const { id: listingId } = await publishListing(sql, TESTER, community.id, listing)
        if (description === '\r') await closeListing(sql, TESTER, community.id, listingId)
      }
      if (n % 4 === 1) await hideMember(sql, TESTER, community.id, id)
      if (n % 4 === 2) await leave(sql, TESTER, community.id, id)
      if (n % 4 === 3) await changeMember(sql, TESTER, community.id, id, { name: `${name}!` })
    }
    await expectRoundTrip(community)
  })

  test('no cell of an export can be taken for a formula', async () => {
    const community = await newCommunity()
    const evil = '=HYPERLINK("http://evil.example";"click")'
    const { id } = await addMember(sql, TESTER, community.id, { name: evil, external_id: '@x' })
    await publishListing(sql, TESTER, community.id, {
      ...listingOf(id),
      title: evil,
      description: '\t=1',
      category: '-1',
    })
    await adjustBalance(sql, TESTER, community.id, { memberId: id, centihours: -250, reason: '+1' })
    const quoted = `"'${evil.replaceAll('"', '""')}"`
    expect(await save(membersExport(community))).toContain(`'@x,${quoted},`)
    expect(await save(listingsExport(community))).toContain(`,'@x,service,${quoted},'\t=1,'-1,`)
    const transfers = await save(transfersExport(community))
    expect(transfers).toContain(`,'@x,${quoted},-2.5,`)
    expect(transfers.trimEnd()).toMatch(/,'\+1$/)
  })
})

describe('large files', () => {
  const ROWS = volume(200_000)
  /** Rows held in memory would be several times that. */
  const GROWTH_BYTES_MAX = ROWS * 200
  const LOOKED_AT_EVERY = volume(20)

  async function* manyMembers(): AsyncGenerator<Buffer> {
    yield Buffer.from('external_id,name,email\n')
    for (let n = 0; n < ROWS; n += 1000) {
      const rows = Array.from(
        { length: 1000 },
        (_, k) => `M-${n + k},"Member\n${'x'.repeat(60)} ${n + k}",m${n + k}@example.org`,
      )
      yield Buffer.from(`${rows.join('\n').replaceAll('Member\n', 'Member ')}\n`)
    }
  }

  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void

  /** What is really held: the resident set tells mostly how lazy the collector is on a machine with room. */
  function memoryInUse(): number {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }

  test(`memory stays flat over ${ROWS} rows, in and out`, async () => {
    const community = await newCommunity()
    await load(importMembers, community, MEMBERS)
    const before = memoryInUse()
    let [most, calls] = [0, 0]
    const watch = () => {
      if (++calls % LOOKED_AT_EVERY === 0) most = Math.max(most, memoryInUse())
    }
    const summary = await importMembers(sql, TESTER, community, manyMembers(), { onProgress: watch })
    expect(summary).toMatchObject({ added: ROWS, written: true })
    let length = 0
    await exportRows(sql, membersExport(community), async (chunks) => {
      for await (const chunk of chunks) {
        length += chunk.length
        watch()
      }
    })
    expect(length).toBeGreaterThan(ROWS * 100)
    expect(most).toBeGreaterThan(0)
    expect(most - before).toBeLessThan(GROWTH_BYTES_MAX)
    // Whoever stops reading in the middle leaves everything in order.
    const stopped = exportRows(sql, membersExport(community), async (chunks) => {
      for await (const chunk of chunks) throw new Error(`the disk is full at ${chunk.length}`)
    })
    await expect(stopped).rejects.toThrow('the disk is full')
    const [wallets] = await sql`select count(*) from accounts where community_id = ${community.id} and kind = 'member'`
    expect(wallets!.count).toBe(ROWS + 3)
  })
})

async function run(command: Command, file: string, values: Record<string, string | boolean>) {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const config = { ...readConfig({}), databaseUrl }
    const failed = await command.run({ config, values, positionals: [file] }).catch((error: Error) => error)
    return { failed, printed: written.mock.calls.map(([text]) => String(text)).join('') }
  } finally {
    written.mockRestore()
  }
}

const command = (name: string) => [...importCommands, ...exportCommands].find((one) => one.name === name)!

describe('the commands', () => {
  test('import and export a file, for people and for scripts', async () => {
    const community = await newCommunity()
    const values = { community: community.slug }
    const file = join(folder, 'members.csv')
    await writeFile(file, `${MEMBERS}L-4,,,,,\r\n`)
    const dry = await run(command('members import'), file, { ...values, 'dry-run': true })
    expect(dry.failed).toMatchObject({
      message: expect.stringContaining('1 of 4 rows is refused: nothing would be written'),
    })
    expect(dry.printed).toBe(
      'line 2: added\nline 3: added\nline 4: added\nline 5: refused: The name must have 1 to 200 characters.\n' +
        '3 would be added, 0 would be changed, 0 unchanged, 1 refused.\n',
    )
    const all = await run(command('members import'), file, { ...values, json: true })
    expect(all.failed).toMatchObject({ message: expect.stringContaining('so nothing was written') })
    const reason = 'The name must have 1 to 200 characters.'
    expect(JSON.parse(all.printed)).toEqual({
      rows: [{ line: 5, outcome: 'refused', reason }],
      dry_run: false,
      total: 4,
      added: 3,
      changed: 0,
      unchanged: 0,
      refused: 1,
      written: false,
    })
    const skipped = await run(command('members import'), file, { ...values, 'skip-bad': true })
    expect(skipped).toMatchObject({ failed: undefined, printed: expect.stringContaining('3 added, 0 changed') })
    expect(
      JSON.parse((await run(command('members import'), file, { ...values, 'skip-bad': true, json: true })).printed),
    ).toMatchObject({ unchanged: 3, refused: 1, written: true })

    const target = join(folder, 'export.csv')
    const exported = await run(command('members export'), target, { ...values, json: true })
    expect(JSON.parse(exported.printed)).toEqual({ file: target, rows: 3 })
    expect((await readFile(target, 'utf8')).split('\r\n')).toHaveLength(5)
    expect((await stat(target)).mode & 0o777).toBe(0o600)
    const again = await run(command('members export'), target, values)
    expect(again.failed).toMatchObject({ message: expect.stringContaining('exists already') })
    await run(command('members export'), target, { ...values, overwrite: true, bom: true })
    expect((await readFile(target, 'utf8')).startsWith('\uFEFFexternal_id,')).toBe(true)
    expect((await run(command('members import'), target, values)).printed).toContain('3 unchanged')
    const audit = await sql`
      select count(*) from audit_log where community_id = ${community.id} and action = 'members.exported'`
    expect(audit[0]!.count).toBe(3)
  })

  test('say what is wrong', async () => {
    const { slug } = await newCommunity()
    const values = { community: slug }
    const missing = await run(command('members import'), join(folder, 'none.csv'), values)
    expect(missing.failed).toMatchObject({ message: expect.stringContaining('cannot be read') })
    const broken = join(folder, 'broken.csv')
    await writeFile(broken, 'external_id,name\n1,"Anna')
    expect((await run(command('members import'), broken, values)).failed).toMatchObject({
      message: `${broken}: Line 2: The quote that opens here is never closed. Nothing was written.`,
    })
    const nowhere = await run(command('listings export'), join(folder, 'no', 'folder.csv'), values)
    expect(nowhere.failed).toMatchObject({ message: expect.stringContaining('cannot be written') })
    const unknown = await run(command('transfers export'), join(folder, 'x.csv'), { community: 'nowhere' })
    expect(unknown.failed).toMatchObject({ message: expect.stringContaining('There is no community nowhere') })
  })
})

test('the books of imported members are right', async () => {
  const community = await newCommunity()
  await load(importMembers, community, MEMBERS)
  expect((await verifyLedger(sql, community.id)).differences).toEqual([])
})
