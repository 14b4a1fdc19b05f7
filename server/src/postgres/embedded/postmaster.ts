import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { open, readFile, readdir, readlink, rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { OTHERWISE, runProgram, type Cluster } from './cluster.ts'

/** After a power cut the server first replays its log, which takes as long as there was much to write. */
const START_TIMEOUT_SECONDS = 120
const START_KILL_SLACK_MS = 10_000
const STOP_TIMEOUT_MS = 60_000
const STOP_POLL_MS = 10
const CONNECTIONS_MAX = 200
/** A server writes its pid file at once after creating it. */
const EMPTY_PID_FILE_AGE_MS = 10_000
/** Below the ports that Linux and macOS give to outgoing connections, so that none of those can occupy our port. */
const PORT_MIN = 15_000
const PORT_MAX = 32_000
const PORT_TRIES_MAX = 100
const LOG_BYTES_MAX = 10_000_000
const LOG_BYTES_SHOWN = 4_000

/** A running server: the process that owns the data folder, and where it listens. */
export interface Postmaster {
  pid: number
  port: number
}

/** Failed for something that passes: our port was taken, or another process starts or stops the server. Try again. */
export class Interrupted extends Error {}

const PASSING_CAUSES = new RegExp(
  [
    'could not create any TCP/IP sockets', // another program took the port
    'lock file "postmaster.pid"', // another process was first to start
    'pre-existing shared memory block', // sessions of a killed server have not ended yet
    'received fast shutdown request', // it ran, and another process was in and out before pg_ctl looked
  ].join('|'),
)

/** The server that runs on this cluster, if one does. */
export async function runningPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const file = await readPidFile(cluster)
  return file?.port && (await isOurs(cluster, file)) ? { pid: file.pid, port: file.port } : undefined
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

/** After a power cut or in a new container the pid in the file may be anybody's. */
async function isOurs(cluster: Cluster, { pid }: Postmaster): Promise<boolean> {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') {
    // Not by start times: they change their meaning when the clock is set.
    const listed = await promisify(execFile)('ps', ['-o', 'command=', '-p', `${pid}`]).catch(() => ({ stdout: '' }))
    return listed.stdout.includes('postgres')
  }
  try {
    // A server works from inside its data folder. A zombie has no folder any more.
    return (await readlink(`/proc/${pid}/cwd`)) === join(cluster.folder, 'data')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    // Root of a container may not look into other users' processes, but for the command line.
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('postgres')
  }
}

/** Another user's process (EPERM) does not count: the server runs as the user we are, or we are root. */
function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

export interface StartOptions {
  /** This port and no other. Without it, the port of the last start if it is free. */
  port?: number
  /** A server that is still recovering by then is returned all the same. */
  timeoutSeconds?: number
}

/** Starts the server. It gets a session of its own from pg_ctl, so that Ctrl-C in our terminal does not reach it. */
export async function startPostmaster(
  cluster: Cluster,
  { port, timeoutSeconds = START_TIMEOUT_SECONDS }: StartOptions = {},
): Promise<Postmaster> {
  await clearForeignPidFile(cluster)
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
  // Also after a failure: it may be another process's, or one that still recovers.
  const running = await runningPostmaster(cluster)
  if (running) return running
  const log = await readLog(cluster, logBefore)
  // No failure and no server: another process has already stopped it again.
  if (!failure || PASSING_CAUSES.test(log)) throw new Interrupted(startMessage(cluster, log), { cause: failure })
  throw new Error(startMessage(cluster, log || (failure as Error).message), { cause: failure })
}

function startMessage(cluster: Cluster, log: string): string {
  return `The database in ${cluster.folder} does not start. The end of its log (${join(cluster.folder, 'log')}):\n${log.trim()}\n${OTHERWISE}`
}

/**
 * A stale pid file is PostgreSQL's own business, but for two kinds it refuses to start on: one whose pid now belongs to
 * another process of the same user, and an empty one.
 */
async function clearForeignPidFile(cluster: Cluster): Promise<void> {
  const file = await readPidFile(cluster)
  if (!file) return
  if (file.pid === 0) {
    const { mtimeMs } = await stat(pidFilePath(cluster)).catch(() => ({ mtimeMs: Infinity }))
    // A file from the future was written before the clock was set back.
    if (Math.abs(Date.now() - mtimeMs) < EMPTY_PID_FILE_AGE_MS) return
  } else if (!isAlive(file.pid) || (await isOurs(cluster, file))) return
  await rm(pidFilePath(cluster), { force: true })
}

/**
 * The port of the last start if it is free, so that a running service finds the server again where it was, whoever
 * restarts it. Otherwise a port that was free a moment ago.
 */
async function choosePort(cluster: Cluster): Promise<number> {
  // The command line of the last start.
  const options = await readFile(join(cluster.folder, 'data', 'postmaster.opts'), 'utf8').catch(() => '')
  const last = Number(/port=(\d+)/.exec(options)?.[1])
  if (last && (await isFree(last))) return last
  for (let tries = 0; tries < PORT_TRIES_MAX; tries++) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (await isFree(port)) return port
  }
  throw new Interrupted(`No free port was found between ${PORT_MIN} and ${PORT_MAX}.`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (isListening) await new Promise((resolve) => server.close(resolve))
  return isListening
}

/** Returns where the log ends now. */
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
 * Stops the server and waits until it has let go of port and data. By signal, not by `pg_ctl stop -w`: that waits for
 * the pid file to go away, and would sit out its time limit when another process has already started a successor.
 */
export async function stopPostmaster(cluster: Cluster, port: number): Promise<void> {
  const running = await runningPostmaster(cluster)
  if (running?.port !== port) return
  try {
    process.kill(running.pid, 'SIGINT') // PostgreSQL's 'fast' shutdown: ends sessions, writes everything out
  } catch {
    return // it ended just now
  }
  const deadline = performance.now() + STOP_TIMEOUT_MS
  while ((await runningPostmaster(cluster))?.pid === running.pid) {
    if (performance.now() > deadline) {
      throw new Error(
        `The database in ${cluster.folder} (process ${running.pid}) has not stopped after ${STOP_TIMEOUT_MS / 1000} s. ` +
          `It goes on stopping by itself; see ${join(cluster.folder, 'log')}.`,
      )
    }
    await wait(STOP_POLL_MS)
  }
}

/**
 * Kills the sessions that a killed server left behind. They end by themselves, but one in the middle of a long statement
 * only after it, and until then PostgreSQL refuses to start. Other systems than Linux have to wait for that.
 */
export async function killOrphans(cluster: Cluster): Promise<void> {
  if (process.platform !== 'linux' || (await runningPostmaster(cluster))) return
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
