import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { giveToOwnerOf } from '../core/give-to-owner.ts'
import { Refusal } from '../core/refusal.ts'

const KEY_BYTES = 32
const KEY_MODE = 0o600
/** The permissions of the group and of everybody else. */
const OTHERS = 0o077

/** Returns SECRET_KEY, or the key stored next to the embedded database, which is generated on the first start. */
export async function loadSecretKey(config: Config): Promise<string> {
  return (await findSecretKey(config)) ?? createKey(keyFile(config.dataDir), randomBytes(KEY_BYTES).toString('hex'))
}

/** Like `loadSecretKey`, but generates nothing. */
export async function findSecretKey(config: Config): Promise<string | undefined> {
  return config.secretKey ?? readKeyFile(config.dataDir)
}

/** Stores the key of another installation in the data folder, unless there is one or SECRET_KEY is set. */
export async function adoptSecretKey(config: Config, key: string): Promise<void> {
  if ((await findSecretKey(config)) === undefined) await createKey(keyFile(config.dataDir), key)
}

/** Also closes the file to others: an operator may have moved it here with wider permissions. */
export async function readKeyFile(dataDir: string): Promise<string | undefined> {
  const file = keyFile(dataDir)
  const key = await readIfExists(file)
  if (key === undefined) return undefined
  // A truncated file would otherwise serve as a weak key.
  if (key.length < KEY_BYTES) throw new Refusal(`${file} contains no key. Restore it from your copy.`)
  await closeToOthers(file)
  return key
}

function keyFile(dataDir: string): string {
  return join(dataDir, 'secret-key')
}

/** If two processes race, one creates the key and both read it: link() publishes the complete file atomically. */
async function createKey(file: string, key: string): Promise<string> {
  // Not the process id, which two containers may share.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, key, { mode: KEY_MODE })
  try {
    await giveToOwnerOf(dirname(file), draft)
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return (await readFile(file, 'utf8')).trim()
}

async function closeToOthers(file: string): Promise<void> {
  const { mode } = await stat(file)
  if ((mode & OTHERS) === 0) return
  await chmod(file, KEY_MODE).catch((cause: NodeJS.ErrnoException) => {
    // Kubernetes and systemd mount secrets read-only, with a mode that their operator chose.
    if (cause.code === 'EROFS') return
    throw new Refusal(`${file} is readable by other users and cannot be closed to them: ${cause.message}`, { cause })
  })
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
