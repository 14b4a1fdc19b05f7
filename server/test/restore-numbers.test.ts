import { expect, test } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import type { Sql } from '../src/postgres/connect.ts'
import { backup, newFile, open, restored, silent } from './backup-files.ts'
import { TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { takeIds } from './take-ids.ts'

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

function expectAbove(numbers: Record<string, number>, floor: Record<string, number>, by = 0): void {
  for (const [name, value] of Object.entries(numbers)) expect(value, name).toBeGreaterThan(floor[name]! + by)
}

test('ids of a kind that was first issued after the backup are not issued again', async () => {
  const source = await newSource()
  const file = await newBackup(source)
  const issued = await takeNext(source, 10_000)
  expect(issued).toMatchObject({ members: 1, listings: 1, subscriptions: 1, credits: 1 })
  expectAbove(await takeNext(await restored(file)), issued, 10_000)
})
