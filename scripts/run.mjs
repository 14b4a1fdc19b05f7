// Shared by the scripts in this folder. They run before `npm ci`, so they use only Node, and only syntax that
// an old Node can parse, so that it can report that it is too old.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** An error that the user can fix; it is shown as one sentence without a stack trace. */
export class Failure extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Prints progress to standard error, because standard output belongs to the service and to `--json`. */
export function say(message) {
  process.stderr.write(`${message}\n`)
}

export function requireNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const needed = engines.node.replace(/^>=/, '')
  const [neededMajor, neededMinor] = needed.split('.').map(Number)
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return
  throw new Failure(`Hourbank needs Node.js ${needed} or newer; this is ${process.versions.node}.`)
}

/** Exits with the message and exit code of a Failure. Any other error is a bug and keeps its stack trace. */
export async function endOnFailure(work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.message) say(error.message)
    process.exit(error.exitCode)
  }
}

/**
 * Runs a program and resolves to its exit code. Its standard output goes to our standard error unless
 * `stdout` says otherwise.
 *
 * While it runs, a signal ends the program first and then this process, so that no orphan and no lock is left
 * behind. A terminal sends SIGINT to both; only SIGTERM has to be forwarded.
 */
export function run(command, args, { cwd = root, env = process.env, stdout = 2, stderr = 'inherit' } = {}) {
  return new Promise((resolve, reject) => {
    let interruptedBy
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', stdout, stderr] })
    const onInterrupt = () => (interruptedBy = 'SIGINT')
    const onTerminate = () => {
      interruptedBy = 'SIGTERM'
      child.kill('SIGTERM')
    }
    const stopListening = () => {
      process.off('SIGINT', onInterrupt)
      process.off('SIGTERM', onTerminate)
    }
    process.on('SIGINT', onInterrupt)
    process.on('SIGTERM', onTerminate)

    child.on('error', (error) => {
      stopListening()
      reject(new Failure(`${command} could not be started: ${error.message}`))
    })
    child.on('exit', (code, signal) => {
      stopListening()
      if (interruptedBy) reject(new Failure('', 128 + constants.signals[interruptedBy]))
      else resolve(code === null ? 128 + constants.signals[signal] : code)
    })
  })
}
