import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { eventually, freePort } from './bank.ts'

/** What is built is run: `npm test` builds before it tests. */
const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))

/** Only what is named here: the settings of whoever runs the tests are not the tests'. */
function environment(databaseUrl: string, settings: Record<string, string> = {}) {
  const { PATH, HOME } = process.env
  return { PATH, HOME, DATABASE_URL: databaseUrl, SECRET_KEY: randomBytes(32).toString('hex'), ...settings }
}

/** Runs `hourbank …` beside whatever else uses the database; returns what it printed. */
export async function hourbank(databaseUrl: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...args], { env: environment(databaseUrl) })
  return stdout
}

/** `hourbank serve` as a process of its own; returns its address. */
export async function serveAsProcess(databaseUrl: string): Promise<string> {
  const port = await freePort()
  const env = environment(databaseUrl, { PORT: `${port}`, LOG_LEVEL: 'warn' })
  const child = spawn(process.execPath, [COMMAND, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`hourbank serve ended: ${output}`)
    return output.includes('Hourbank is running.')
  })
  return `http://127.0.0.1:${port}`
}
