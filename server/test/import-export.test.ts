import { mkdtempSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { CommunityRow } from '../src/features/communities/queries.ts'
import { exportRows } from '../src/csv/export-rows.ts'
import { makeTestCommunity } from '../src/demo/make-demo.ts'
import { listingsExport } from '../src/features/listings/export-listings.ts'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { importListings } from '../src/features/listings/import-listings.ts'
import { addMember, changeMember, hideMember, leave } from '../src/features/members/change-member.ts'
import { membersExport } from '../src/features/members/export-members.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { transfersExport } from '../src/features/wallet/export-transfers.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { TESTER } from './bank.ts'
import { volume } from './volume.ts'
import {
  sql,
  newCommunity,
  lines,
  load,
  save,
  everythingOf,
  MEMBERS,
  listingOf,
  run,
  command,
} from './csv-communities.ts'

/** Removed with the temporary folder of the run. */
const folder = mkdtempSync(join(tmpdir(), 'csv-'))

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

  test('an empty cell keeps description and hours, unless empty cells clear them', async () => {
    const community = await withMembers()
    await load(importListings, community, LISTINGS)
    const emptied = lines(
      'external_id,member_external_id,type,title,category,description,hours',
      'A,L-1,service,Bread,Kitchen,,',
    )
    expect((await load(importListings, community, emptied)).summary).toMatchObject({ unchanged: 1 })
    const { fates } = await load(importListings, community, emptied, { dryRun: true, clearEmpty: true })
    expect(fates).toMatchObject([{ outcome: 'changed', reason: 'description, hours' }])
  })

  test('spaces around a cell count in descriptions only', async () => {
    const community = await withMembers()
    // Imports used to keep the spaces.
    await addMember(sql, TESTER, community.id, { name: 'Emre', external_id: 'L-4 ' })
    const head = 'external_id,member_external_id,type,title,category,description'
    await load(importListings, community, lines(head, 'A,L-1,service,Bread,Kitchen, two '))
    const spaced = lines(head, 'A ,L-1 , service,Bread ,Kitchen , two ', 'B,L-4,service,Cake,Kitchen ,')
    expect((await load(importListings, community, spaced)).summary).toMatchObject({ added: 1, unchanged: 1 })
    const rows = await sql`
      select title, category, description from listings where community_id = ${community.id} order by id`
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { title: 'Bread', category: 'Kitchen', description: ' two ' },
      { title: 'Cake', category: 'Kitchen', description: '' },
    ])
  })

  test('rejects invalid rows with the reason', async () => {
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
        'H,,gift,,,1.255,ajar',
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

/** Balances and payment references belong to the community, and are not imported. */
function withoutPlace(members: string): string {
  const found = members.replaceAll(/,(?:balance_hours,payment_reference|-?[\d.]+,RF\d+)(?=\r\n)/g, '')
  expect(found).not.toBe(members)
  return found
}

async function expectRoundTrip(community: CommunityRow): Promise<void> {
  const [members, listings] = [await save(membersExport(community)), await save(listingsExport(community))]
  const empty = await newCommunity()
  expect((await load(importMembers, empty, members)).fates).toEqual([])
  expect((await load(importListings, empty, listings)).fates).toEqual([])
  expect(withoutPlace(await save(membersExport(empty)))).toBe(withoutPlace(members))
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

  test('with any text, and with members who are hidden, have left or have no external id', async () => {
    const community = await newCommunity()
    const names = [
      '=1+1',
      "'=1+1",
      "''@x",
      '-5',
      '"quoted", with comma',
      'emoji 👩‍👩‍👧‍👦 ‮',
      'two  spaces',
      "O'Hara",
      '＝1',
      'hb-00000000-1',
    ]
    for (const [n, name] of names.entries()) {
      const input = { name, email: n % 2 ? `m${n}@example.org` : null, external_id: n % 3 ? `+${n}` : null }
      const { id } = await addMember(sql, TESTER, community.id, input)
      for (const description of [` ${name}\r\n\t${name}\n`, '\r', '']) {
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
    expect(await save(listingsExport(community))).toContain(`,'@x,service,${quoted},'\t'=1,'-1,`)
    const transfers = await save(transfersExport(community))
    expect(transfers).toContain(`,'@x,${quoted},-2.5,`)
    expect(transfers.trimEnd()).toMatch(/,'\+1$/)
  })
})

describe('large files', () => {
  const ROWS = volume(200_000)
  /** Rows held in memory would be several times that. */
  const GROWTH_BYTES_MAX = ROWS * 200
  const LOOKED_AT_EVERY = 10

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
    const summary = await importMembers(sql, TESTER, community, manyMembers, { onProgress: watch })
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
    // Stopping in the middle leaves everything in order.
    const stopped = exportRows(sql, membersExport(community), async (chunks) => {
      for await (const chunk of chunks) throw new Error(`the disk is full at ${chunk.length}`)
    })
    await expect(stopped).rejects.toThrow('the disk is full')
    const [wallets] = await sql`select count(*) from accounts where community_id = ${community.id} and kind = 'member'`
    expect(wallets!.count).toBe(ROWS + 3)
  })
})

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

    await writeFile(file, lines('external_id,name,email', 'L-1,Anna Auer,'))
    const kept = await run(command('members import'), file, values)
    expect(kept.printed).toContain('0 changed, 1 unchanged')
    const cleared = await run(command('members import'), file, { ...values, 'clear-empty': true, 'dry-run': true })
    expect(cleared.printed).toContain('line 2: changed: email')

    const target = join(folder, 'export.csv')
    const exported = await run(command('members export'), target, { ...values, json: true })
    expect(JSON.parse(exported.printed)).toEqual({ file: target, rows: 3 })
    expect((await readFile(target, 'utf8')).split('\r\n')).toHaveLength(5)
    expect((await stat(target)).mode & 0o777).toBe(0o600)
    const again = await run(command('members export'), target, values)
    expect(again.failed).toMatchObject({ message: expect.stringContaining('already exists') })
    await run(command('members export'), target, { ...values, overwrite: true, bom: true })
    expect((await readFile(target, 'utf8')).startsWith('\uFEFFexternal_id,')).toBe(true)
    expect((await run(command('members import'), target, values)).printed).toContain('3 unchanged')
    const audit = await sql`
      select count(*) from audit_log where community_id = ${community.id} and action = 'members.exported'`
    expect(audit[0]!.count).toBe(3)
  })

  test('report errors', async () => {
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
