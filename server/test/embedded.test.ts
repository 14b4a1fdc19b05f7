import { once } from 'node:events'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AlreadyRunning, openEmbedded } from '../src/postgres/embedded/embedded.ts'
import { query } from './data-dir.ts'
import { newDataDir, readPid } from './data-dir.ts'
import { isRoot, open, hold, newFolder, portOf, modeOf, isListening } from './embedded-servers.ts'

test('a database is made, stopped and opened again with its data', async () => {
  const dataDir = await newDataDir()
  const first = await open(dataDir, 'serve')
  await query(first.url, (sql) => sql`create table kept as select 'Zürich 🕰' as note`)
  await first.close()
  const second = await open(dataDir, 'serve')
  expect(await query(second.url, (sql) => sql`select note from kept`)).toEqual([{ note: 'Zürich 🕰' }])
})

test('it holds UTF-8, also where the environment names no language', async () => {
  const holder = await hold(await newDataDir(), 'serve', { env: {} })
  const [database] = await query(
    holder.url,
    (sql) => sql`
      select pg_encoding_to_char(encoding) as encoding, upper('ö') as upper, current_setting('server_encoding') as server
      from pg_database where datname = current_database()`,
  )
  expect(database).toEqual({ encoding: 'UTF8', upper: 'Ö', server: 'UTF8' })
})

test('it listens on loopback only, without a socket file, and keeps its files to itself', async () => {
  const dataDir = await newDataDir(await newFolder(0o711), { make: false })
  const database = await open(dataDir, 'serve')
  const [settings] = await query(
    database.url,
    (sql) => sql`
      select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets`,
  )
  expect(settings).toEqual({ addresses: '127.0.0.1', sockets: '' })
  const cluster = await realpath(join(dataDir, 'postgres'))
  expect(await modeOf(dataDir)).toBe(isRoot ? '711' : '700')
  expect(await modeOf(cluster)).toBe('700')
  expect(await modeOf(join(cluster, 'password'))).toBe('600')
  expect(await modeOf(join(cluster, 'log'))).toBe('600')
})

test('first starts at once, in one process and in several, share one server', async () => {
  const dataDir = await newDataDir()
  const all = await Promise.all([
    open(dataDir, 'serve'),
    open(dataDir, 'command'),
    hold(dataDir, 'command'),
    hold(dataDir, 'command'),
  ])
  expect(new Set(all.map(({ url }) => url)).size).toBe(1)
  expect(await readdir(dataDir)).toEqual(['postgres'])
})

test('a second server is rejected with the reason, while commands work beside the first', async () => {
  const dataDir = await newDataDir()
  const serving = await hold(dataDir, 'serve')
  const refusal = await openEmbedded(dataDir, 'serve').catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(AlreadyRunning)
  expect((refusal as Error).message).toMatch(`process ${serving.pid}`)
  expect((refusal as Error).message).toMatch('stop it first')
  const command = await open(dataDir, 'command')
  expect(await query(command.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  await command.close()
  expect(await query(serving.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
})

test('the last process to close stops the server, even if another one started it', async () => {
  const dataDir = await newDataDir()
  const started = await open(dataDir, 'command')
  const joined = await hold(dataDir, 'serve')
  const port = portOf(started)
  await started.close()
  expect(await isListening(port)).toBe(true)
  await joined.close()
  expect(await isListening(port)).toBe(false)
  expect(await readPid(dataDir)).toBeUndefined()
})

test('any number of commands come and go at once without breaking each other', async () => {
  const dataDir = await newDataDir()
  const comeAndGo = async () => {
    for (let round = 0; round < 10; round++) {
      const database = await openEmbedded(dataDir, 'command')
      await query(database.url, (sql) => sql`select 1`)
      await database.close()
    }
  }
  await Promise.all([comeAndGo(), comeAndGo(), comeAndGo()])
  expect(await readPid(dataDir)).toBeUndefined()
})

test('the server of a killed process is taken over by the next', async () => {
  const dataDir = await newDataDir()
  const killed = await hold(dataDir, 'serve')
  await killed.end('SIGKILL')
  const pid = await readPid(dataDir)
  expect(pid).toBeGreaterThan(0)
  const next = await open(dataDir, 'serve')
  expect(next.url).toBe(killed.url)
  expect(await readPid(dataDir)).toBe(pid)
  await next.close()
  expect(await readPid(dataDir)).toBeUndefined()
})

test('Ctrl-C in the terminal does not reach the server', async () => {
  const dataDir = await newDataDir()
  const holder = await hold(dataDir, 'serve', { detached: true })
  const ended = once(holder.process, 'exit')
  process.kill(-holder.pid, 'SIGINT') // what a terminal sends: to every process of the group
  await ended
  expect(await isListening(portOf(holder))).toBe(true)
})
