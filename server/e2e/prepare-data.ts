import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COMMAND } from './service.ts'

const run = promisify(execFile)

/**
 * Makes one migrated data folder for the whole run. Each file's service starts on a copy, which is still its first
 * start, but without creating the database and running every migration again.
 */
export default async function prepareData(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-e2e-prepared-'))
  // As root the database runs as another user, who has to reach the folder.
  await chmod(folder, 0o711)
  const { PATH, HOME, TMPDIR } = process.env
  await run(process.execPath, [COMMAND, 'migrate'], { env: { PATH, HOME, TMPDIR, DATA_DIR: folder } })
  // The workers inherit it.
  process.env.PREPARED_DATA = folder
  return () => rm(folder, { recursive: true, force: true })
}
