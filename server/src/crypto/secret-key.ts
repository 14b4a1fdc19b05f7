import { randomBytes, randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Refusal } from '../core/refusal.ts'

const KEY_BYTES = 32

/** SECRET_KEY, or the one kept beside the embedded database; made on the first start. */
export async function loadSecretKey(config: Config): Promise<string> {
  if (config.secretKey !== undefined) return config.secretKey
  const file = join(config.dataDir, 'secret-key')
  const key = (await readIfThere(file)) ?? (await makeKey(file))
  // A file that was cut off would otherwise encrypt with next to nothing.
  if (key.length < KEY_BYTES) throw new Refusal(`${file} holds no key. Bring it back from where you keep a copy of it.`)
  return key
}

/** Of two that start at once, one makes it and both read it, whole: a link appears with all that it leads to. */
async function makeKey(file: string): Promise<string> {
  // Not by the process's number, which two containers may share.
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

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
