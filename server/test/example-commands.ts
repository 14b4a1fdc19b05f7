import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { TestPartner } from './bank.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Running {
  /** What it has printed, on both streams. */
  output(): string
  /** Waits until it has printed this. */
  printed(text: string): Promise<void>
  /** Waits for its end. */
  ended(): Promise<number | null>
  kill(): Promise<void>
}

/** The command of an example's README that holds this text: what is written there is what is tested. */
export function readmeCommand(example: string, text: string): string {
  const readme = readFileSync(join(ROOT, 'examples', example, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!)
  const found = blocks.flatMap((block) => block.trim().split('\n')).filter((line) => line.includes(text))
  if (found.length !== 1) throw new Error(`${found.length} commands with '${text}' in the README of ${example}`)
  return found[0]!
}

/** Runs a command as a person would: in a shell, in the project's folder. */
export function runCommand(command: string, env: Record<string, string> = {}): Running {
  const { PATH, HOME } = process.env
  // A group of its own: npx and tsx start processes, and all of them have to end.
  const child = spawn('sh', ['-c', command], {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const heard = new EventEmitter()
  let output = ''
  let isClosed = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      heard.emit('more')
    })
  }
  const closed = once(child, 'close').then(([code]) => {
    isClosed = true
    heard.emit('more')
    return code as number | null
  })

  async function kill(): Promise<void> {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // All of them have ended by themselves.
    }
    await closed
  }
  onTestFinished(kill)
  return {
    output: () => output,
    async printed(text) {
      while (!output.includes(text)) {
        if (isClosed) throw new Error(`ended before it printed '${text}': ${output}`)
        await once(heard, 'more')
      }
    },
    ended: () => closed,
    kill,
  }
}

/** The settings that every example reads. */
export function settingsFor(url: string, { clientId, clientSecret }: TestPartner): Record<string, string> {
  return { HOURBANK_URL: url, HOURBANK_CLIENT_ID: clientId, HOURBANK_CLIENT_SECRET: clientSecret }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hourbank-example-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
