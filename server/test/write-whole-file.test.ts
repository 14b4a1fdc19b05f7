import { existsSync } from 'node:fs'
import { mkdtemp, open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { explain } from '../src/cli/explain.ts'
import { Refusal } from '../src/core/refusal.ts'
import { writeCsvFile } from '../src/csv/write-file.ts'
import { writeErasureFile, type Erasure } from '../src/features/members/erasure-list.ts'
import { backup, fillMany, KEY, open as openDatabase, silent } from './backup-files.ts'
import { newDatabase } from './database.ts'
import { mountDisk } from './small-disk.ts'

const SMALL_DISK_BYTES = 64 * 1024
const ERASURES = 2_000
const ROWS = 2_000

const newFolder = () => mkdtemp(join(tmpdir(), 'hourbank-files-'))

const erasures = Array.from({ length: ERASURES }, (_, index): Erasure => {
  const [community_created_at, erased_at] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z']
  return { community: 'town', community_created_at, member_id: index + 1, erased_at }
})

async function* lines(): AsyncGenerator<string> {
  for (let line = 0; line < ROWS; line++) yield `${'x'.repeat(100)}\n`
}

async function* failing(): AsyncGenerator<string> {
  yield 'row\n'
  throw new Error('the database is away')
}

/** Every kind of file that a command writes where the user says. */
const WRITERS = [
  ['a list of erasures', (file: string) => writeErasureFile(file, erasures)],
  ['a CSV file', (file: string) => writeCsvFile(file, lines())],
  [
    'a backup',
    async (file: string) => {
      const sql = openDatabase(await newDatabase())
      await fillMany(sql, ROWS)
      await backup(sql, file, silent, { key: KEY })
    },
  ],
] as const

test.for(WRITERS)('on a full disk, %s leaves nothing behind, and the message names it', async ([, write], { skip }) => {
  const disk = await mountDisk(SMALL_DISK_BYTES)
  if (!disk) return skip('a disk of limited size can only be mounted by root')
  const file = join(disk, 'file')
  const error = await write(file).catch((reason: unknown) => reason)
  expect(explain(error)).toBe(`${file} cannot be written: ENOSPC: no space left on device, write`)
  expect(await readdir(disk)).toEqual([])
})

test.for(WRITERS)('%s is on the disk before it has its name, complete and for its owner only', async ([, write]) => {
  const folder = await newFolder()
  const file = join(folder, 'file')
  const probe = await open(join(await newFolder(), 'probe'), 'w')
  const handles = Object.getPrototypeOf(probe) as { sync(): Promise<void> }
  await probe.close()
  const { sync } = handles
  const had = vi.fn<(isNamed: boolean) => void>()
  handles.sync = async function (this: unknown) {
    had(existsSync(file))
    await sync.call(this)
  }
  onTestFinished(() => void (handles.sync = sync))
  await write(file)
  // The file, and then its folder.
  expect(had.mock.calls.flat()).toEqual([false, true])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder)).toEqual(['file'])
})

test.for(WRITERS)('%s does not replace a file, not even one that appears meanwhile', async ([, write]) => {
  const file = join(await newFolder(), 'file')
  const results = await Promise.allSettled([write(file), write(file)])
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const text = await readFile(file)
  await expect(write(file)).rejects.toThrow(Refusal)
  await expect(write(file)).rejects.toThrow(`${file} already exists. Choose another name`)
  expect(await readFile(file)).toEqual(text)
})

test('a CSV file whose rows cannot be read leaves nothing behind, and keeps what it was to replace', async () => {
  const folder = await newFolder()
  const file = join(folder, 'file')
  await writeFile(file, 'before')
  await expect(writeCsvFile(file, failing(), { overwrite: true })).rejects.toThrow('the database is away')
  expect(await readdir(folder)).toEqual(['file'])
  expect(await readFile(file, 'utf8')).toBe('before')
  await writeCsvFile(file, lines(), { overwrite: true, byteOrderMark: true })
  expect(await readFile(file, 'utf8')).toMatch(/^\uFEFFx/)
})
