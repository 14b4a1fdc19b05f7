import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { eventually, freePort } from './bank.ts'
import { COMMAND } from './command-line.ts'

/** A busy machine takes minutes. */
export const START_MS = 600_000

export interface KillableService {
  url: string
  pid(): number
  /** With SIGKILL. */
  kill(): Promise<void>
  /** On the same port. */
  restart(): Promise<void>
  killAndRestart(): Promise<void>
}

/** `hourbank serve` as a process of its own, of this version or another one. */
export async function startKillable(settings: Record<string, string>, command = COMMAND): Promise<KillableService> {
  const port = await freePort()
  // Only what is named here, so that the settings of the user's shell do not affect the tests.
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: `${port}`, ...settings }
  let child: ChildProcess

  async function start(): Promise<void> {
    child = spawn(process.execPath, [command, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += `${chunk}`))
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(`hourbank serve ended: ${output}`)
      return output.includes('Hourbank is running.')
    }, START_MS)
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    pid: () => child.pid!,
    kill,
    restart: start,
    async killAndRestart() {
      await kill()
      await start()
    },
  }
}
