import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { GrownTown } from './growth-towns.ts'
import { watchMemory } from './memory.ts'
import { peakResidentBytes, SECRET_KEY } from './service.ts'

const COMMAND = fileURLToPath(new URL('../server/bin/hourbank.js', import.meta.url))
const COMMANDS = [
  ['members', 'export', 'FILE', '--community', 'demo', '--overwrite'],
  ['transfers', 'export', 'FILE', '--community', 'demo', '--overwrite'],
  ['ledger', 'verify'],
]

export interface CommandMemory {
  command: string
  /** One entry per town, by size. */
  residentBytesMax: (number | undefined)[]
  seconds: number[]
}

/** Measures the memory of long commands, which must not grow with the town. */
export async function measureCommands(
  towns: GrownTown[],
  onProgress: (text: string) => void,
): Promise<CommandMemory[]> {
  const dir = await mkdtemp(join(tmpdir(), 'hourbank-bench-'))
  const file = join(dir, 'rows.csv')
  const results: CommandMemory[] = []
  for (const args of COMMANDS) {
    const command = args.slice(0, 2).join(' ')
    const result: CommandMemory = { command, residentBytesMax: [], seconds: [] }
    for (const { service, size } of towns) {
      onProgress(`hourbank ${command}, ${size.toLocaleString('en-US')} members`)
      const startedMs = performance.now()
      result.residentBytesMax.push(await watch(service.databaseUrl, inFile(args, file)))
      result.seconds.push((performance.now() - startedMs) / 1000)
    }
    results.push(result)
  }
  await rm(dir, { recursive: true, force: true })
  return results
}

function inFile(args: string[], file: string): string[] {
  return args.map((part) => (part === 'FILE' ? file : part))
}

async function watch(databaseUrl: string, args: string[]): Promise<number | undefined> {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH, HOME, DATABASE_URL: databaseUrl, SECRET_KEY },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const memory = watchMemory(() => peakResidentBytes(child.pid!))
  const [code] = await once(child, 'exit')
  memory.stop()
  if (code !== 0) throw new Error(`hourbank ${args.join(' ')} ended with code ${code}`)
  return memory.max()
}
