import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { eventually, freePort } from './bank.ts'

/** What is built is run: `npm test` builds before it tests. */
export const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))

/** A first start makes the embedded database and the demo community. */
const START_WAIT_MS = 300_000

/** One for all commands of a test, as an installation has. */
const SECRET_KEY = randomBytes(32).toString('hex')

/** Only what is named here, so that the settings of the user's shell do not affect the tests. */
function environment(databaseUrl: string, settings: Record<string, string> = {}) {
  const { PATH, HOME } = process.env
  return { PATH, HOME, DATABASE_URL: databaseUrl, SECRET_KEY, ...settings }
}

export function embeddedEnvironment(dataDir: string, settings: Record<string, string> = {}) {
  const { PATH, HOME } = process.env
  return { PATH, HOME, DATA_DIR: dataDir, ...settings }
}

/** Runs `hourbank …` beside whatever else uses the database; returns what it printed. */
export async function hourbank(databaseUrl: string, ...args: string[]): Promise<string> {
  return runCommand(environment(databaseUrl), args)
}

/** The same with other settings. */
export async function hourbankWith(
  settings: Record<string, string>,
  databaseUrl: string,
  ...args: string[]
): Promise<string> {
  return runCommand(environment(databaseUrl, settings), args)
}

/** The same on an embedded database. */
export async function hourbankEmbedded(dataDir: string, ...args: string[]): Promise<string> {
  return runCommand(embeddedEnvironment(dataDir), args)
}

async function runCommand(env: NodeJS.ProcessEnv, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...args], { env })
  return stdout
}

/** `hourbank serve` as a process of its own; returns its address. */
export async function serveAsProcess(databaseUrl: string): Promise<string> {
  return (await startService(environment(databaseUrl))).url
}

/** Only root can start a process as another user. */
interface User {
  uid?: number
  gid?: number
}

export interface EmbeddedService {
  url: string
  pid: number
  /** Everything printed so far, standard error with it. */
  output(): string
  /** The lines of its log. */
  entries(): any[]
  /** Sends the signal and returns the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** The same on an embedded database. */
export async function serveEmbedded(
  dataDir: string,
  settings: Record<string, string> = {},
  user: User = {},
): Promise<EmbeddedService> {
  return startService(embeddedEnvironment(dataDir, settings), user)
}

async function startService(settings: NodeJS.ProcessEnv, user: User = {}): Promise<EmbeddedService> {
  const port = await freePort()
  const env = { LOG_LEVEL: 'warn', ...settings, PORT: `${port}` }
  const child = spawn(process.execPath, [COMMAND, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'], ...user })
  const exited = once(child, 'exit') as Promise<[number | null]>
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`hourbank serve ended: ${output}`)
    return output.includes('Hourbank is running.')
  }, START_WAIT_MS)
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    output: () => output,
    entries: () =>
      output
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line)),
    async end(signal) {
      child.kill(signal)
      return (await exited)[0]
    },
  }
}
