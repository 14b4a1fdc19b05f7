import { randomBytes } from 'node:crypto'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../core/refusal.ts'

const BYTE_ORDER_MARK = '\uFEFF'

interface CsvFileOptions {
  /** Replaces an existing file. */
  overwrite?: boolean
  /** For spreadsheets that would otherwise assume a legacy encoding. */
  byteOrderMark?: boolean
}

/** Writes the complete file or none. Only the owner can read it, because it holds personal data. */
export async function writeCsvFile(
  file: string,
  text: AsyncIterable<string>,
  { overwrite = false, byteOrderMark = false }: CsvFileOptions = {},
): Promise<void> {
  if (!overwrite && (await exists(file))) {
    throw new Refusal(`${file} already exists. Choose another name, or add --overwrite.`)
  }
  const partial = `${file}.partial-${randomBytes(8).toString('hex')}`
  try {
    const handle = await open(partial, 'wx', 0o600).catch((cause: Error) => {
      throw new Refusal(`${file} cannot be written: ${cause.message}`, { cause })
    })
    const output = handle.createWriteStream()
    if (byteOrderMark) output.write(BYTE_ORDER_MARK)
    await pipeline(text, output)
    await rename(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw new Refusal(`${file} cannot be written: ${error.message}`, { cause: error })
    },
  )
}
