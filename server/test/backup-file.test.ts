import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isOutage } from '../src/postgres/connect.ts'
import { openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { lockMigrations, migrationNames } from '../src/postgres/migrate.ts'
import { eventually } from './bank.ts'
import { isCluster } from './citus-nodes.ts'
import { run, start as startCommand } from './commands.ts'
import { isServerRunning, newDataDir } from './data-dir.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'
import { volume } from './volume.ts'
import {
  backup,
  restore,
  silent,
  folder,
  open,
  newFile,
  linesOf,
  restored,
  leftBeside,
  endTransactions,
  fillMany,
} from './backup-files.ts'

test('SIGTERM, SIGHUP and SIGINT stop a backup and a restore, and leave neither a file nor a running database', async () => {
  const [source, target, good] = [await newDataDir(), await newDataDir(), newFile()]
  for (const args of [['migrate'], ['backup', good]])
    expect(await run(args, { DATA_DIR: source })).toMatchObject({ code: 0 })
  const stopped = newFile()
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
    for (const [dataDir, ...args] of [
      [source, 'backup', stopped],
      [target, 'restore', good],
    ] as const) {
      const database = await openEmbedded(dataDir, 'command')
      const sql = open(database.url)
      const held = await openTransaction(sql)
      if (dataDir === source) await held.tx`lock table listings in access exclusive mode`
      else await lockMigrations(held.tx)
      const command = startCommand([...args], { DATA_DIR: dataDir })
      await someoneWaits(sql)
      // From here on, only the command keeps the database running.
      await database.close()
      // npm repeats Ctrl-C.
      for (let times = 0; times < 2; times += 1) command.kill(signal)
      const name = `${signal} during ${args[0]}`
      expect(await command.outcome, name).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^(Restoring .*\n)?Stopped\.\n$/),
      })
      expect(await isServerRunning(dataDir), name).toBe(false)
      expect(await leftBeside(stopped), name).toEqual([])
    }
  }
})

describe('the file', () => {
  test('is readable by its owner only, and never overwrites another unless asked', async () => {
    const sql = open(await newDatabase())
    const file = newFile()
    await backup(sql, file, silent)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const before = await readFile(file)
    await expect(backup(sql, file, silent)).rejects.toThrow(/already exists/)
    expect(await readFile(file)).toEqual(before)
    await backup(sql, file, silent, { overwrite: true, appVersion: 'second' })
    expect((await linesOf(file))[0]).toContain('"app_version":"second"')
    expect(await leftBeside(file)).toEqual([file])
  })

  test('two backups under one name: one is made, the other refused', async () => {
    const sql = open(await newDatabase())
    const file = newFile()
    const results = await Promise.allSettled([backup(sql, file, silent), backup(sql, file, silent)])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await leftBeside(file)).toEqual([file])
    await restored(file)
  })

  test('is not made from an empty database, nor in a folder that is not there', async () => {
    const file = newFile()
    await expect(backup(open(await newEmptyDatabase()), file, silent)).rejects.toThrow(/no Hourbank tables/)
    expect(await leftBeside(file)).toEqual([])
    const astray = join(folder, 'none', 'file')
    await expect(backup(open(await newDatabase()), astray, silent)).rejects.toThrow(`${astray} cannot be written: `)
  })

  test.for([1, 4])(
    'a backup given up half-way leaves no file and a working pool of %d',
    async (connectionsMax, { skip }) => {
      skip(isCluster() && connectionsMax === 1, 'On Citus a backup needs a second connection, which holds writers.')
      const sql = open(await newDatabase(), connectionsMax)
      await fillMany(sql, volume(50_000))
      const file = newFile()
      const giveUp = new AbortController()
      const attempt = backup(sql, file, ({ done }) => done > volume(10_000) && giveUp.abort(), {
        signal: giveUp.signal,
      })
      await expect(attempt).rejects.toThrow(/abort/i)
      expect(await leftBeside(file)).toEqual([])
      const working = range(8).map(() => sql`select count(*) from members`)
      expect(await Promise.all(working)).toHaveLength(8)
      // The server notices a moment later that a connection is closed.
      await eventually(async () => {
        const left = await sql`
        select from pg_stat_activity where state like 'idle in%' and datname = current_database()`
        return left.length === 0
      })
      await backup(sql, file, silent)
    },
  )

  test('a backup whose connection is lost leaves no file', async () => {
    const databaseUrl = await newDatabase()
    const sql = open(databaseUrl)
    await fillMany(sql, volume(20_000))
    const file = newFile()
    let isCut = false
    const attempt = backup(sql, file, ({ done }) => {
      if (done <= 500 || isCut) return
      isCut = true
      endTransactions(databaseUrl)
    })
    await expect(attempt).rejects.toSatisfy(isOutage)
    expect(await leftBeside(file)).toEqual([])
    await backup(sql, file, silent)
  })
})

function range(length: number): number[] {
  return [...Array(length).keys()]
}

describe('memory', () => {
  /** The rows are twice as much, so that holding them would show. */
  const GROWTH_BYTES_MAX = 80 * 1024 * 1024
  const ROWS = volume(300_000)
  /** Fewer rows are longer ones: the bytes are always the same. */
  const TEXT_LENGTH = 384 * (300_000 / ROWS)

  test(`stays flat over ${ROWS} rows, there and back`, async () => {
    const source = open(await newDatabase(), 2)
    await fillMany(source, 2_000)
    await backup(source, newFile(), silent) // what is loaded and compiled once does not count
    await source`truncate communities cascade`
    await source`select setval(pg_get_serial_sequence('communities', 'id'), 1, false)`
    await fillMany(source, ROWS, TEXT_LENGTH)

    const start = process.memoryUsage()
    let growth = 0
    const measure = () => {
      const now = process.memoryUsage()
      growth = Math.max(growth, now.rss - start.rss, now.heapUsed + now.external - start.heapUsed - start.external)
    }
    const file = newFile()
    const { rows } = await backup(source, file, measure)
    expect(rows).toBeGreaterThan(ROWS)
    const backupGrowth = growth
    growth = 0
    await restore(open(await newEmptyDatabase(), 1), file, measure)
    expect(backupGrowth).toBeLessThan(GROWTH_BYTES_MAX)
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX)
  })
})

test('migrations have the names a backup lists', async () => {
  const source = open(await newDatabase())
  const file = newFile()
  await backup(source, file, silent)
  expect(JSON.parse((await linesOf(file))[0]!).migrations).toEqual(await migrationNames())
})
