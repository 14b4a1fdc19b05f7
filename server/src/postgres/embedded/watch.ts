import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { readDiskSpace, type DiskSpace } from './disk-space.ts'
import type { Cluster } from './cluster.ts'
import { killIfAlive, killOrphans, findPostmaster, startPostmaster, type Postmaster } from './postmaster.ts'

/*
 * Restarts the embedded PostgreSQL when it has ended, on the same port, because clients keep its address. Runs in the
 * serving process and retries until it is stopped, because a full disk may stay full for days.
 *
 *   running  → gone      its process ended, or it failed PROBES_FAILED_MAX probes and was killed
 *   gone     → running   a start succeeded, here or in a command that runs alongside the service
 */

const CHECK_INTERVAL_MS = 500
/** Short, so that a shutdown does not wait for a long recovery. */
const START_TIMEOUT_SECONDS = 5
const RETRY_MIN_MS = 500
/** Also the longest delay between freeing space on a full disk and the restart. */
const RETRY_MAX_MS = 10_000
/** A server that ends sooner counts as another failure, and the retry delay keeps growing. */
const STABLE_MS = 60_000

const PROBE_INTERVAL_MS = 5_000
const PROBE_TIMEOUT_MS = 5_000
const PROBES_FAILED_MAX = 3
/** An SSLRequest (length 8, code 80877103), which PostgreSQL answers with one byte before authentication. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

const SPACE_INTERVAL_MS = 10_000

export interface Watch {
  /** Resolves when no restart is running; none will follow. */
  stop(): Promise<void>
}

export function watchPostmaster(cluster: Cluster, port: number, log: Logger | undefined): Watch {
  const stopping = new AbortController()
  const { signal } = stopping
  const watchSpace = spaceWatcher(cluster, log)
  let failures = 0
  let failedProbes = 0
  let probedMs = performance.now()
  let startedMs = -Infinity

  async function check(): Promise<void> {
    await watchSpace()
    const postmaster = await findPostmaster(cluster)
    if (postmaster?.port === port) return checkResponsive(postmaster)
    await restart(postmaster)
  }

  async function checkResponsive(postmaster: Postmaster): Promise<void> {
    if (failures > 0 && performance.now() - startedMs > STABLE_MS) failures = 0
    if (performance.now() - probedMs < PROBE_INTERVAL_MS) return
    failedProbes = (await acceptsConnections(port)) ? 0 : failedProbes + 1
    probedMs = performance.now()
    if (failedProbes < PROBES_FAILED_MAX) return
    failedProbes = 0
    log?.error({ postgres_pid: postmaster.pid }, 'the database accepts no connections; killing it for a restart')
    // A stopped or stuck process reacts to nothing milder than SIGKILL. Committed data is on disk.
    killIfAlive(postmaster.pid)
  }

  /** `other`: a command found our port taken and started the server on another one. It stops that server at its end. */
  async function restart(other: Postmaster | undefined): Promise<void> {
    await pause(pauseMs())
    if (signal.aborted) return
    failures += 1
    if (other) return log?.warn({ port, other: other.port }, 'waiting for a command to release the database')
    log?.warn({ attempt: failures }, 'the database has stopped; restarting it')
    try {
      await killOrphans(cluster)
      const { pid } = await startPostmaster(cluster, { port, timeoutSeconds: START_TIMEOUT_SECONDS })
      startedMs = probedMs = performance.now()
      failedProbes = 0
      log?.info({ postgres_pid: pid, attempt: failures }, 'the database was restarted')
    } catch (error) {
      const space = await readDiskSpace(cluster.folder)
      const cause = space?.state === 'full' ? 'its disk is full' : 'see its log'
      const details = { err: error, attempt: failures, retry_in_ms: pauseMs(), ...space }
      log?.error(details, `the database does not restart: ${cause}; retrying`)
    }
  }

  const pauseMs = () => (failures === 0 ? 0 : Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (failures - 1)))
  const pause = (ms: number) => wait(ms, undefined, { signal, ref: false }).catch(() => {})

  async function run(): Promise<void> {
    for (await pause(CHECK_INTERVAL_MS); !signal.aborted; await pause(CHECK_INTERVAL_MS)) {
      await check().catch((error: unknown) => log?.error({ err: error }, 'the database could not be checked'))
    }
  }

  const running = run()
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** Whether the server answers a new connection; "still recovering" counts as an answer. */
async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    return await new Promise<boolean>((resolve) => {
      socket.setTimeout(PROBE_TIMEOUT_MS, () => resolve(false))
      socket.once('error', () => resolve(false))
      socket.once('data', () => resolve(true))
      socket.write(SSL_REQUEST)
    })
  } finally {
    socket.destroy()
  }
}

/** Logs when disk space runs low, runs out, and is available again. */
function spaceWatcher(cluster: Cluster, log: Logger | undefined): () => Promise<void> {
  let checkedMs = -Infinity
  let last: DiskSpace['state'] = 'ok'
  return async () => {
    if (performance.now() - checkedMs < SPACE_INTERVAL_MS) return
    checkedMs = performance.now()
    const space = await readDiskSpace(cluster.folder)
    if (!space || space.state === last) return
    const { state, freeBytes } = space
    last = state
    const facts = { freeBytes, folder: cluster.folder }
    if (state === 'full') log?.error(facts, 'the disk of the database is full')
    else if (state === 'low') log?.warn(facts, 'the disk of the database has little space left')
    else log?.info(facts, 'the disk of the database has space again')
  }
}
