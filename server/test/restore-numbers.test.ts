import { expect, test } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { changeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, changeMember } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import type { Sql } from '../src/postgres/connect.ts'
import { backup, linesOf, newFile, open, restored, sealed, silent } from './backup-files.ts'
import { TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { takeIds } from './take-ids.ts'

const HOUR_SECONDS = 3600
const YEAR_SECONDS = 365 * 24 * HOUR_SECONDS
const INT4_MAX = 2 ** 31 - 1

/** A community with a partner, whose counters have not issued an id yet. */
async function newSource(): Promise<Sql> {
  const sql = open(await newDatabase())
  await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  await sql`insert into partners (community_id, name, scopes) values (1, 'Bank', '{}')`
  return sql
}

async function newBackup(sql: Sql): Promise<string> {
  const file = newFile()
  await backup(sql, file, silent)
  return file
}

/** The same backup with an earlier time, as a restore will find it so many seconds later. */
async function aged(file: string, seconds: number): Promise<string> {
  const [first, ...rest] = await linesOf(file)
  const header = JSON.parse(first!) as { created_at: string }
  const earlier = new Date(Date.parse(header.created_at) - seconds * 1000)
  header.created_at = earlier.toISOString().replace(/\.\d+Z$/, 'Z')
  return sealed([JSON.stringify(header), ...rest].join('\n'))
}

/** The next ids of everything that counts within a community or a partner, and of a sequence. */
async function takeNext(sql: Sql, count = 1): Promise<Record<string, number>> {
  const [row] = await sql<[{ id: number }]>`select nextval(pg_get_serial_sequence('partners', 'id')) as id`
  return {
    members: await takeIds(sql, 1, 'members', count),
    listings: await takeIds(sql, 1, 'listings', count),
    subscriptions: await takeIds(sql, 1, 'subscriptions', count),
    credits: await takeIds(sql, 1, 'credits', count, 1),
    partners: row.id,
  }
}

/** Changes the first member, listing and wallet, and returns their versions. */
async function change(sql: Sql, text: string): Promise<Record<string, number>> {
  const member = await changeMember(sql, TESTER, 1, 1, { name: text })
  const listing = await changeListing(sql, TESTER, 1, 1, { title: text })
  await adjustBalance(sql, TESTER, 1, { memberId: 1, centihours: 100, reason: text })
  const [wallet] = await sql<[{ version: number }]>`
    select version from accounts where community_id = 1 and member_id = 1`
  return { member: member.version, listing: listing.version, wallet: wallet.version }
}

function expectAbove(numbers: Record<string, number>, floor: Record<string, number>, by = 0): void {
  for (const [name, value] of Object.entries(numbers)) expect(value, name).toBeGreaterThan(floor[name]! + by)
}

async function addMemberWithListing(sql: Sql): Promise<void> {
  const { id } = await addMember(sql, TESTER, 1, { name: 'Ada' })
  await sql`insert into categories (community_id, name) values (1, 'Kitchen') on conflict do nothing`
  const listing = { type: 'service', title: 'Bread', description: '', category: 'Kitchen', centihours: 100 } as const
  await publishListing(sql, TESTER, 1, { ...listing, member_id: id, external_id: null })
}

test('ids of a kind that was first issued after the backup are not issued again', async () => {
  const source = await newSource()
  const file = await newBackup(source)
  const issued = await takeNext(source, 10_000)
  expect(issued).toMatchObject({ members: 1, listings: 1, subscriptions: 1, credits: 1 })
  expectAbove(await takeNext(await restored(file)), issued, 10_000)
})

test('a second restore of the same backup issues none of the ids that the first one issued', async () => {
  const file = await newBackup(await newSource())
  const first = await takeNext(await restored(file), 10_000)
  expectAbove(await takeNext(await restored(await aged(file, HOUR_SECONDS))), first, 10_000)
})

test('versions go on above all that were announced, after a second restore of the same backup too', async () => {
  const source = await newSource()
  await addMemberWithListing(source)
  await change(source, 'before')
  const file = await newBackup(source)
  for (const text of ['one', 'two', 'three']) await change(source, text)
  const announced = await change(source, 'four')

  const first = await restored(file)
  expectAbove(await change(first, 'again one'), announced)
  const announcedByFirst = await change(first, 'again two')
  expectAbove(await change(await restored(await aged(file, HOUR_SECONDS)), 'once more'), announcedByFirst)
})

test('a clock that was wrong during the backup does not use up the numbers', async () => {
  const source = await newSource()
  await addMemberWithListing(source)
  const file = await newBackup(source)
  const before = await takeNext(source)
  for (const seconds of [-YEAR_SECONDS, Date.now() / 1000]) {
    const copy = await restored(await aged(file, seconds))
    expectAbove(await takeNext(copy), before)
    const { member, listing } = await change(copy, 'changed')
    for (const version of [member!, listing!]) expect(version).toBeLessThan(INT4_MAX / 5)
  }
})
