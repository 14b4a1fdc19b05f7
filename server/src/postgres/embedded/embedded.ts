import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { connect, identifier, isOutage, type Sql } from '../connect.ts'
import { DATABASE_USER, findOrMakeCluster, type Cluster } from './cluster.ts'
import { Interrupted, runningPostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'
import { watchPostmaster, type Watch } from './watch.ts'

/*
 * The built-in PostgreSQL is shared by every process that works on one data folder, and the last one out stops it.
 * Who is in is told by session-level advisory locks in the database `postgres`, which a killed process loses at once:
 *
 *   USERS    held shared by everyone; whoever gets it exclusively is alone, and may stop the server
 *   SERVING  held by the one process that serves
 *
 * Whoever comes while the server is being stopped waits for USERS, is cut off with everybody else, and starts over.
 */
const USERS_LOCK = 1
const SERVING_LOCK = 2

/** Covers the recovery after a crash, by whichever process started it. */
const OPEN_TIMEOUT_MS = 180_000
const OPEN_WAIT_MS = 50
const STARTS_MAX = 50
/** For each step on the way in; making the database on the first start takes longest. */
const STEP_TIMEOUT_MS = 60_000
/** Long enough for the server to notice that the former holder was killed. */
const LOCK_WAIT_MS = 1_000
const RELOCK_WAIT_MS = 200

const NO_SUCH_DATABASE = '3D000'
const LOCK_NOT_AVAILABLE = '55P03'
/** The server starts, recovers or stops. */
const CANNOT_CONNECT_NOW = '57P03'
const WRONG_PASSWORD = '28P01'
/** The second is what the loser of a race between two `create database` gets. */
const DATABASE_EXISTS = new Set(['42P04', '23505'])

export type Purpose = 'serve' | 'command'

export interface EmbeddedDatabase {
  url: string
  /** Call last, with all connections closed. Stops the server unless another process still uses it. */
  close(): Promise<void>
}

/** Another process serves from this data folder. */
export class AlreadyRunning extends Error {}

/**
 * Opens the database under a data folder: makes it, starts it, or joins the processes that already use it. The process
 * that serves also restarts it when it ends unasked.
 */
export async function openEmbedded(dataDir: string, purpose: Purpose, log?: Logger): Promise<EmbeddedDatabase> {
  const cluster = await findOrMakeCluster(resolve(dataDir))
  const deadline = performance.now() + OPEN_TIMEOUT_MS
  let starts = 0
  for (;;) {
    try {
      let postmaster = await runningPostmaster(cluster)
      if (!postmaster) {
        starts += 1
        postmaster = await startPostmaster(cluster)
      }
      return await enter(cluster, postmaster.port, purpose, log)
    } catch (error) {
      const passes = error instanceof Interrupted || isOutage(error) || codeOf(error) === LOCK_NOT_AVAILABLE
      if (!passes || starts >= STARTS_MAX || performance.now() > deadline) throw explained(error, cluster)
    }
    await wait(OPEN_WAIT_MS)
  }
}

async function enter(
  cluster: Cluster,
  port: number,
  purpose: Purpose,
  log: Logger | undefined,
): Promise<EmbeddedDatabase> {
  let state: 'entering' | 'inside' | 'leaving' = 'entering'
  let cuts = 0
  let relocking: Promise<void> | undefined
  let left: Promise<void> | undefined
  let watch: Watch | undefined
  // The pool connects again by itself, and the new session has no locks.
  const sql = connectOnce(cluster, port, 'postgres', purpose, () => {
    cuts += 1
    if (state !== 'inside') return
    relocking ??= relock(sql, purpose, () => state === 'inside').finally(() => (relocking = undefined))
  })

  async function leave(): Promise<void> {
    state = 'leaving'
    await watch?.stop()
    await relocking
    try {
      // A server that we restarted and that still recovers has no users. After any other failure it is gone.
      const isStarting = (error: unknown) => watch !== undefined && codeOf(error) === CANNOT_CONNECT_NOW
      if (await isLast(sql).catch(isStarting)) await stopPostmaster(cluster, port)
    } finally {
      await sql.end({ timeoutMs: 0 })
    }
  }

  try {
    await takeUsersLock(sql)
    // Needs a new connection, which a server that is being stopped refuses. So it proves that the lock was not won
    // from a server in the midst of stopping, whose former user lost it by that.
    await ensureDatabase(sql, cluster, port)
    if (purpose === 'serve') await takeServingLock(sql)
    if (cuts > 0) throw new Interrupted('The database ended the connection.')
    state = 'inside'
    if (purpose === 'serve') watch = watchPostmaster(cluster, port, log)
    return { url: urlOf(cluster, port, DATABASE_USER), close: () => (left ??= leave()) }
  } catch (error) {
    await leave()
    throw error
  }
}

/** After a crash or restart of the server all sessions are gone; without a lock a command would stop it under us. */
async function relock(sql: Sql, purpose: Purpose, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    try {
      await takeUsersLock(sql)
      if (purpose === 'serve') await takeServingLock(sql)
      return
    } catch (error) {
      if (error instanceof AlreadyRunning) return
    }
    // Keeps the process alive: a shutdown waits for this, and may have nothing else left that does.
    await wait(RELOCK_WAIT_MS)
  }
}

/** One connection that stays: locks live as long as their session. */
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
  const [row] = await sql<{ alone: boolean }[]>`select pg_try_advisory_lock(${USERS_LOCK}) as alone`
  return row?.alone === true
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

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code
}

/** What a person can act on, in place of the driver's words. */
function explained(error: unknown, cluster: Cluster): unknown {
  if (codeOf(error) === WRONG_PASSWORD) {
    return new Error(
      `The database in ${cluster.folder} refuses the password in ${cluster.folder}/password. Put the right one back, ` +
        `or set it again with: alter role ${DATABASE_USER} password '…'`,
      { cause: error },
    )
  }
  if (!isOutage(error) && codeOf(error) !== LOCK_NOT_AVAILABLE) return error
  return new Error(
    `The database in ${cluster.folder} does not answer (${(error as Error).message}). If its log, ` +
      `${cluster.folder}/log, shows that it is still recovering, wait for that and try again.`,
    { cause: error },
  )
}
