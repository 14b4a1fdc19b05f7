import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

const KEY_BYTES = 32

/** SECRET_KEY, or the one kept beside the embedded database; made on the first start. */
export async function loadSecretKey(config: Config): Promise<string> {
  if (config.secretKey !== undefined) return config.secretKey
  const file = join(config.dataDir, 'secret-key')
  // 'wx': of two that start at once, one writes and both read.
  await writeFile(file, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(file, 'utf8')).trim()
}
