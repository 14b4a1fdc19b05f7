import { Refusal } from '../core/refusal.ts'
import { ROWS_END } from './backup-format.ts'

/** No line but a row is nearly as long; a file without line ends is no backup. */
const LINE_BYTES_MAX = 1024 * 1024
/** zlib's words. */
const NOT_GZIP = 'incorrect header check'
const LINE_END = Buffer.from('\n')
const LAST_LINE = Buffer.from(`\n${ROWS_END}`)

/** The file is no backup, is damaged or cut off, or is beyond this version. */
export class UnusableBackup extends Refusal {}

export interface BackupText {
  /** The next line without its end; undefined behind the last one. */
  line(): Promise<string | undefined>
  /** The rows that come next, in pieces that may end within a row, and without the line that ends them. */
  rows(): AsyncGenerator<Buffer>
  /** Fails if the file is damaged or cut off. */
  skipToEnd(): Promise<void>
}

export function readText(file: string, chunks: AsyncIterable<Buffer>): BackupText {
  const source = chunks[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  let begun = false

  async function readMore(): Promise<boolean> {
    const next = await source.next().catch((error: NodeJS.ErrnoException) => {
      if (!error.code?.startsWith('Z_')) throw unreadable(file, error)
      // zlib's name for input that ends too early.
      if (error.code === 'Z_BUF_ERROR') throw cutOff(file, error)
      throw error.message === NOT_GZIP ? notABackup(file, error) : damaged(file, error.message, error)
    })
    if (next.done) return false
    held = held.length === 0 ? next.value : Buffer.concat([held, next.value])
    return true
  }

  async function line(): Promise<string | undefined> {
    let end = held.indexOf(LINE_END)
    while (end < 0) {
      const searched = held.length
      if (searched > LINE_BYTES_MAX) throw begun ? damaged(file, 'a line is too long') : notABackup(file)
      if (!(await readMore())) {
        if (held.length > 0) throw begun ? cutOff(file) : notABackup(file)
        return undefined
      }
      end = held.indexOf(LINE_END, searched)
    }
    const text = held.toString('utf8', 0, end)
    held = held.subarray(end + 1)
    begun = true
    return text
  }

  async function* rows(): AsyncGenerator<Buffer> {
    // With a line end in front, the last line is found in the same way whether or not there are rows before it.
    held = Buffer.concat([LINE_END, held])
    let from = LINE_END.length
    for (;;) {
      const end = held.indexOf(LAST_LINE)
      const until = end >= 0 ? end + LINE_END.length : held.length - LAST_LINE.length + 1
      if (until > from) {
        yield held.subarray(from, until)
        held = held.subarray(until)
        from = 0
      }
      if (end >= 0) {
        held = held.subarray(from + ROWS_END.length)
        return
      }
      if (!(await readMore())) throw cutOff(file)
    }
  }

  async function skipToEnd(): Promise<void> {
    do held = Buffer.alloc(0)
    while (await readMore())
  }

  return { line, rows, skipToEnd }
}

export function unreadable(file: string, cause: Error): UnusableBackup {
  return new UnusableBackup(`${file} cannot be read: ${cause.message}`, { cause })
}

export function notABackup(file: string, cause?: unknown): UnusableBackup {
  return new UnusableBackup(`${file} is not a backup of Hourbank's.`, { cause })
}

export function newer(file: string, what: string): UnusableBackup {
  return new UnusableBackup(
    `${file} was made by a newer version of Hourbank (${what}). Restore it with that version or a later one.`,
  )
}

export function cutOff(file: string, cause?: unknown): UnusableBackup {
  return new UnusableBackup(`${file} is cut off: its end is missing.`, { cause })
}

export function damaged(file: string, how: string, cause?: unknown): UnusableBackup {
  return new UnusableBackup(`${file} is damaged: ${how}.`, { cause })
}
