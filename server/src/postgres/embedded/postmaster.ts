import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { open, readFile, readdir, readlink, rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { EXTERNAL_DATABASE_HINT, runProgram, type Cluster } from './cluster.ts'
import { Refusal } from '../../core/refusal.ts'

/** After a power failure the server first replays its WAL, which takes long after many writes. */
const START_TIMEOUT_SECONDS = 120
const START_KILL_SLACK_MS = 10_000
const STOP_TIMEOUT_MS = 60_000
const STOP_POLL_MS = 10
const CONNECTIONS_MAX = 200
/** A server writes its pid file right after creating it, so an older empty file is stale. */
const EMPTY_PID_FILE_AGE_MS = 10_000
/** Below the ephemeral port range of Linux and macOS, so no outgoing connection can occupy our port. */
const PORT_MIN = 15_000
const PORT_MAX = 32_000
const PORT_TRIES_MAX = 100
const LOG_BYTES_MAX = 10_000_000
const LOG_BYTES_SHOWN = 4_000

/** A running server: the process that owns the data folder, and its port. */
export interface Postmaster {
  pid: number
  port: number
}

/** A temporary failure: the port was taken, or another process is starting or stopping the server. Retry. */
export class TransientFailure extends Error {}

const TRANSIENT_CAUSES = new RegExp(
  [
    'could not create any TCP/IP sockets', // another program took the port
    'lock file "postmaster.pid"', // another process was first to start
    'pre-existing shared memory block', // sessions of a killed server have not ended yet
    'received fast shutdown request', // it started, and another process stopped it before pg_ctl checked
  ].join('|'),
)

/** Returns the server running on this cluster, if any. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const file = await readPidFile(cluster)
  return file?.port && (await isOwnServer(cluster, file)) ? { pid: file.pid, port: file.port } : undefined
}

const pidFilePath = (cluster: Cluster) => join(cluster.folder, 'data', 'postmaster.pid')

/** Lines: pid, data folder, start time, port, … (src/include/utils/pidfile.h). An empty file reads as zeros. */
async function readPidFile(cluster: Cluster): Promise<Postmaster | undefined> {
  const text = await readFile(pidFilePath(cluster), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const [pid, , , port] = text.split('\n').map(Number)
  return { pid: pid || 0, port: port || 0 }
}

/** After a power failure or in a new container, the pid in the file may belong to any process. */
async function isOwnServer(cluster: Cluster, { pid }: Postmaster): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') {
    // Start times are unreliable: they shift when the clock is set.
    const processes = await promisify(execFile)('ps', ['-o', 'command=', '-p', `${pid}`]).catch(() => ({ stdout: '' }))
    return processes.stdout.includes('postgres')
  }
  try {
    // The working directory of a server is its data folder. A zombie has none.
    return (await readlink(`/proc/${pid}/cwd`)) === join(cluster.folder, 'data')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    // A container's root may not inspect other users' processes, except for their command line.
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('postgres')
  }
}

/** Another user's process (EPERM) does not count: the server runs as our own user, unless we are root. */
function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

export interface StartOptions {
  /** Uses this port only. Without it, the port of the last start is used if it is free. */
  port?: number
  /** A server that is still recovering after this time is returned as well. */
  timeoutSeconds?: number
}

/** Starts the server. pg_ctl gives it its own session, so Ctrl-C in our terminal does not reach it. */
export async function startPostmaster(
  cluster: Cluster,
  { port, timeoutSeconds = START_TIMEOUT_SECONDS }: StartOptions = {},
): Promise<Postmaster> {
  await removeStalePidFile(cluster)
  const logBefore = await rotateLog(cluster)
  const settings = {
    listen_addresses: '127.0.0.1',
    port: port ?? (await choosePort(cluster)),
    unix_socket_directories: '',
    max_connections: CONNECTIONS_MAX,
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const args = ['start', '-w', '-t', `${timeoutSeconds}`, '-l', 'log', '-o', options.join(' ')]
  let failure: unknown
  const killAfterMs = timeoutSeconds * 1000 + START_KILL_SLACK_MS
  await runProgram(cluster, 'pg_ctl', args, killAfterMs).catch((error: unknown) => (failure = error))
  // Look even after a failure: another process may have started it, or it may still be recovering.
  const running = await findPostmaster(cluster)
  if (running) return running
  const log = await readLog(cluster, logBefore)
  // Without a failure, another process has already stopped the server again.
  if (!failure || TRANSIENT_CAUSES.test(log)) throw new TransientFailure(startMessage(cluster, log), { cause: failure })
  throw new Refusal(startMessage(cluster, log || (failure as Error).message), { cause: failure })
}

function startMessage(cluster: Cluster, log: string): string {
  return `The database in ${cluster.folder} does not start. The end of its log (${join(cluster.folder, 'log')}):\n${log.trim()}\n${EXTERNAL_DATABASE_HINT}`
}

/**
 * Removes a stale pid file. PostgreSQL does this itself, except in two cases where it refuses to start: the pid now
 * belongs to another process of the same user, or the file is empty.
 */
async function removeStalePidFile(cluster: Cluster): Promise<void> {
  const file = await readPidFile(cluster)
  if (!file) return
  if (file.pid === 0) {
    const { mtimeMs } = await stat(pidFilePath(cluster)).catch(() => ({ mtimeMs: Infinity }))
    // Math.abs: a modification time in the future means that the clock was set back.
    if (Math.abs(Date.now() - mtimeMs) < EMPTY_PID_FILE_AGE_MS) return
  } else if (!isAlive(file.pid) || (await isOwnServer(cluster, file))) return
  await rm(pidFilePath(cluster), { force: true })
}

/**
 * Returns the port of the last start if it is free, so that a running service finds the server at the same address
 * after any process restarts it. Otherwise returns a random free port.
 */
async function choosePort(cluster: Cluster): Promise<number> {
  // postmaster.opts holds the command line of the last start.
  const options = await readFile(join(cluster.folder, 'data', 'postmaster.opts'), 'utf8').catch(() => '')
  const last = Number(/port=(\d+)/.exec(options)?.[1])
  if (last && (await isPortFree(last))) return last
  for (let tries = 0; tries < PORT_TRIES_MAX; tries++) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (await isPortFree(port)) return port
  }
  throw new TransientFailure(`No free port was found between ${PORT_MIN} and ${PORT_MAX}.`)
}

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer()
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (isListening) await new Promise((resolve) => server.close(resolve))
  return isListening
}

/** Returns the current size of the log. */
async function rotateLog(cluster: Cluster): Promise<number> {
  const path = join(cluster.folder, 'log')
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  if (size <= LOG_BYTES_MAX) return size
  await rename(path, `${path}.old`).catch(() => {})
  return 0
}

async function readLog(cluster: Cluster, from: number): Promise<string> {
  const file = await open(join(cluster.folder, 'log')).catch(() => undefined)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const start = Math.max(from, size - LOG_BYTES_SHOWN)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOG_BYTES_SHOWN), 0, LOG_BYTES_SHOWN, start)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/**
 * Stops the server and waits until it has released its port and data. Uses a signal instead of `pg_ctl stop -w`, which
 * waits for the pid file to disappear and would time out if another process has already started a new server.
 */
export async function stopPostmaster(cluster: Cluster, port: number): Promise<void> {
  const running = await findPostmaster(cluster)
  if (running?.port !== port) return
  try {
    process.kill(running.pid, 'SIGINT') // PostgreSQL's fast shutdown: ends sessions and flushes everything to disk
  } catch {
    return // it has just ended
  }
  const deadline = performance.now() + STOP_TIMEOUT_MS
  while ((await findPostmaster(cluster))?.pid === running.pid) {
    if (performance.now() > deadline) {
      throw new Refusal(
        `The database in ${cluster.folder} (process ${running.pid}) has not stopped after ${STOP_TIMEOUT_MS / 1000} s. ` +
          `It goes on stopping by itself; see ${join(cluster.folder, 'log')}.`,
      )
    }
    await wait(STOP_POLL_MS)
  }
}

/**
 * Kills the sessions that a killed server left behind. They end by themselves, but only after their current statement,
 * and until then PostgreSQL refuses to start. Systems other than Linux have to wait.
 */
export async function killOrphans(cluster: Cluster): Promise<void> {
  if (process.platform !== 'linux' || (await findPostmaster(cluster))) return
  const data = join(cluster.folder, 'data')
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const isSession = (await readlink(`/proc/${name}/cwd`).catch(() => '')) === data
    const command = isSession ? await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') : ''
    if (command.startsWith('postgres:')) killIfAlive(Number(name))
  }
}

export function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
