import { Refusal } from '../core/refusal.ts'
import { ROWS_END } from './backup-format.ts'

/** Only rows are longer than this; a file without line ends is not a backup. */
const LINE_BYTES_MAX = 1024 * 1024
/** zlib's error message. */
const NOT_GZIP = 'incorrect header check'
const LINE_END = Buffer.from('\n')
const LAST_LINE = Buffer.from(`\n${ROWS_END}`)

/** The file is not a backup, is damaged or truncated, or needs a newer version. */
export class UnusableBackup extends Refusal {}

export interface BackupText {
  /** Reads the next line, without its line end; returns undefined after the last one. */
  line(): Promise<string | undefined>
  /** Yields the following rows, without the line that ends them. A chunk may end within a row. */
  rows(): AsyncGenerator<Buffer>
}

export function readText(file: string, chunks: AsyncIterable<Buffer>): BackupText {
  const source = chunks[Symbol.asyncIterator]()
  let buffered: Buffer = Buffer.alloc(0)
  let hasLines = false

  async function readMore(): Promise<boolean> {
    const next = await source.next().catch((error: unknown) => {
      throw toUnusable(file, error)
    })
    if (next.done) return false
    buffered = buffered.length === 0 ? next.value : Buffer.concat([buffered, next.value])
    return true
  }

  async function line(): Promise<string | undefined> {
    let end = buffered.indexOf(LINE_END)
    while (end < 0) {
      const searched = buffered.length
      if (searched > LINE_BYTES_MAX) throw hasLines ? damaged(file, 'a line is too long') : notABackup(file)
      if (!(await readMore())) {
        if (buffered.length > 0) throw hasLines ? cutOff(file) : notABackup(file)
        return undefined
      }
      end = buffered.indexOf(LINE_END, searched)
    }
    const text = buffered.toString('utf8', 0, end)
    buffered = buffered.subarray(end + 1)
    hasLines = true
    return text
  }

  async function* rows(): AsyncGenerator<Buffer> {
    // Prepend a line end, so that the end marker is found in the same way for an empty table.
    buffered = Buffer.concat([LINE_END, buffered])
    let from = LINE_END.length
    for (;;) {
      const end = buffered.indexOf(LAST_LINE)
      const until = end >= 0 ? end + LINE_END.length : buffered.length - LAST_LINE.length + 1
      if (until > from) {
        yield buffered.subarray(from, until)
        buffered = buffered.subarray(until)
        from = 0
      }
      if (end >= 0) {
        buffered = buffered.subarray(from + ROWS_END.length)
        return
      }
      if (!(await readMore())) throw cutOff(file)
    }
  }

  return { line, rows }
}

/** Explains an error of the streams that a backup passes through. */
export function toUnusable(file: string, error: unknown): UnusableBackup {
  if (error instanceof UnusableBackup) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (!code?.startsWith('Z_')) return unreadable(file, error as Error)
  // zlib's code for truncated input.
  if (code === 'Z_BUF_ERROR') return cutOff(file, error)
  return message === NOT_GZIP ? notABackup(file, error) : damaged(file, message, error)
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
  return new UnusableBackup(`${file} is cut off, or has something after its end.`, { cause })
}

export function damaged(file: string, how: string, cause?: unknown): UnusableBackup {
  return new UnusableBackup(`${file} is damaged: ${how}.`, { cause })
}
