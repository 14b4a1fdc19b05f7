import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** What is built is run: `npm test` builds before it tests. */
const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))

export const SECRET_KEY = 'test'.repeat(8)

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

export type Settings = Record<string, string>

export function start(
  args: string[],
  settings: Settings,
): ChildProcess & { outcome: Promise<Outcome>; printed: () => Outcome } {
  // Only what is named here, so that the settings of the user's shell do not affect the tests.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, SECRET_KEY, ...settings }
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: Outcome = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (text) => (printed.stdout += text))
  child.stderr.on('data', (text) => (printed.stderr += text))
  const outcome = once(child, 'close').then(([code]) => ({ ...printed, code }))
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await outcome
  })
  return Object.assign(child, { outcome, printed: () => printed })
}

export const run = (args: string[], settings: Settings): Promise<Outcome> => start(args, settings).outcome
