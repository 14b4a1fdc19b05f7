// Builds Citus from a source tree, and starts a coordinator with workers for tests and benchmarks.
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Failure, root, run, say } from './run.mjs'
import { requirePrograms } from './system-packages.mjs'

const PROGRAMS = '/usr/lib/postgresql/15/bin'
const CONTROL_FILE = '/usr/share/postgresql/15/extension/citus.control'
const BUILD = join(root, 'dist', 'citus')
const USER = 'postgres'
const START_TRIES_MAX = 600
const START_INTERVAL_MS = 100

/** Nothing has to survive the run. Every test has a database of its own, with a background process of Citus each. */
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
wal_level = logical
max_prepared_transactions = 400
max_connections = 400
max_worker_processes = 200
max_locks_per_transaction = 1024
max_replication_slots = 50
max_wal_senders = 50
shared_buffers = '256MB'
`
const CITUS_SETTINGS = `
shared_preload_libraries = 'citus'
citus.enable_statistics_collection = off
citus.node_conninfo = 'sslmode=disable'
`
const FAST_SETTINGS = `
fsync = off
synchronous_commit = off
full_page_writes = off
checkpoint_timeout = '1h'
max_wal_size = '8GB'
`

/** Does nothing if Citus is installed already. */
export async function installCitus(source) {
  await requirePrograms(['pg_basebackup', 'postgresql-server-dev'])
  if (existsSync(CONTROL_FILE)) return
  say(`Building Citus from ${source} …`)
  rmSync(BUILD, { recursive: true, force: true })
  cpSync(source, BUILD, { recursive: true })
  // PostgreSQL 15.20 and later declare a function of this name themselves.
  const header = join(BUILD, 'src', 'include', 'pg_version_compat.h')
  const text = readFileSync(header, 'utf8')
  writeFileSync(header, text.replaceAll('have_createdb_privilege(void)', 'citus_have_createdb_privilege(void)'))
  await build('./configure', [`PG_CONFIG=${PROGRAMS}/pg_config`])
  // Code for just-in-time compilation would take as long again.
  await build('make', ['-j2', 'with_llvm=no'])
  await build('make', ['install', 'with_llvm=no'])
}

async function build(command, args) {
  const code = await run(command, args, { cwd: BUILD })
  if (code !== 0) throw new Failure(`Citus could not be built: ${command} ${args.join(' ')} ended with ${code}.`)
}

/**
 * Starts a coordinator and workers on this machine; without workers, a PostgreSQL without Citus. Returns the address of the
 * coordinator's database `postgres`, where its nodes are registered, and `stop`.
 */
export async function startCluster({ workers = 2, isDurable = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hourbank-citus-'))
  const owner = unprivileged()
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  const servers = []
  const stop = async () => {
    await Promise.all(servers.map(stopServer))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const settings = [SETTINGS, workers > 0 ? CITUS_SETTINGS : '', isDurable ? '' : FAST_SETTINGS].join('')
  try {
    for (let n = 0; n <= workers; n++) servers.push(await startServer(join(folder, `${n}`), settings, owner))
    const [coordinator, ...others] = servers.map(({ port }) => port)
    if (others.length > 0) {
      for (const { port } of servers) query(port, 'create extension citus')
      query(coordinator, `select citus_set_coordinator_host('127.0.0.1', ${coordinator})`)
      for (const port of others) query(coordinator, `select citus_add_node('127.0.0.1', ${port})`)
    }
    return { url: urlOf(coordinator), ports: servers.map(({ port }) => port), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startServer(folder, settings, owner) {
  const port = await freePort()
  const made = spawnSync(
    join(PROGRAMS, 'initdb'),
    ['-D', folder, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...owner, cwd: '/', encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Failure(`A server could not be created: ${made.stderr}`)
  appendFileSync(join(folder, 'postgresql.conf'), `${settings}port = ${port}\n`)
  const child = spawn(join(PROGRAMS, 'postgres'), ['-D', folder], {
    ...owner,
    // Nodes connect to each other, and would look for certificates in the home folder of another user.
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk) => (log = `${log}${chunk}`.slice(-5000)))
  for (let tries = 0; tries < START_TRIES_MAX; tries++) {
    if (child.exitCode !== null) throw new Failure(`A server ended: ${log}`)
    if (spawnSync(join(PROGRAMS, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', `${port}`]).status === 0)
      return { child, port }
    await setTimeout(START_INTERVAL_MS)
  }
  child.kill('SIGKILL')
  throw new Failure(`A server did not start: ${log}`)
}

async function stopServer({ child }) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  // Immediate: its data is deleted anyway.
  child.kill('SIGQUIT')
  await exited
}

function query(port, text) {
  const { status, stderr } = spawnSync(
    join(PROGRAMS, 'psql'),
    ['-qAt', '-v', 'ON_ERROR_STOP=1', '-d', urlOf(port), '-c', text],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Failure(`${text}: ${stderr}`)
}

function urlOf(port) {
  return `postgres://${USER}@127.0.0.1:${port}/postgres`
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** PostgreSQL does not run as root. */
function unprivileged() {
  if (process.getuid() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, USER], { encoding: 'utf8' }).stdout))
  return { uid, gid }
}
