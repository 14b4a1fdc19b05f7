import { randomBytes } from 'node:crypto'
import { link, lstat, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Refusal } from './refusal.ts'

/** link() fails with these on file systems without hard links. */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

interface WholeFileOptions {
  /** Replaces an existing file. */
  overwrite?: boolean
  /** What to do about an existing file. */
  ifExists?: string
}

type Write = (chunk: string | Buffer) => Promise<void>

/**
 * Writes a file that an operator names: complete, durable and readable by its owner only, or not at all. It is written
 * under another name and gets its own once it is on the disk. Resolves with the number of bytes.
 */
export async function writeWholeFile(
  file: string,
  fill: (write: Write) => Promise<void>,
  { overwrite = false, ifExists = 'Choose another name.' }: WholeFileOptions = {},
): Promise<number> {
  const explain = (cause: Error) => {
    throw new Refusal(`${file} cannot be written: ${cause.message}`, { cause })
  }
  const alreadyExists = (cause?: unknown) => new Refusal(`${file} already exists. ${ifExists}`, { cause })

  async function rejectExisting(): Promise<void> {
    const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') explain(error)
    })
    if (found) throw alreadyExists()
  }

  async function fillAndSync(handle: FileHandle): Promise<number> {
    await fill((chunk) => handle.writeFile(chunk).catch(explain))
    await handle.sync().catch(explain)
    return (await handle.stat()).size
  }

  async function moveIntoPlace(partial: string): Promise<void> {
    if (overwrite) return rename(partial, file).catch(explain)
    try {
      // Not rename(), which would replace a file created since the check.
      await link(partial, file)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') throw alreadyExists(error)
      if (!NO_HARD_LINKS.has(code)) return explain(error as Error)
      await rejectExisting()
      await rename(partial, file).catch(explain)
    }
  }

  if (!overwrite) await rejectExisting()
  const partial = `${file}.partial-${randomBytes(8).toString('hex')}`
  const handle = await open(partial, 'wx', 0o600).catch(explain)
  try {
    const bytes = await fillAndSync(handle).finally(() => handle.close())
    await moveIntoPlace(partial)
    await syncFolder(dirname(file))
    return bytes
  } finally {
    await rm(partial, { force: true })
  }
}

/** A file name is durable only after its folder is synced. Network file systems that cannot do this need not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
