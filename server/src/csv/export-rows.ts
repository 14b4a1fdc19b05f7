import type { Progress } from '../core/progress.ts'
import type { Sql, Transaction } from '../postgres/connect.ts'
import { allowNestedLoops, liftTimeouts } from '../postgres/transaction-settings.ts'
import type { Delimiter } from './file-format.ts'
import { writeCsv, type CsvValue } from './write-csv.ts'

const CURSOR_ROWS = 1_000

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
  onProgress?: (progress: Progress) => void,
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
  onProgress: ((progress: Progress) => void) | undefined,
): AsyncGenerator<CsvValue[][]> {
  // Counting takes about as long as reading.
  const total = onProgress && (await count(tx))
  let done = 0
  onProgress?.({ done, total, label: 'gathering' })
  for await (const rows of select(tx).cursor(CURSOR_ROWS)) {
    yield rows.map(fields).map((row) => columns.map((column) => row[column] ?? null))
    done += rows.length
    onProgress?.({ done, total, label: 'writing' })
  }
}
