import { createHmac } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { connect, identifier, isOutage, type Sql } from '../connect.ts'
import { DATABASE_USER, ensureCluster, SERVICE_USER, type Cluster } from './cluster.ts'
import { TransientFailure, findPostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'
import { watchPostmaster, type Watch } from './watch.ts'
import { Refusal } from '../../core/refusal.ts'

/*
 * All processes on one data folder share the built-in PostgreSQL, and the last one to leave stops it. Session-level
 * advisory locks in the database `postgres` track its users, because a killed process loses them immediately:
 *
 *   USERS    held shared by every process; a process that gets it exclusively is the last one and may stop the server
 *   SERVING  held by the one process that serves
 *
 * A process that arrives during a shutdown waits for USERS, is disconnected with everyone else, and starts over.
 */
const USERS_LOCK = 1
const SERVING_LOCK = 2

/** Long enough for a crash recovery, whichever process started it. */
const OPEN_TIMEOUT_MS = 180_000
const OPEN_WAIT_MS = 50
const STARTS_MAX = 50
/** Per step of joining; creating the database on the first start takes longest. */
const STEP_TIMEOUT_MS = 60_000
/** Long enough for the server to notice that the previous holder was killed. */
const LOCK_WAIT_MS = 1_000
const RELOCK_WAIT_MS = 200

const NO_SUCH_DATABASE = '3D000'
const LOCK_NOT_AVAILABLE = '55P03'
/** The server is starting, recovering or stopping. */
const CANNOT_CONNECT_NOW = '57P03'
const WRONG_PASSWORD = '28P01'
/** The second code is what the loser of two concurrent `create database` gets. */
const DATABASE_EXISTS = new Set(['42P04', '23505'])

export type Purpose = 'serve' | 'command'

export interface EmbeddedDatabase {
  /** As the owner of the tables. */
  url: string
  /** As the role of the service; only for the purpose 'serve'. */
  serviceUrl: string
  /** Call this last, after closing all connections. Stops the server unless another process still uses it. */
  close(): Promise<void>
}

/** Another process is serving from this data folder. */
export class AlreadyRunning extends Error {}

/**
 * Opens the database of a data folder: creates it, starts it, or joins the processes that already use it. The serving
 * process also restarts it after a crash.
 */
export async function openEmbedded(dataDir: string, purpose: Purpose, log?: Logger): Promise<EmbeddedDatabase> {
  const cluster = await ensureCluster(resolve(dataDir))
  const deadline = performance.now() + OPEN_TIMEOUT_MS
  let starts = 0
  for (;;) {
    try {
      let postmaster = await findPostmaster(cluster)
      if (!postmaster) {
        starts += 1
        postmaster = await startPostmaster(cluster)
      }
      return await joinServer(cluster, postmaster.port, purpose, log)
    } catch (error) {
      const isTransient = error instanceof TransientFailure || isOutage(error) || codeOf(error) === LOCK_NOT_AVAILABLE
      if (!isTransient || starts >= STARTS_MAX || performance.now() > deadline) throw toUserError(error, cluster)
    }
    await wait(OPEN_WAIT_MS)
  }
}

async function joinServer(
  cluster: Cluster,
  port: number,
  purpose: Purpose,
  log: Logger | undefined,
): Promise<EmbeddedDatabase> {
  let state: 'joining' | 'joined' | 'leaving' = 'joining'
  let disconnects = 0
  let relocking: Promise<void> | undefined
  let closed: Promise<void> | undefined
  let watch: Watch | undefined
  // The pool reconnects by itself, but the new session holds no locks.
  const sql = connectOnce(cluster, port, 'postgres', purpose, () => {
    disconnects += 1
    if (state !== 'joined') return
    relocking ??= relock(sql, purpose, () => state === 'joined').finally(() => (relocking = undefined))
  })

  async function leave(): Promise<void> {
    state = 'leaving'
    await watch?.stop()
    await relocking
    try {
      // A server that we restarted and that is still recovering has no users. After any other failure it is gone.
      const isStarting = (error: unknown) => watch !== undefined && codeOf(error) === CANNOT_CONNECT_NOW
      if (await isLast(sql).catch(isStarting)) await stopPostmaster(cluster, port)
    } finally {
      await sql.end({ timeoutMs: 0 })
    }
  }

  try {
    await takeUsersLock(sql)
    // Opens a new connection, which a stopping server rejects. This proves that the lock was not acquired merely
    // because a shutdown disconnected its previous holder.
    await ensureDatabase(sql, cluster, port)
    if (purpose === 'serve') {
      await takeServingLock(sql)
      await ensureServiceRole(sql, cluster)
    }
    if (disconnects > 0) throw new TransientFailure('The database ended the connection.')
    state = 'joined'
    if (purpose === 'serve') watch = watchPostmaster(cluster, port, log)
    return {
      url: urlOf(cluster, port, DATABASE_USER),
      serviceUrl: `postgres://${SERVICE_USER}:${servicePassword(cluster)}@127.0.0.1:${port}/${DATABASE_USER}`,
      close: () => (closed ??= leave()),
    }
  } catch (error) {
    await leave()
    throw error
  }
}

/** A crash or restart of the server ends all sessions; without our lock, a command would stop the server we use. */
async function relock(sql: Sql, purpose: Purpose, isNeeded: () => boolean): Promise<void> {
  while (isNeeded()) {
    try {
      await takeUsersLock(sql)
      if (purpose === 'serve') await takeServingLock(sql)
      return
    } catch (error) {
      if (error instanceof AlreadyRunning) return
    }
    // A referenced timer: a shutdown awaits this loop, and nothing else may keep the process alive.
    await wait(RELOCK_WAIT_MS)
  }
}

/** Opens a single connection without a lifetime limit, because locks last as long as their session. */
function connectOnce(cluster: Cluster, port: number, database: string, purpose: Purpose, onDisconnect = () => {}): Sql {
  return connect(urlOf(cluster, port, database), {
    connectionsMax: 1,
    connectionLifetimeSeconds: Infinity,
    name: `${purpose}, process ${process.pid}`,
    timeLimitMs: STEP_TIMEOUT_MS,
    onDisconnect,
  })
}

function urlOf(cluster: Cluster, port: number, database: string): string {
  return `postgres://${DATABASE_USER}:${cluster.password}@127.0.0.1:${port}/${database}`
}

async function takeUsersLock(sql: Sql): Promise<void> {
  await sql.unsafe(`set lock_timeout = ${LOCK_WAIT_MS}; select pg_advisory_lock_shared(${USERS_LOCK})`)
}

async function takeServingLock(sql: Sql): Promise<void> {
  try {
    await sql`select pg_advisory_lock(${SERVING_LOCK})`
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
    const [holder] = await sql<{ name: string }[]>`
      select application_name as name from pg_stat_activity join pg_locks using (pid)
      where locktype = 'advisory' and objid = ${SERVING_LOCK} and granted`
    const name = holder ? ` (${holder.name})` : ''
    throw new AlreadyRunning(
      `Hourbank is already running on this data folder${name}. Use that one, stop it first, or set DATA_DIR to another folder.`,
      { cause: error },
    )
  }
}

async function isLast(sql: Sql): Promise<boolean> {
  await sql`select pg_advisory_unlock_all()`
  const [row] = await sql<{ acquired: boolean }[]>`select pg_try_advisory_lock(${USERS_LOCK}) as acquired`
  return row?.acquired === true
}

async function ensureDatabase(sql: Sql, cluster: Cluster, port: number): Promise<void> {
  const probe = connectOnce(cluster, port, DATABASE_USER, 'command')
  try {
    await probe`select 1`.catch(async (error: unknown) => {
      if (codeOf(error) !== NO_SUCH_DATABASE) throw error
      await sql`create database ${identifier(DATABASE_USER)}`.catch((failure: unknown) => {
        if (!DATABASE_EXISTS.has(codeOf(failure) ?? '')) throw failure
      })
      await probe`select 1`
    })
  } finally {
    await probe.end({ timeoutMs: 0 })
  }
}

/** The password is set on each start, because it follows from that of the owner. */
async function ensureServiceRole(sql: Sql, cluster: Cluster): Promise<void> {
  const [found] = await sql`select from pg_roles where rolname = ${SERVICE_USER}`
  await sql.unsafe(`
    ${found ? 'alter' : 'create'} role ${SERVICE_USER} login nosuperuser nocreatedb nocreaterole nobypassrls
      password '${servicePassword(cluster)}';
    grant pg_read_all_stats to ${SERVICE_USER}`)
}

function servicePassword({ password }: Cluster): string {
  return createHmac('sha256', password).update(SERVICE_USER).digest('hex')
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}

/** Replaces the driver's message with one that says what to do. */
function toUserError(error: unknown, cluster: Cluster): unknown {
  if (codeOf(error) === WRONG_PASSWORD) {
    return new Refusal(
      `The database in ${cluster.folder} refuses the password in ${cluster.folder}/password. Put the right one back, ` +
        `or set it again with: alter role ${DATABASE_USER} password '…'`,
      { cause: error },
    )
  }
  if (!isOutage(error) && codeOf(error) !== LOCK_NOT_AVAILABLE) return error
  return new Refusal(
    `The database in ${cluster.folder} does not answer (${(error as Error).message}). If its log, ` +
      `${cluster.folder}/log, shows that it is still recovering, wait for that and try again.`,
    { cause: error },
  )
}
