import { spawn } from 'node:child_process'
import { appendFile, chown, mkdir, readdir, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AlreadyRunning, openEmbedded, type EmbeddedDatabase } from '../src/postgres/embedded/embedded.ts'
import { query } from './data-dir.ts'
import { newDataDir, readPid } from './data-dir.ts'
import { open, portOf, isListening, until } from './embedded-servers.ts'

test('a killed server recovers with its data at the next start', async () => {
  const dataDir = await newDataDir()
  const first = await open(dataDir, 'serve')
  await query(first.url, (sql) => sql`create table kept as select 7 as hours`)
  process.kill((await readPid(dataDir))!, 'SIGKILL')
  await until(async () => !(await isListening(portOf(first))))
  await first.close()
  const second = await open(dataDir, 'serve')
  expect(await query(second.url, (sql) => sql`select hours from kept`)).toEqual([{ hours: 7 }])
})

test('locks are taken again when the server restarted its sessions, so that a command does not stop it', async () => {
  const dataDir = await newDataDir()
  const serving = await open(dataDir, 'serve')
  const [before] = await locks(serving)
  process.kill(before!.pid, 'SIGKILL')
  await until(async () => {
    const now = await locks(serving).catch(() => [])
    return now.length === 2 && now[0]!.pid !== before!.pid
  })
  const command = await open(dataDir, 'command')
  await command.close()
  expect(await isListening(portOf(serving))).toBe(true)
  await expect(openEmbedded(dataDir, 'serve')).rejects.toBeInstanceOf(AlreadyRunning)
  await serving.close()
  expect(await readPid(dataDir)).toBeUndefined()
})

test('after a power cut it starts, though the recorded process id is now somebody else’s or was not written', async () => {
  const dataDir = await newDataDir()
  await (await open(dataDir, 'command')).close()
  const cluster = await realpath(join(dataDir, 'postgres'))
  const { uid, gid } = await stat(cluster)
  const pidFile = join(cluster, 'data', 'postmaster.pid')
  const stranger = spawn('sleep', ['1000'], { uid, gid })
  onTestFinished(() => void stranger.kill())
  for (const text of [`${stranger.pid}\n${cluster}/data\n1700000000\n5432\n\n127.0.0.1\n`, '']) {
    await writeFile(pidFile, text)
    await chown(pidFile, uid, gid)
    await utimes(pidFile, 1_700_000_000, 1_700_000_000)
    const database = await open(dataDir, 'command')
    expect(await query(database.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    await database.close()
  }
})

test('half-made databases are never used, and cleared away after an hour', async () => {
  const dataDir = await newDataDir()
  const [old, young] = ['postgres.new-00000000000000aa', 'postgres.new-00000000000000bb'] as const
  for (const name of [old, young]) await mkdir(join(dataDir, name, 'data'), { recursive: true })
  const twoHoursAgo = Date.now() / 1000 - 7200
  await utimes(join(dataDir, old), twoHoursAgo, twoHoursAgo)
  await open(dataDir, 'command')
  expect((await readdir(dataDir)).toSorted()).toEqual(['postgres', young])
})

test.each([
  ['relative', () => relative(process.cwd(), tmpdir())],
  ['with spaces, quotes and a dollar', () => join(tmpdir(), `hour's "bank" $HOME \`id\``)],
  ['longer than PostgreSQL takes', () => join(tmpdir(), ...Array<string>(7).fill('long-'.repeat(40)))],
])('the data folder may have a name that is %s', async (_kind, parent) => {
  const folder = parent()
  await mkdir(folder, { recursive: true })
  if (folder.startsWith(tmpdir())) {
    onTestFinished(() => rm(join(tmpdir(), relative(tmpdir(), folder).split('/')[0]!), { recursive: true }))
  }
  const dataDir = await newDataDir(folder)
  const first = await open(dataDir, 'serve')
  await query(first.url, (sql) => sql`create table kept as select 7 as hours`)
  await first.close()
  const second = await open(dataDir, 'serve')
  expect(await query(second.url, (sql) => sql`select hours from kept`)).toEqual([{ hours: 7 }])
})

test('a start that fails says what the server said, and what else can be done', async () => {
  const dataDir = await newDataDir()
  await (await open(dataDir, 'command')).close()
  await appendFile(join(dataDir, 'postgres', 'data', 'postgresql.conf'), '\nno_such_setting = 1\n')
  const failure = (await openEmbedded(dataDir, 'serve').catch((error: unknown) => error)) as Error
  expect(failure.message).toMatch('unrecognized configuration parameter "no_such_setting"')
  expect(failure.message).toMatch(join('postgres', 'log'))
  expect(failure.message).toMatch('DATABASE_URL')
})

test('a folder that is no database is left alone', async () => {
  const dataDir = await newDataDir()
  await mkdir(join(dataDir, 'postgres'))
  await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine')
  await expect(openEmbedded(dataDir, 'serve')).rejects.toThrow('Move it away')
  expect(await readdir(dataDir)).toEqual(['postgres'])
  expect(await readdir(join(dataDir, 'postgres'))).toEqual(['notes.txt'])
})

const locks = (database: EmbeddedDatabase) =>
  query(database.url, (sql) => sql<{ pid: number }[]>`select pid from pg_locks where locktype = 'advisory' and granted`)
