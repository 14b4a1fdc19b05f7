import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { findHead } from '../src/features/ledger/queries.ts'
import type { SealedHead } from '../src/features/ledger/seal.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import type { Sql } from '../src/postgres/connect.ts'
import { startBank, TESTER } from './bank.ts'
import { backup, newFile, open, restored, silent } from './backup-files.ts'
import { keepBooks, tamper } from './books.ts'
import { newDatabase } from './database.ts'
import { runLedger } from './ledger-command.ts'

async function start() {
  const url = await newDatabase()
  const sql = open(url)
  const books = await keepBooks(sql)
  const seal = async (): Promise<SealedHead[]> => (await runLedger(url, 'seal', { json: true })).json().seals
  return { url, sql, books, seal }
}

async function writeSeals(content: unknown): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'seal-')), 'seals.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const move = (sql: Sql, { id, members }: { id: number; members: number[] }) =>
  adjustBalance(sql, TESTER, id, { memberId: members[0]!, centihours: 1, reason: 'later' })

test('a seal is the end of the chain, and stays right while transfers are added', async () => {
  const { url, sql, books, seal } = await start()
  const seals = await seal()
  const head = (await findHead(sql, books.id))!
  expect(seals).toEqual([
    {
      community: books.slug,
      position: 14,
      transfer_id: head.transfer_id,
      hash: head.hash,
      sealed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
  ])
  const { printed } = await runLedger(url, 'seal', { community: books.slug })
  expect(printed).toContain(`${books.slug}: position 14, transfer ${head.transfer_id}, SHA-256 ${head.hash}, `)

  await move(sql, books)
  const file = await writeSeals({ seals })
  const verified = await runLedger(url, 'verify', { seal: file })
  expect(verified.failed).toBeUndefined()
  expect(verified.printed).toBe(
    `${books.slug}: 6 accounts, 15 transfers, no differences.\n  1 transfer is not chained yet.\n` +
      `  Compared with 1 seal, at position 14 of ${seals[0]!.sealed_at}.\n`,
  )
  await chainLedger(sql, books.id)
  expect(await verifyLedger(sql, books.id, undefined, [...seals, ...(await seal())])).toMatchObject({
    chained: 15,
    differences: [],
  })
})

test('ledger verify says how many seals it compared, and refuses a file without any for the community', async () => {
  const { url, sql, books, seal } = await start()
  const other = await keepBooks(sql)
  const [first] = await seal()
  await move(sql, books)
  const newer = (await seal()).find(({ community }) => community === books.slug)!
  const file = await writeSeals({ seals: [newer, first] })
  const verified = await runLedger(url, 'verify', { seal: file })
  expect(verified.failed).toBeUndefined()
  expect(verified.printed).toContain(`  Compared with 2 seals, the newest at position 15 of ${newer.sealed_at}.\n`)
  expect(verified.printed).toContain(
    `${other.slug}: 6 accounts, 14 transfers, no differences.\n  Compared with no seal.\n`,
  )
  expect((await runLedger(url, 'verify', { seal: file, json: true })).json().communities).toMatchObject([
    { slug: books.slug, seals: 2 },
    { slug: other.slug, seals: 0 },
  ])
  expect((await runLedger(url, 'verify', {})).printed).not.toContain('seal')

  expect((await runLedger(url, 'verify', { seal: file, community: other.slug })).failed!.message).toBe(
    `${file} has no seal of ${other.slug}, so nothing would be compared.`,
  )
  const misspelt = await writeSeals({ seals: [{ ...newer, community: 'Town' }] })
  expect((await runLedger(url, 'verify', { seal: misspelt, community: books.slug })).failed!.message).toContain(
    'no seal of',
  )
})

test('the position and hash on a printed statement are compared', async () => {
  const { url, sql, books, seal } = await start()
  const [{ position, hash }] = (await seal()) as [SealedHead]
  const community = books.slug
  const paper = `${position}:${hash.toUpperCase()}`
  const verified = await runLedger(url, 'verify', { seal: paper, community })
  expect(verified.failed).toBeUndefined()
  expect(verified.printed).toContain('  Compared with 1 seal, at position 14.\n')
  const verifyAnother = async (text: string) =>
    (await runLedger(url, 'verify', { seal: text, community, json: true })).json().communities[0].differences
  expect(await verifyAnother(`13:${hash}`)).toMatchObject([
    { position: 13, message: expect.stringContaining('has another hash than the seal: the ledger up to there') },
  ])
  expect(await verifyAnother(`99:${hash}`)).toEqual([
    {
      check: 'hashes',
      position: 99,
      message: expect.stringContaining(
        'ends at position 14, but the seal is for position 99: sealed transfers are missing',
      ),
    },
  ])
  expect((await runLedger(url, 'verify', { seal: paper })).failed!.message).toMatch(
    /Name the community with --community/,
  )
  expect(await chainLedger(sql, books.id)).toBe(0)
})

test('a community without transfers has a seal, which stays right', async () => {
  const bank = await startBank()
  const [seal] = (await runLedger(bank.databaseUrl, 'seal', { json: true })).json().seals
  expect(seal).toMatchObject({ community: 'town', position: 0, transfer_id: 0, hash: '0'.repeat(64) })
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await move(bank.sql, { id: bank.communityId, members: [id] })
  await chainLedger(bank.sql, bank.communityId)
  expect(await verifyLedger(bank.sql, bank.communityId, undefined, [seal])).toMatchObject({ differences: [] })
})

test('history that was written again, with its chain, is found by a seal only', async () => {
  const { url, sql, books, seal } = await start()
  const seals = await seal()
  await tamper(sql, async (tx) => {
    await tx`update transfers set made_by_id = 1 where community_id = ${books.id} and id = ${books.exchange}`
    await tx`delete from ledger_links where community_id = ${books.id}`
    await tx`delete from ledger_heads where community_id = ${books.id}`
  })
  expect(await chainLedger(sql, books.id)).toBe(14)
  expect(await verifyLedger(sql, books.id)).toMatchObject({ chained: 14, differences: [] })
  const { failed, json } = await runLedger(url, 'verify', { seal: await writeSeals({ seals }), json: true })
  expect(failed).toMatchObject({ message: `The books are wrong in ${books.slug}.` })
  expect(json().communities[0].differences).toEqual([
    {
      check: 'hashes',
      message: expect.stringContaining(`has another hash than the seal of ${seals[0]!.sealed_at}`),
      transfer_id: seals[0]!.transfer_id,
      position: 14,
    },
  ])
})

test('a backup carries the chain, and a restore of an older one is found by a newer seal, for good', async () => {
  const { sql, books, seal } = await start()
  const [first] = await seal()
  const file = newFile()
  await backup(sql, file, silent)
  for (let n = 0; n < 2; n += 1) await move(sql, books)
  const [newer] = await seal()
  expect(newer!.position).toBe(16)

  const older = await restored(file)
  expect(await findHead(older, books.id)).toMatchObject({ position: 14, hash: first!.hash })
  expect(await verifyLedger(older, books.id, undefined, [first!])).toMatchObject({ chained: 14, differences: [] })
  const lost = { check: 'hashes', transfer_id: newer!.transfer_id, position: 16 }
  expect((await verifyLedger(older, books.id, undefined, [newer!])).differences).toEqual([
    {
      ...lost,
      message: expect.stringMatching(/ends at position 14, .* missing, as after a restore of an older backup/),
    },
  ])
  // As many transfers as were lost do not hide it.
  for (let n = 0; n < 3; n += 1) await move(older, books)
  expect(await chainLedger(older, books.id)).toBe(3)
  expect(await verifyLedger(older, books.id)).toMatchObject({ chained: 17, differences: [] })
  expect((await verifyLedger(older, books.id, undefined, [newer!])).differences).toMatchObject([
    { position: 16, message: expect.stringContaining('another hash') },
  ])
})

test('a sealed position inside a gap, and a sealed community that is gone, are reported', async () => {
  const { url, sql, books, seal } = await start()
  const [sealed] = await seal()
  await move(sql, books)
  await chainLedger(sql, books.id)
  await tamper(
    sql,
    (tx) => tx`delete from ledger_links where community_id = ${books.id} and transfer_id = ${sealed!.transfer_id}`,
  )
  const { differences } = await verifyLedger(sql, books.id, undefined, [sealed!])
  expect(differences.map(({ message }) => message)).toContainEqual(expect.stringContaining('has no position 14'))

  const file = await writeSeals({ seals: [{ ...sealed!, community: 'atlantis' }] })
  const { failed, printed } = await runLedger(url, 'verify', { seal: file })
  expect(failed!.message).toContain('atlantis')
  expect(printed).toContain('It was sealed at position 14')
})

test.each([
  ['no JSON', 'position 14'],
  ['no seals', {}],
  ['an empty list', { seals: [] }],
  ['a hash that is none', { seals: [{ community: 'a', position: 1, transfer_id: 1, hash: 'x', sealed_at: '' }] }],
])('a file with %s is refused', async (_what, content) => {
  const url = await newDatabase()
  const { failed } = await runLedger(url, 'verify', { seal: await writeSeals(content) })
  expect(failed!.message).toMatch(/has no seals\. Create one with/)
  const missing = await runLedger(url, 'verify', { seal: join(tmpdir(), 'nowhere.json') })
  expect(missing.failed!.message).toMatch(/nowhere\.json cannot be read/)
})
