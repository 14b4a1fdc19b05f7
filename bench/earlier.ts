import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUTPUT_BYTES_MAX = 10_000_000

/** An earlier version of the service, installed and built in its own folder. */
export interface EarlierVersion {
  /** The path of its `hourbank` command. */
  command: string
  remove(): Promise<void>
}

export async function buildEarlier(commit: string): Promise<EarlierVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-earlier-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await unpack(commit, folder)
    for (const args of [
      ['ci', '--include=dev'],
      ['run', 'build'],
    ]) {
      await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX })
    }
    return { command: join(folder, 'server', 'bin', 'hourbank.js'), remove }
  } catch (cause) {
    await remove()
    throw new Error(
      `Version ${commit} could not be built. It needs the whole history (git fetch --unshallow) and the npm registry.`,
      { cause },
    )
  }
}

async function unpack(commit: string, folder: string): Promise<void> {
  const archive = spawn('git', ['archive', commit], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  const tar = spawn('tar', ['-x', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] })
  const exits = Promise.all([once(archive, 'exit'), once(tar, 'exit')])
  await pipeline(archive.stdout, tar.stdin)
  for (const [code] of await exits) if (code !== 0) throw new Error(`exit code ${code}`)
}
