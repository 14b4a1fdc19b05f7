import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  const archive = join(folder, 'version.tar')
  await promisify(execFile)('git', ['archive', '-o', archive, commit], { cwd: ROOT })
  await promisify(execFile)('tar', ['-x', '-f', archive, '-C', folder])
}
