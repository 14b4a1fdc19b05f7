import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { backupCommands } from '../src/cli/backup.ts'
import { readConfig, type Config } from '../src/config.ts'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { checkSecretKey } from '../src/features/subscriptions/check-secret-key.ts'
import { leftBeside, newFile, open } from './backup-files.ts'
import { newDataDir } from './data-dir.ts'
import { newDatabase } from './database.ts'

const [KEY, OTHER] = ['k'.repeat(32), 'o'.repeat(32)]

/** A database with which a service started that had this key, and a data folder without one. */
async function start(served: boolean) {
  const url = await newDatabase()
  const sql = open(url)
  if (served) await checkSecretKey(sql, createSecretBox(KEY))
  const dataDir = await newDataDir()
  const run = async (file: string, config: Partial<Config> = {}, values: Record<string, string | boolean> = {}) => {
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      const whole = { ...readConfig({}), databaseUrl: url, dataDir, ...config }
      await backupCommands[0]!.run({ config: whole, values, positionals: [file] })
    } finally {
      written.mockRestore()
    }
  }
  return { sql, dataDir, run }
}

test('a backup is rejected without the key of the database, and creates none', async () => {
  const { sql, dataDir, run } = await start(true)
  const file = newFile()
  await expect(run(file, {}, { encrypt: true })).rejects.toThrow(
    `There is no secret-key in ${dataDir}, although this database was used with one.`,
  )
  expect(await readdir(dataDir)).toEqual([])
  expect(await leftBeside(file)).toEqual([])
  expect(await sql`select failed_at is not null as failed from operator_runs where kind = 'backup'`).toMatchObject([
    { failed: true },
  ])
  await writeFile(join(dataDir, 'secret-key'), KEY, { mode: 0o600 })
  await run(file, {}, { encrypt: true })
  expect(await leftBeside(file)).toEqual([file])
})

test('a backup is rejected with another key than that of the database', async () => {
  const { dataDir, run } = await start(true)
  const file = newFile()
  await expect(run(file, { secretKey: OTHER })).rejects.toThrow('SECRET_KEY is not the one of this database')
  expect(await leftBeside(file)).toEqual([])
  // The key is about to be changed.
  await run(file, { secretKey: OTHER, previousSecretKey: KEY })
  // With the key lost for good, there still has to be a way.
  await writeFile(join(dataDir, 'passphrase'), 'a long passphrase')
  await run(newFile(), { secretKey: OTHER }, { 'passphrase-file': join(dataDir, 'passphrase') })
})

test('a backup of a database that never served makes its key', async () => {
  const { dataDir, run } = await start(false)
  await run(newFile())
  expect(await readdir(dataDir)).toEqual(['secret-key'])
})
