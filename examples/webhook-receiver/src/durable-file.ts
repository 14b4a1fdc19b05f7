import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The new content or the old one, whenever the power goes: never half of it. */
export async function writeDurably(file: string, content: object): Promise<void> {
  const draft = `${file}.new`
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(content))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
  await syncFolder(dirname(file))
}

export async function readDurable<T extends object>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A new name is on disk only when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
