import { randomBytes } from 'node:crypto'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Progress } from '../core/progress.ts'
import type { Sql, Transaction } from '../postgres/connect.ts'
import { allowNestedLoops, liftTimeouts } from '../postgres/transaction-settings.ts'
import { Refusal } from '../core/refusal.ts'
import type { Delimiter } from './file-format.ts'
import { writeCsv, type CsvValue } from './write-csv.ts'

const CURSOR_ROWS = 1_000
const BYTE_ORDER_MARK = '\uFEFF'

/** A kind of rows that can be exported. */
export interface Export<Row extends object> {
  columns: readonly string[]
  /** Joins whole tables, for which nested loops are too slow. */
  joinsAll?: true
  /** The statement is read through a cursor. */
  select(tx: Transaction): { cursor(rows: number): AsyncIterable<Row[]> }
  /** The values of the columns, by name. */
  fields(row: Row): Record<string, CsvValue>
  count(tx: Transaction): Promise<number>
}

/** Exports one snapshot on its own connection, with one batch of rows in memory at a time. */
export async function exportRows<Row extends object>(
  sql: Sql,
  source: Export<Row>,
  write: (text: AsyncIterable<string>) => Promise<void>,
  onProgress: (progress: Progress) => void = () => {},
  delimiter: Delimiter = 'comma',
): Promise<void> {
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    // The receiver may be slow.
    await liftTimeouts(tx)
    // The planner assumes that every community is small (migration 0010) and would choose nested loops.
    if (source.joinsAll) await allowNestedLoops(tx, false)
    await write(writeCsv(source.columns, readBatches(tx, source, onProgress), delimiter))
  })
}

async function* readBatches<Row extends object>(
  tx: Transaction,
  { columns, select, fields, count }: Export<Row>,
  onProgress: (progress: Progress) => void,
): AsyncGenerator<CsvValue[][]> {
  const total = await count(tx)
  let done = 0
  onProgress({ done, total, label: 'gathering' })
  for await (const rows of select(tx).cursor(CURSOR_ROWS)) {
    yield rows.map(fields).map((row) => columns.map((column) => row[column] ?? null))
    done += rows.length
    onProgress({ done, total, label: 'writing' })
  }
}

export interface CsvFileOptions {
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
