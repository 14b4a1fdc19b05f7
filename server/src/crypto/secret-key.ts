import { randomBytes, randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Refusal } from '../core/refusal.ts'

const KEY_BYTES = 32

/** Returns SECRET_KEY, or the key stored next to the embedded database, which is generated on the first start. */
export async function loadSecretKey(config: Config): Promise<string> {
  if (config.secretKey !== undefined) return config.secretKey
  const file = join(config.dataDir, 'secret-key')
  const key = (await readIfExists(file)) ?? (await createKey(file))
  // A truncated file would otherwise serve as a weak key.
  if (key.length < KEY_BYTES) throw new Refusal(`${file} contains no key. Restore it from your copy.`)
  return key
}

/** If two processes race, one creates the key and both read it: link() publishes the complete file atomically. */
async function createKey(file: string): Promise<string> {
  // Not the process id, which two containers may share.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600 })
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return (await readFile(file, 'utf8')).trim()
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
