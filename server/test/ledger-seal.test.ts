import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ledgerCommands } from '../src/cli/ledger.ts'
import { readConfig } from '../src/config.ts'
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

/** Runs a command in this process; returns what it printed and how it failed. */
async function run(url: string, name: string, values: Record<string, string | boolean>) {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const config = { ...readConfig({}), databaseUrl: url }
    const command = ledgerCommands.find((one) => one.name === name)!
    const failed = await command.run({ config, values, positionals: [] }).catch((error: Error) => error)
    const printed = written.mock.calls.map(([text]) => String(text)).join('')
    return { failed: failed as Error | undefined, printed, json: () => JSON.parse(printed) }
  } finally {
    written.mockRestore()
  }
}

async function start() {
  const url = await newDatabase()
  const sql = open(url)
  const books = await keepBooks(sql)
  const seal = async (): Promise<SealedHead[]> => (await run(url, 'ledger seal', { json: true })).json().seals
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
  const { printed } = await run(url, 'ledger seal', { community: books.slug })
  expect(printed).toContain(`${books.slug}: position 14, transfer ${head.transfer_id}, SHA-256 ${head.hash}, `)

  await move(sql, books)
  const file = await writeSeals({ seals })
  const verified = await run(url, 'ledger verify', { seal: file })
  expect(verified.failed).toBeUndefined()
  expect(verified.printed).toBe(
    `${books.slug}: 6 accounts, 15 transfers, no differences.\n  1 transfer is not chained yet.\n`,
  )
  await chainLedger(sql, books.id)
  expect(await verifyLedger(sql, books.id, undefined, [...seals, ...(await seal())])).toMatchObject({
    chained: 15,
    differences: [],
  })
})

test('a community without transfers has a seal, which stays right', async () => {
  const bank = await startBank()
  const [seal] = (await run(bank.databaseUrl, 'ledger seal', { json: true })).json().seals
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
  const { failed, json } = await run(url, 'ledger verify', { seal: await writeSeals({ seals }), json: true })
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
  const { failed, printed } = await run(url, 'ledger verify', { seal: file })
  expect(failed!.message).toContain('atlantis')
  expect(printed).toContain('It was sealed at position 14')
})

test.each([
  ['no JSON', 'position 14'],
  ['no seals', {}],
  ['a hash that is none', { seals: [{ community: 'a', position: 1, transfer_id: 1, hash: 'x', sealed_at: '' }] }],
])('a file with %s is refused', async (_what, content) => {
  const url = await newDatabase()
  const { failed } = await run(url, 'ledger verify', { seal: await writeSeals(content) })
  expect(failed!.message).toMatch(/has no seals\. Create one with/)
  const missing = await run(url, 'ledger verify', { seal: join(tmpdir(), 'nowhere.json') })
  expect(missing.failed!.message).toMatch(/nowhere\.json cannot be read/)
})
