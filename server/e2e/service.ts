import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../test/free-port.ts'

export const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))
// The first start creates a database and fills it. Both limits only find what hangs.
const START_MAX_MS = 300_000
const STOP_MAX_MS = 120_000
const POLL_MS = 100
const LOG_KEPT_CHARS = 10_000

export interface Service {
  url: string
  /** The output so far, standard output and standard error. */
  output: () => string
  /** Runs a command beside the service, and returns what it prints as JSON. */
  hourbank: <T>(...args: string[]) => Promise<T>
  stop: () => Promise<void>
}

/**
 * Starts the service as an operator would, with its own data folder and the test's settings. Unless these say otherwise,
 * it has the demo, and its output begins with what the first start printed.
 */
export async function startService(settings: Record<string, string> = {}): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hourbank-e2e-'))
  // As root the database runs as another user: it must reach the folder, or it is kept elsewhere and never removed.
  await chmod(dataDir, 0o711)
  const { PREPARED_EMPTY, PREPARED_DEMO, PREPARED_OUTPUT } = process.env
  const isFilled = settings.DEMO === undefined && settings.DATA_DIR === undefined
  // With owners and modes: PostgreSQL refuses a folder that others may read.
  await promisify(execFile)('cp', ['-a', `${isFilled ? PREPARED_DEMO : PREPARED_EMPTY}/.`, dataDir])
  const printedBefore = isFilled ? await readFile(PREPARED_OUTPUT!, 'utf8') : ''
  const service = await startOn(dataDir, settings)
  return {
    ...service,
    output: () => printedBefore + service.output(),
    async stop() {
      try {
        await service.stop()
      } finally {
        await rm(dataDir, { recursive: true, force: true })
      }
    },
  }
}

/** Starts the service on this data folder, on a free port. */
export async function startOn(dataDir: string, settings: Record<string, string> = {}): Promise<Service> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`

  // Pass only some variables: a DATABASE_URL of the developer's shell must not become the tests' database.
  const { PATH, HOME, TMPDIR } = process.env
  const env = { PATH, HOME, TMPDIR, PORT: String(port), DATA_DIR: dataDir, ...settings }
  const child = spawn(process.execPath, [COMMAND, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')

  // Tests read the credentials that are printed, however much is logged since.
  let [printed, logged] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (logged = (logged + chunk.toString()).slice(-LOG_KEPT_CHARS)))
  const output = () => printed + logged
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  const killIfAlone = () => child.kill('SIGKILL')
  process.once('exit', killIfAlone)

  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    const giveUp = new AbortController()
    const inTime = await Promise.race([
      exited.then(() => true),
      setTimeout(STOP_MAX_MS, false, { signal: giveUp.signal }),
    ])
    giveUp.abort()
    if (!inTime) {
      child.kill('SIGKILL')
      await exited
    }
    process.off('exit', killIfAlone)
    if (!inTime) throw new Error(`The service did not stop within ${STOP_MAX_MS} ms of SIGTERM:\n${output()}`)
  }

  const deadline = Date.now() + START_MAX_MS
  // What it prints is read by tests, and follows a moment after it is ready.
  while (!printed.includes('Hourbank is running.') || !(await isReady(url))) {
    const problem = hasExited() ? 'ended' : Date.now() > deadline ? 'was not ready in time' : undefined
    if (problem) {
      await stop()
      throw new Error(`The service ${problem}:\n${output()}`)
    }
    await setTimeout(POLL_MS)
  }
  async function hourbank<T>(...args: string[]): Promise<T> {
    const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...args, '--json'], { env })
    return JSON.parse(stdout)
  }
  return { url, output, hourbank, stop }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}
