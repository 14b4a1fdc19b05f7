import { describe, expect, test } from 'vitest'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, changeMember } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { membersExport } from '../src/features/members/export-members.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { TESTER } from './bank.ts'
import { sql, newCommunity, lines, load, save, everythingOf, MEMBERS, listingOf } from './csv-communities.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'

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
        joined_at: '2020-02-29T12:00:00.000000Z',
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
      { line: 4, outcome: 'changed', reason: 'name, hidden' },
    ])
    await load(importMembers, community, changed)
    const rows = await sql`
      select m.name, m.email, m.status, m.hidden, m.joined_at, a.active, a.hidden as wallet_hidden
      from members m join accounts a on a.community_id = ${community.id} and a.member_id = m.id
      where m.community_id = ${community.id} order by m.id`
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { email: 'new@example.org', status: 'inactive', active: false, joined_at: '2020-02-29T12:00:00.000000Z' },
      { status: 'active', active: true, email: null },
      { name: 'Doris Krenn', email: expect.stringContaining('@'), hidden: false, wallet_hidden: false },
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

  test('keeps what was changed while it waited for a member, except what it said it would change', async () => {
    const community = await newCommunity()
    const head = 'external_id,name,email,notes,joined_at'
    const row = 'L-1,Anna Auer,old@example.org'
    await load(importMembers, community, lines(head, `${row},,2020-02-29`))
    const [anna] = await sql<[{ id: number }]>`select id from members where community_id = ${community.id}`
    const office = await openTransaction(sql)
    await changeMember(office.tx, TESTER, community.id, anna.id, { email: 'new@example.org', notes: 'calls early' })
    await office.tx`
      update members set joined_at = '2019-01-01T12:00:00Z' where community_id = ${community.id} and id = ${anna.id}`
    const importing = load(importMembers, community, lines(head, `${row},calls late,2020-02-29`))
    await someoneWaits(sql, '%from members%')
    await office.commit()
    expect((await importing).summary).toMatchObject({ changed: 1, written: true })

    const [member] = await sql`
      select email, notes, joined_at, version from members where community_id = ${community.id} and id = ${anna.id}`
    expect(member).toMatchObject({
      email: 'new@example.org',
      notes: 'calls late',
      joined_at: '2019-01-01T12:00:00.000000Z',
    })
    const [event] = await sql`
      select data from events where community_id = ${community.id} and type = 'user.updated' order by id desc limit 1`
    expect(event!.data).toMatchObject({ email: member!.email, version: member!.version })
  })

  test('an empty cell keeps what is there, unless empty cells clear it', async () => {
    const community = await newCommunity()
    const head = 'external_id,name,email,phone,address,notes,tags'
    const full = 'L-1,Anna Auer,anna@example.org,+43 1 23,Dorfplatz 1,likes bread,baker'
    await load(importMembers, community, lines(head, full))
    const before = await save(membersExport(community))
    const emptied = lines(head, 'L-1,Anna Auer,,,,,')
    const { summary, fates } = await load(importMembers, community, emptied, { dryRun: true })
    expect(summary).toMatchObject({ unchanged: 1, changed: 0 })
    expect(fates).toEqual([{ line: 2, outcome: 'unchanged', reason: '' }])
    await load(importMembers, community, emptied)
    expect(await save(membersExport(community))).toBe(before)

    const cleared = await load(importMembers, community, emptied, { dryRun: true, clearEmpty: true })
    expect(cleared.fates).toEqual([{ line: 2, outcome: 'changed', reason: 'email, phone, address, notes, tags' }])
    await load(importMembers, community, emptied, { clearEmpty: true })
    expect(await save(membersExport(community))).toContain('\r\nL-1,Anna Auer,,,,,,active,')
    // A name is needed either way.
    const nameless = await load(importMembers, community, lines(head, 'L-1,,,,,,'), { dryRun: true })
    expect(nameless.summary).toMatchObject({ refused: 1 })
  })

  test('tags that differ only by case are one tag, spelled as the community or the file spelled it first', async () => {
    const community = await newCommunity()
    const tagsOf = async () => {
      const rows = await sql<{ tags: string[] }[]>`
        select array(
          select tag from member_tags t where community_id = ${community.id} and t.member_id = m.id order by tag collate "C"
        ) as tags
        from members m where community_id = ${community.id} order by id`
      return rows.map(({ tags }) => tags)
    }
    const head = 'external_id,name,tags'
    const first = lines(head, 'L-1,Anna Auer,"Driver, Öl"', 'L-2,Bilal Haddad,"öl, driver, DRIVER"')
    expect((await load(importMembers, community, first)).summary).toMatchObject({ added: 2 })
    expect(await tagsOf()).toEqual([
      ['Driver', 'Öl'],
      ['Driver', 'Öl'],
    ])
    expect((await load(importMembers, community, first)).summary).toMatchObject({ unchanged: 2 })

    const second = lines(
      head,
      'L-1,Anna Auer,"ÖL, driver"',
      'L-2,Bilal Haddad,"driver, baker"',
      'L-3,Cleo,"Baker, DRIVER"',
    )
    const { summary, fates } = await load(importMembers, community, second, { dryRun: true })
    expect(summary).toMatchObject({ unchanged: 1, changed: 1, added: 1 })
    expect(fates[1]).toMatchObject({ outcome: 'changed', reason: 'tags' })
    await load(importMembers, community, second)
    expect(await tagsOf()).toEqual([
      ['Driver', 'Öl'],
      ['Driver', 'baker'],
      ['Driver', 'baker'],
    ])
  })

  test('an import keeps both spellings of a tag that the community has in two', async () => {
    const community = await newCommunity()
    await load(importMembers, community, lines('external_id,name', 'L-1,Anna Auer', 'L-2,Bilal Haddad'))
    // Imports used to make two tags of them.
    await sql`
      insert into member_tags (community_id, member_id, tag)
      select community_id, id, unnest(array['Driver', 'driver']) from members where community_id = ${community.id}`
    const exported = await save(membersExport(community))
    expect((await load(importMembers, community, exported)).summary).toMatchObject({ unchanged: 2 })
    const chosen = lines('external_id,name,tags', 'L-1,Anna Auer,Driver', 'L-2,Bilal Haddad,driver')
    expect((await load(importMembers, community, chosen)).summary).toMatchObject({ changed: 2 })
    expect((await load(importMembers, community, chosen)).summary).toMatchObject({ unchanged: 2 })
  })

  const MIXED = lines(
    'external_id,name,email,status,hidden,joined_at',
    'L-1,Anna Auer,anna@example.org,active,false,2020-02-29',
    'L-2,Bilal Haddad,bilal@example.org,,,',
    'L-9,Nobody,not an address,asleep,perhaps,yesterday',
    ',Without,,,,',
    'L-5,,,,,',
    'L-6,Too,many,,,,x',
    'L-7,Gabriele,,,,2999-01-01',
    'L-8,Hadi,,,,',
    'L-8,Hadi again,,,,',
    ',,,,,',
  )

  test('a dry run reports the outcome of every row and writes nothing', async () => {
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
          'This is not a valid email address. The status must be active or inactive. Hidden must be true or false. ' +
          'The time of joining must be like 2024-05-31, 31.5.2024 or 2024-05-31T12:00:00Z.',
      },
      { line: 5, outcome: 'refused', reason: expect.stringContaining('external id is missing') },
      { line: 6, outcome: 'refused', reason: 'The name must have 1 to 200 characters.' },
      { line: 7, outcome: 'refused', reason: 'The row has 7 fields, the first line 6.' },
      { line: 8, outcome: 'refused', reason: 'The time of joining lies in the future.' },
      { line: 9, outcome: 'added', reason: null },
      { line: 10, outcome: 'refused', reason: 'The external id is in line 9 already.' },
    ])
    expect(await everythingOf(community)).toEqual(before)
  })

  test('one invalid row prevents the whole import, and all reasons are reported', async () => {
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
    ['external_id,name,shoe_size\n1,Anna,2\n', 'there is no column "shoe_size"'],
    ['external_id,name,name\n1,Anna,2\n', '"name" is there twice'],
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

  test('spaces around a cell do not make another member, nor a second opening balance', async () => {
    const community = await newCommunity()
    const head = 'external_id,name,opening_balance'
    await load(importMembers, community, lines(head, '17,Anna Auer,5'))
    const again = await load(importMembers, community, lines(head, '17 ,\u00A0Anna Auer , 5'), { dryRun: true })
    expect(again.fates).toEqual([{ line: 2, outcome: 'unchanged', reason: '' }])
    const { fates } = await load(importMembers, community, lines(head, '17 ,Anna Auer ,5', '18,Bea,', ' 18,Bea,'))
    expect(fates).toEqual([{ line: 4, outcome: 'refused', reason: 'The external id is in line 3 already.' }])
    // Imports used to keep the spaces.
    await addMember(sql, TESTER, community.id, { name: 'Cleo', external_id: '\u00A019 ' })
    const known = await load(importMembers, community, lines(head, '19,Cleo,5', '17 ,Anna Auer ,5'))
    expect(known.summary).toMatchObject({ added: 0, changed: 1, unchanged: 1 })
    const rows = await sql`
      select m.name, a.balance from members m join accounts a on a.community_id = ${community.id} and a.member_id = m.id
      where m.community_id = ${community.id} order by m.id`
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { name: 'Anna Auer', balance: 500 },
      { name: 'Cleo', balance: 500 },
    ])
  })

  test('an erased member does not come back', async () => {
    const community = await newCommunity()
    const { id } = await addMember(sql, TESTER, community.id, { name: 'Anna' })
    const text = await save(membersExport(community))
    await eraseMember(sql, TESTER, community.id, id)
    const { fates } = await load(importMembers, community, text)
    expect(fates).toEqual([{ line: 2, outcome: 'refused', reason: 'This member was erased.' }])
    expect(await save(membersExport(community))).toBe(
      'external_id,name,email,phone,address,notes,tags,status,hidden,joined_at,balance_hours,payment_reference\r\n',
    )
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
