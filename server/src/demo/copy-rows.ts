import type { Transaction } from '../postgres/connect.ts'

const CHUNK_LENGTH = 64 * 1024

export type CopyValue = string | number | boolean | Date | null | undefined

/** Loads rows with COPY, with one chunk in memory. */
export async function copyRows(
  tx: Transaction,
  table: string,
  columns: string,
  rows: Iterable<CopyValue[]>,
  onRows: (count: number) => void,
): Promise<void> {
  await tx.copyIn(`copy ${table} (${columns}) from stdin`, copyText(rows, onRows))
}

async function* copyText(rows: Iterable<CopyValue[]>, onRows: (count: number) => void): AsyncGenerator<string> {
  let text = ''
  let rowsInChunk = 0
  for (const row of rows) {
    text += `${row.map(copyField).join('\t')}\n`
    rowsInChunk++
    if (text.length < CHUNK_LENGTH) continue
    yield text
    onRows(rowsInChunk)
    text = ''
    rowsInChunk = 0
  }
  yield text
  onRows(rowsInChunk)
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyField(value: CopyValue): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'string') return value.replaceAll(/[\\\t\n\r]/g, (letter) => ESCAPED[letter]!)
  return value instanceof Date ? value.toISOString() : String(value)
}
