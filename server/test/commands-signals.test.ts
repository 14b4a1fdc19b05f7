import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { open, newFile } from './backup-files.ts'
import { run, start } from './commands.ts'
import { isServerRunning, newDataDir } from './data-dir.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'

test('a signal stops a command, which leaves neither a partial file nor a running database', async () => {
  const dataDir = await newDataDir()
  const file = newFile()
  for (const args of [['migrate'], ['community', 'create', '--slug', 'town', '--name', 'Town']])
    expect(await run(args, { DATA_DIR: dataDir })).toMatchObject({ code: 0 })
  for (const [table, signal, ...args] of [
    ['transfers', 'SIGINT', 'transfers', 'export', file, '--community', 'town'],
    ['members', 'SIGTERM', 'demo', '--members', '10'],
    ['transfers', 'SIGHUP', 'ledger', 'verify'],
  ] as const) {
    const database = await openEmbedded(dataDir, 'command')
    const sql = open(database.url)
    const held = await openTransaction(sql)
    await held.tx.unsafe(`lock table ${table} in access exclusive mode`)
    const command = start([...args], { DATA_DIR: dataDir })
    await someoneWaits(sql)
    // From here on, only the command keeps the database running.
    await database.close()
    // npm repeats Ctrl-C.
    for (let times = 0; times < 2; times += 1) command.kill(signal)
    const name = `${signal} during ${args[0]}`
    expect(await command.outcome, name).toMatchObject({ code: 1, stderr: expect.stringMatching(/(^|\n)Stopped\.\n$/) })
    expect(await isServerRunning(dataDir), name).toBe(false)
    expect(
      (await readdir(dirname(file))).filter((one) => one.includes('.partial-')),
      name,
    ).toEqual([])
  }
})
