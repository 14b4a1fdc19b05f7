import { expect, test } from 'vitest'
import { backupCommands } from '../src/cli/backup.ts'
import { explain } from '../src/cli/explain.ts'
import { readConfig } from '../src/config.ts'
import { backup, fillMany, KEY, newFile, open, silent } from './backup-files.ts'
import { newDataDir } from './data-dir.ts'
import { newDatabase } from './database.ts'
import { mountDisk } from './small-disk.ts'

/** Room for a new database, but not for the rows. */
const DISK_BYTES = 118 * 1024 * 1024
const ROWS = 80_000

test('a restore that fills the disk of the embedded database says so', async ({ skip }) => {
  const disk = await mountDisk(DISK_BYTES)
  if (!disk) return skip('a disk of limited size can only be mounted by root')
  const sql = open(await newDatabase())
  await fillMany(sql, ROWS)
  const file = newFile()
  await backup(sql, file, silent)
  const config = { ...readConfig({}), dataDir: await newDataDir(disk), secretKey: KEY.text }
  const error = await backupCommands[1]!
    .run({ config, values: {}, positionals: [file] })
    .catch((reason: unknown) => reason)
  expect(explain(error)).toMatch(/^The disk is full\. Free space on it/)
})
