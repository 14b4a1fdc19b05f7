import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COMMAND, startOn } from './service.ts'

const run = promisify(execFile)

/**
 * Makes two data folders for the whole run, of which each file's service gets a copy: a migrated one, and one that a
 * first start has filled with the demo. What that start printed is kept beside them, because it holds the credentials.
 */
export default async function prepareData(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-e2e-prepared-'))
  // As root the database runs as another user, who has to reach the folder.
  await chmod(folder, 0o711)
  // The workers inherit these.
  process.env.PREPARED_EMPTY = join(folder, 'empty')
  process.env.PREPARED_DEMO = join(folder, 'demo')
  process.env.PREPARED_OUTPUT = join(folder, 'output')
  const { PATH, HOME, TMPDIR, PREPARED_EMPTY, PREPARED_DEMO, PREPARED_OUTPUT } = process.env
  await run(process.execPath, [COMMAND, 'migrate'], { env: { PATH, HOME, TMPDIR, DATA_DIR: PREPARED_EMPTY } })
  await run('cp', ['-a', PREPARED_EMPTY!, PREPARED_DEMO!])
  const first = await startOn(PREPARED_DEMO!)
  await writeFile(PREPARED_OUTPUT!, first.output())
  await first.stop()
  return () => rm(folder, { recursive: true, force: true })
}
