import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { findProgram } from '../../scripts/system-packages.mjs'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { eventually, freePort } from './bank.ts'
import { unprivileged } from './pgbouncer.ts'

const baseBackup = findProgram('pg_basebackup')
const PROGRAMS = dirname(baseBackup ?? '')

export const hasPostgres15 = baseBackup !== undefined

const USER = 'postgres'
/** Synchronous replication is on, whatever the disk does: the machine survives these tests. */
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
full_page_writes = off
shared_buffers = '32MB'
max_connections = 200
hot_standby = on
wal_keep_size = '256MB'
`

/** One PostgreSQL 15 server, as a process of its own. */
export interface PostgresServer {
  port: number
  /** host:port */
  host: string
  /** The address of the database `postgres` on this server alone. */
  url: string
  start(): Promise<void>
  /** With SIGKILL. */
  kill(): Promise<void>
  /** In order, so that a copy of its folder starts without a recovery. */
  stop(): Promise<void>
  promote(): Promise<void>
  /** Runs one statement on this server, primary or not. */
  run(statement: string): Promise<Record<string, any>[]>
}

/** On a folder that `initdb` has filled. */
async function prepareServer(folder: string): Promise<PostgresServer> {
  const port = await freePort()
  await appendFile(join(folder, 'postgresql.conf'), `port = ${port}\n`)
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn(join(PROGRAMS, 'postgres'), ['-D', folder], {
      ...unprivileged(),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    child.stderr!.on('data', (chunk: Buffer) => (log = `${log}${chunk}`.slice(-10_000)))
    await eventually(async () => {
      if (child!.exitCode !== null) throw new Error(`postgres ended: ${log}`)
      return run('select 1').catch(() => false as const)
    })
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  const kill = () => end('SIGKILL')
  async function run(statement: string): Promise<Record<string, any>[]> {
    const sql: Sql = connect(url, { connectionsMax: 1, name: 'test', isStandbyAllowed: true })
    try {
      return await sql.unsafe(statement)
    } finally {
      await sql.end({ timeoutMs: 0 })
    }
  }
  onTestFinished(kill)
  const host = `127.0.0.1:${port}`
  const url = `postgres://${USER}@${host}/postgres`
  return {
    port,
    host,
    url,
    start,
    kill,
    // PostgreSQL's 'fast' shutdown.
    stop: () => end('SIGINT'),
    async promote() {
      await run('select pg_promote()')
    },
    run,
  }
}

let prepared: Promise<string> | undefined

/** The folder of a migrated server that does not run. Made once: a copy takes a fraction of initdb and the migrations. */
function preparedFolder(): Promise<string> {
  prepared ??= prepareFolder()
  return prepared
}

async function prepareFolder(): Promise<string> {
  const folder = await newFolder()
  await program('initdb', ['-D', folder, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'])
  await appendFile(join(folder, 'postgresql.conf'), SETTINGS)
  const server = await prepareServer(folder)
  await server.start()
  const sql = connect(server.url, { connectionsMax: 1, name: 'test' })
  await migrate(sql)
  await createPartitions(sql)
  await sql.end()
  await server.stop()
  return folder
}

async function copyPrepared(): Promise<string> {
  const folder = await newFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  await promisify(execFile)('cp', ['-a', `${await preparedFolder()}/.`, folder], { ...unprivileged(), cwd: '/' })
  return folder
}

/** A migrated server that is started, and its standby, which follows it synchronously or not. */
export async function startPair({ isSynchronous = true } = {}): Promise<[PostgresServer, PostgresServer]> {
  const primary = await prepareServer(await copyPrepared())
  await primary.start()
  const folder = await copyPrepared()
  const source = `host=127.0.0.1 port=${primary.port} user=${USER} application_name=standby`
  await appendFile(join(folder, 'postgresql.conf'), `primary_conninfo = '${source}'\n`)
  await writeFile(join(folder, 'standby.signal'), '')
  const standby = await prepareServer(folder)
  await standby.start()
  if (isSynchronous) {
    await primary.run(`alter system set synchronous_standby_names = 'standby'`)
    await primary.run('select pg_reload_conf()')
    const synced = `select from pg_stat_replication where sync_state = 'sync'`
    await eventually(async () => (await primary.run(synced)).length === 1)
  }
  return [primary, standby]
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-postgres-'))
  await chmod(folder, 0o700)
  const { uid, gid } = unprivileged()
  if (uid !== undefined) await chown(folder, uid, gid!)
  return folder
}

async function program(name: string, args: string[]): Promise<void> {
  await promisify(execFile)(join(PROGRAMS, name), args, { ...unprivileged(), cwd: '/' })
}
