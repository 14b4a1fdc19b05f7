import { expect, test } from 'vitest'
import { changeCategory } from '../src/features/communities/change-category.ts'
import { changeListing, closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { importListings } from '../src/features/listings/import-listings.ts'
import { addMember, hideMember, leave, returnMember, showMember } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { eventually, TESTER } from './bank.ts'
import { lines, load, newCommunity, sql } from './csv-communities.ts'
import { holdOpen, openTransaction, waitingSessions } from './lock-table.ts'

/* Whoever writes listings locks members, then categories, then listings, so nobody waits in a circle. */

const HEAD = 'external_id,member_external_id,type,title,category,status'

async function start() {
  const community = await newCommunity()
  const { id } = community
  const ada = await addMember(sql, TESTER, id, { name: 'Ada', external_id: 'M' })
  const publish = (external_id: string, category: string, member_id = ada.id) =>
    publishListing(sql, TESTER, id, {
      member_id,
      type: 'service',
      title: external_id,
      description: '',
      category,
      centihours: null,
      external_id,
    })
  const importRows = (...rows: string[]) => load(importListings, community, lines(HEAD, ...rows))
  const rename = async (from: string, to: string) => {
    const [category] = await sql<[{ id: number }]>`
      select id from categories where community_id = ${id} and name = ${from}`
    await changeCategory(sql, TESTER, id, category.id, { name: to })
  }
  /** Which category each listing is in. */
  const stored = async () => {
    const rows = await sql<{ external_id: string; category: string }[]>`
      select external_id, category from listings where community_id = ${id} order by id`
    return Object.fromEntries(rows.map((row) => [row.external_id, row.category]))
  }
  const holdCounter = () =>
    holdOpen(sql, `select 1 from id_counters where community_id = ${id} and counted = 'listings' for update`)
  const holdListing = (listing: { id: number }) =>
    holdOpen(sql, `select 1 from listings where community_id = ${id} and id = ${listing.id} for update`)
  return { community, id, memberId: ada.id, publish, importRows, rename, stored, holdCounter, holdListing }
}

/** Resolves when so many statements wait for a lock. */
const waiting = (count: number) => eventually(async () => (await waitingSessions(sql)).length === count)

test('a category that is renamed while a listing is published in it waits for the listing', async () => {
  const { publish, rename, stored, holdCounter } = await start()
  await publish('A', 'Garden')
  const counter = await holdCounter()
  const publishing = publish('B', 'Garden')
  await waiting(1)
  const renaming = rename('Garden', 'Gardening')
  await waiting(2)
  await counter.release()
  await Promise.all([publishing, renaming])
  expect(await stored()).toEqual({ A: 'Gardening', B: 'Gardening' })
})

test('a category that is renamed while listings are imported into it waits for the import', async () => {
  const { publish, importRows, rename, stored, holdCounter } = await start()
  await publish('A', 'Garden')
  const counter = await holdCounter()
  const importing = importRows('B,M,service,B,Garden,')
  await waiting(1)
  const renaming = rename('Garden', 'Gardening')
  await waiting(2)
  await counter.release()
  await Promise.all([importing, renaming])
  expect(await stored()).toEqual({ A: 'Gardening', B: 'Gardening' })
})

test('a listing is moved to the name that its category is being given', async () => {
  const { id, publish, rename, stored, holdListing } = await start()
  const listing = await publish('A', 'Garden')
  const held = await holdListing(listing)
  const changing = changeListing(sql, TESTER, id, listing.id, { category: 'Gardening', title: 'Hedges' })
  await waiting(1)
  const renaming = rename('Garden', 'Gardening').catch(({ message }: Error) => message)
  await waiting(2)
  await held.release()
  expect(await changing).toMatchObject({ title: 'Hedges', category: 'Gardening' })
  expect(await renaming).toContain('Gardening')
  expect(await stored()).toEqual({ A: 'Gardening' })
})

test('listings are changed and moved by an import while their category is renamed', async () => {
  const { publish, importRows, rename, stored, holdListing } = await start()
  await publish('A', 'Food')
  const held = await holdListing(await publish('B', 'Garden'))
  const importing = importRows('A,M,service,Bread,Food,', 'B,M,service,Cake,Food,')
  await waiting(1)
  const renaming = rename('Food', 'Cooking')
  await waiting(2)
  await held.release()
  await Promise.all([importing, renaming])
  expect(await stored()).toEqual({ A: 'Cooking', B: 'Cooking' })
})

test('an import keeps what was changed while it waited for a listing, except what it said it would change', async () => {
  const { id, publish, importRows, stored } = await start()
  const listing = await publish('A', 'Food')
  const office = await openTransaction(sql)
  await changeListing(office.tx, TESTER, id, listing.id, { category: 'Garden', type: 'request' })
  const importing = importRows('A,M,service,Bread,Food,')
  await waiting(1)
  await office.commit()
  await importing
  expect(await stored()).toEqual({ A: 'Garden' })
  expect(await sql`select type, title from listings where community_id = ${id}`).toMatchObject([
    { type: 'request', title: 'Bread' },
  ])
})

test('an import does not bring back a category that was renamed while it waited', async () => {
  const { id, publish, importRows, stored } = await start()
  await publish('A', 'Food')
  const [food] = await sql<[{ id: number }]>`select id from categories where community_id = ${id}`
  const office = await openTransaction(sql)
  await changeCategory(office.tx, TESTER, id, food.id, { name: 'Cooking' })
  const importing = importRows('A,M,service,Bread,Food,')
  await waiting(1)
  await office.commit()
  await importing
  expect(await stored()).toEqual({ A: 'Cooking' })
  expect(await sql`select name from categories where community_id = ${id}`).toMatchObject([{ name: 'Cooking' }])
})

test('a category that is retired while a listing is published in it is refused', async () => {
  const { id, publish } = await start()
  await publish('A', 'Garden')
  const [garden] = await sql<[{ id: number }]>`select id from categories where community_id = ${id}`
  const office = await openTransaction(sql)
  await changeCategory(office.tx, TESTER, id, garden.id, { retired: true })
  const publishing = publish('B', 'Garden').catch(({ message }: Error) => message)
  await waiting(1)
  await office.commit()
  expect(await publishing).toContain('Garden')
})

test('two imports that add and reopen listings of one member follow each other', async () => {
  const { id, publish, importRows, stored, holdCounter } = await start()
  const listing = await publish('A', 'Garden')
  await closeListing(sql, TESTER, id, listing.id)
  const counter = await holdCounter()
  const first = importRows('A,M,service,A,Garden,active', 'B,M,service,B,Garden,')
  await waiting(1)
  const second = importRows('C,M,service,C,Garden,')
  await waiting(2)
  await counter.release()
  await Promise.all([first, second])
  expect(await stored()).toEqual({ A: 'Garden', B: 'Garden', C: 'Garden' })
})

test.each([
  ['leaves', leave, []],
  ['returns', returnMember, [leave]],
  ['is hidden', hideMember, []],
  ['is shown', showMember, [hideMember]],
  ['is erased', eraseMember, []],
  ['is erased after leaving', eraseMember, [leave]],
])('a member %s while the category of their listings is renamed', async (_name, change, before) => {
  const { id, memberId, publish, rename, stored, holdListing } = await start()
  const first = await publish('A', 'Garden')
  await publish('B', 'Garden')
  for (const step of before) await step(sql, TESTER, id, memberId)
  // Stored behind the other one, so a statement that locks them as it finds them does so in another order.
  await sql`update listings set version = version + 1 where community_id = ${id} and id = ${first.id}`
  const held = await holdListing(first)
  const renaming = rename('Garden', 'Gardening')
  await waiting(1)
  const changing = change(sql, TESTER, id, memberId)
  await waiting(2)
  await held.release()
  await Promise.all([renaming, changing])
  expect(Object.values(await stored()).every((category) => category === 'Gardening')).toBe(true)
})

test('members leave by an import while the category of their listings is renamed', async () => {
  const { community, id, publish, rename, stored, holdListing } = await start()
  const ben = await addMember(sql, TESTER, id, { name: 'Ben', external_id: 'N' })
  const held = await holdListing(await publish('A', 'Garden'))
  await publish('B', 'Garden', ben.id)
  const renaming = rename('Garden', 'Gardening')
  await waiting(1)
  const importing = load(importMembers, community, lines('external_id,name,status', 'N,Ben,inactive', 'M,Ada,inactive'))
  await waiting(2)
  await held.release()
  await Promise.all([renaming, importing])
  expect(await stored()).toEqual({ A: 'Gardening', B: 'Gardening' })
})

test('an import adds no listing for a member who was erased while it waited, and leaves theirs alone', async () => {
  const { id, memberId, publish, importRows } = await start()
  const ben = await addMember(sql, TESTER, id, { name: 'Ben', external_id: 'N' })
  await publish('A', 'Kitchen')
  await publish('B', 'Music', ben.id)
  const wallet = await holdOpen(
    sql,
    `select 1 from accounts where community_id = ${id} and member_id = ${memberId} for update`,
  )
  const importing = importRows(
    'A,M,service,Bread,Kitchen,closed',
    'B,N,service,Ben plays,Music,closed',
    'C,N,service,Ben teaches,Music,',
  )
  await waiting(1)
  await eraseMember(sql, TESTER, id, ben.id)
  await wallet.release()
  await importing
  const rows = await sql<{ title: string }[]>`select title from listings where community_id = ${id} order by title`
  expect(rows.map(({ title }) => title)).toEqual(['Bread', 'Erased'])
  const audited = await sql<{ action: string }[]>`
    select a.action from audit_log a join listings l on l.community_id = ${id} and l.id = a.subject_id
    where a.community_id = ${id} and a.subject_kind = 'listing' and l.member_id = ${ben.id}`
  expect(audited.map(({ action }) => action)).toEqual(['listing.published'])
})

test('a listing whose member is being erased is not changed', async () => {
  const { id, memberId, publish } = await start()
  const listing = await publish('A', 'Garden')
  const office = await openTransaction(sql)
  await eraseMember(office.tx, TESTER, id, memberId)
  const changing = changeListing(sql, TESTER, id, listing.id, { title: 'Ada gardens' }).catch(
    ({ message }: Error) => message,
  )
  await waiting(1)
  await office.commit()
  expect(await changing).toContain(`${listing.id}`)
  expect(await sql`select title from listings where community_id = ${id}`).toMatchObject([{ title: 'Erased' }])
})

/* Each changes a listing a second time, when PostgreSQL checks that the category is still there. */
test.each<[what: string, change: (town: Awaited<ReturnType<typeof start>>) => Promise<unknown>]>([
  ['its member is erased', ({ id, memberId }) => eraseMember(sql, TESTER, id, memberId)],
  [
    'an import hides its member, who leaves',
    ({ community }) => load(importMembers, community, lines('external_id,name,hidden,status', 'M,Ada,true,inactive')),
  ],
  ['an import changes and closes it', ({ importRows }) => importRows('A,M,service,Hedges,Garden,closed')],
  ['an import moves and closes it', ({ importRows }) => importRows('A,M,service,Hedges,Indoors,closed')],
])('the category of a listing is renamed while %s', async (_what, change) => {
  const town = await start()
  await town.publish('A', 'Garden')
  const log = await holdOpen(sql, 'lock table audit_log in share mode')
  const changing = change(town)
  await waiting(1)
  const renaming = town.rename('Garden', 'Gardening')
  await waiting(2)
  await log.release()
  await Promise.all([changing, renaming])
  expect(await sql`select status from listings where community_id = ${town.id}`).toMatchObject([{ status: 'closed' }])
  expect(Object.values(await town.stored())).not.toContain('Garden')
})
