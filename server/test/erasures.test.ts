import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { connect } from '../src/postgres/connect.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { readErasureFile } from '../src/features/members/erasure-list.ts'
import { TESTER } from './bank.ts'
import { hourbank, hourbankWith } from './command-line.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'

/** Several commands, each a process of its own. */
const TIMEOUT_MS = 120_000

function open(url: string) {
  const sql = connect(url, { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end())
  return sql
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-erasures-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function startTown() {
  const url = await newDatabase()
  const sql = open(url)
  const { id: communityId } = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const add = (name: string) => addMember(sql, TESTER, communityId, { name, email: `${name}@example.org` })
  return { url, sql, communityId, add }
}

async function emails(url: string): Promise<(string | null)[]> {
  const rows = await open(url)<{ email: string | null }[]>`select email from members order by id`
  return rows.map(({ email }) => email)
}

test(
  'who is erased after a backup is still erased after its restore, by the list or by the database that is replaced',
  { timeout: TIMEOUT_MS },
  async () => {
    const town = await startTown()
    const [folder, ada, ben] = [await newFolder(), await town.add('ada'), await town.add('ben')]
    const [backup, list] = [join(folder, 'town.backup'), join(folder, 'erasures.json')]
    const early = await town.add('early')
    await hourbank(town.url, 'members', 'erase', '--community', 'town', '--id', `${early.id}`, '--yes')
    await hourbank(town.url, 'backup', backup)
    const late = await town.add('late')
    for (const { id } of [ada, late]) {
      await hourbank(town.url, 'members', 'erase', '--community', 'town', '--id', `${id}`, '--yes')
    }
    expect(await hourbank(town.url, 'erasures', 'export', list)).toContain('Wrote 3 erasures')
    expect(await readFile(list, 'utf8')).not.toContain('ada')

    const [byList, byDatabase, byNothing] = [
      await newEmptyDatabase(),
      await newEmptyDatabase(),
      await newEmptyDatabase(),
    ]
    expect(await hourbank(byList, 'restore', backup, '--erasures', list)).toContain('Erased again: 1 member.')
    expect(await hourbankWith({ REPLACED_DATABASE_URL: town.url }, byDatabase, 'restore', backup)).toContain(
      'Erased again: 1 member.',
    )
    expect(await hourbank(byNothing, 'restore', backup)).toContain('are back')
    for (const url of [byList, byDatabase]) expect(await emails(url)).toEqual([null, 'ben@example.org', null])
    expect(await emails(byNothing)).toEqual(['ada@example.org', 'ben@example.org', null])

    const restored = open(byList)
    const erased = await restored<{ member_id: number }[]>`select member_id from erasures order by member_id`
    expect(erased.map(({ member_id }) => member_id)).toEqual([ada.id, early.id])
    const audit = await restored`select from audit_log where action = 'member.erased' and subject_id = ${ada.id}`
    expect(audit).toHaveLength(1)
    expect(ben.id).toBeGreaterThan(0)
  },
)

test('the list of another installation erases nobody', { timeout: TIMEOUT_MS }, async () => {
  const [town, other, folder] = [await startTown(), await startTown(), await newFolder()]
  const [backup, list] = [join(folder, 'town.backup'), join(folder, 'erasures.json')]
  const [ada, stranger] = [await town.add('ada'), await other.add('stranger')]
  expect(stranger.id).toBe(ada.id)
  await hourbank(town.url, 'backup', backup)
  await hourbank(other.url, 'members', 'erase', '--community', 'town', '--id', `${stranger.id}`, '--yes')
  await hourbank(other.url, 'erasures', 'export', list)
  const copy = await newEmptyDatabase()
  expect(await hourbank(copy, 'restore', backup, '--erasures', list)).toContain('Erased again: 0 members.')
  expect(await emails(copy)).toEqual(['ada@example.org'])
})

test('erasing asks first, and a file that is no list restores nothing', { timeout: TIMEOUT_MS }, async () => {
  const town = await startTown()
  const [folder, ada] = [await newFolder(), await town.add('ada')]
  const erase = ['members', 'erase', '--community', 'town', '--id']
  await expect(hourbank(town.url, ...erase, `${ada.id}`)).rejects.toThrow('add --yes')
  await expect(hourbank(town.url, ...erase, '999', '--yes')).rejects.toThrow('There is no member 999')
  await expect(hourbank(town.url, ...erase, 'ada', '--yes')).rejects.toThrow('--id must be the id of a member')
  expect(await emails(town.url)).toEqual(['ada@example.org'])

  const [backup, wrong] = [join(folder, 'town.backup'), join(folder, 'wrong.json')]
  await hourbank(town.url, 'backup', backup)
  await writeFile(wrong, '{"erasures": []}')
  const copy = await newEmptyDatabase()
  await expect(hourbank(copy, 'restore', backup, '--erasures', wrong)).rejects.toThrow('not a list of erasures')
  await expect(hourbank(copy, 'restore', backup, '--replacing', join(folder, 'nowhere'))).rejects.toThrow('no database')
  await expect(hourbank(town.url, 'erasures', 'export', wrong)).rejects.toThrow('already exists')
  expect(await open(copy)`select from pg_class where relname = 'members'`).toHaveLength(0)
})

test.each([
  { community_created_at: 'garbage', erased_at: '2026-01-31T12:00:00Z' },
  { community_created_at: '2026-01-31T12:00:00Z', erased_at: 'yesterday' },
  { community_created_at: '2026-02-30T12:00:00Z', erased_at: '2026-01-31T12:00:00Z' },
])('a list with an invalid time is rejected: %j', async (times) => {
  const list = join(await newFolder(), 'list.json')
  const erasures = [{ community: 'town', member_id: 1, ...times }]
  await writeFile(list, JSON.stringify({ format: 'hourbank-erasures', version: 1, erasures }))
  await expect(readErasureFile(list)).rejects.toThrow('is not a list of erasures')
})
