import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { loadSecretKey } from '../src/crypto/secret-key.ts'
import { ensureDataDir } from '../src/postgres/embedded/place.ts'

const REPO = fileURLToPath(new URL('../../', import.meta.url))
/** Under root, the user of the database has to pass through. */
const CLOSED = process.getuid?.() === 0 ? 0o711 : 0o700

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-modes-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('a data folder is closed to other users, no matter who made it and with which mode', async () => {
  for (const mode of [undefined, 0o777, 0o755, 0o711]) {
    const dataDir = join(await newFolder(), 'data')
    if (mode !== undefined) {
      await mkdir(dataDir)
      await chmod(dataDir, mode)
    }
    await ensureDataDir(dataDir)
    expect(await modeOf(dataDir)).toBe(CLOSED)
  }
  const private700 = await newFolder()
  await ensureDataDir(private700)
  expect(await modeOf(private700)).toBe(0o700)
})

test('a folder that everybody may write to is no data folder', async () => {
  const shared = await newFolder()
  await chmod(shared, 0o1777)
  await expect(ensureDataDir(shared)).rejects.toThrow('Set DATA_DIR to a folder of its own')
  expect(await modeOf(shared)).toBe(0o777)
})

test('a key that an operator moved into place is closed to other users', async () => {
  const dataDir = await newFolder()
  const file = join(dataDir, 'secret-key')
  await writeFile(file, `${'k'.repeat(64)}\n`)
  await chmod(file, 0o644)
  expect(await loadSecretKey(readConfig({ DATA_DIR: dataDir }))).toBe('k'.repeat(64))
  expect(await modeOf(file)).toBe(0o600)
})

test('git and Docker ignore keys and backups wherever the guide puts them', async () => {
  const names = [
    '.data/secret-key',
    'secret-key',
    'new-key',
    'hourbank.backup',
    'backups/before-migration.hourbank-backup',
    '.env',
    'restored/secret-key',
    'erasures.txt',
  ]
  const { stdout } = await promisify(execFile)('git', ['check-ignore', '--no-index', ...names], { cwd: REPO })
  expect(stdout.trim().split('\n')).toEqual(names)
})
