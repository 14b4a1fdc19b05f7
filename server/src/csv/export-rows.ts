import { randomBytes } from 'node:crypto'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Progress } from '../core/progress.ts'
import { begin, type Sql, type Transaction } from '../postgres/connect.ts'
import { Refusal } from '../core/refusal.ts'
import { writeCsv, type CsvValue } from './write-csv.ts'

const CURSOR_ROWS = 1_000
const BYTE_ORDER_MARK = '\uFEFF'

/** What can be exported. */
export interface Export<Row extends object> {
  columns: readonly string[]
  /** Many tables are joined whole: to look up row by row takes longer. */
  joinsAll?: true
  /** The statement is read through a cursor. */
  select(tx: Transaction): { cursor(rows: number): AsyncIterable<Row[]> }
  values(row: Row): CsvValue[]
  count(tx: Transaction): Promise<number>
}

/** As of one moment, on a connection of its own, one batch of rows in memory at a time. */
export async function exportRows<Row extends object>(
  sql: Sql,
  what: Export<Row>,
  write: (text: AsyncIterable<string>) => Promise<void>,
  onProgress: (progress: Progress) => void = () => {},
): Promise<void> {
  await begin(sql, 'isolation level repeatable read read only', async (tx) => {
    // Whoever reads may be slow.
    await tx`set local statement_timeout = 0`
    await tx`set local idle_in_transaction_session_timeout = 0`
    // The planner takes every community for a small one (migration 0010), and would look up row by row.
    if (what.joinsAll) await tx`set local enable_nestloop = off`
    await write(writeCsv(what.columns, batches(tx, what, onProgress)))
  })
}

async function* batches<Row extends object>(
  tx: Transaction,
  { select, values, count }: Export<Row>,
  onProgress: (progress: Progress) => void,
): AsyncGenerator<CsvValue[][]> {
  const total = await count(tx)
  let done = 0
  onProgress({ done, total, label: 'gathering' })
  for await (const rows of select(tx).cursor(CURSOR_ROWS)) {
    yield rows.map(values)
    done += rows.length
    onProgress({ done, total, label: 'writing' })
  }
}

export interface CsvFileOptions {
  /** Replaces the file if there is one. */
  overwrite?: boolean
  /** For spreadsheets that otherwise guess an older encoding. */
  byteOrderMark?: boolean
}

/** All of it or no file; readable for its owner only, because it holds what people would not want passed on. */
export async function writeCsvFile(
  file: string,
  text: AsyncIterable<string>,
  { overwrite = false, byteOrderMark = false }: CsvFileOptions = {},
): Promise<void> {
  if (!overwrite && (await exists(file))) {
    throw new Refusal(`${file} exists already. Choose another name, or add --overwrite.`)
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
