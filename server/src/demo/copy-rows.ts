import type { Transaction } from '../postgres/connect.ts'

const CHUNK_LENGTH = 64 * 1024

export type CopyValue = string | number | boolean | Date | null | undefined

/** Brings rows into a table by COPY: as fast as PostgreSQL takes them, one chunk in memory at a time. */
export async function copyRows(
  tx: Transaction,
  table: string,
  columns: string[],
  rows: Iterable<CopyValue[]>,
  onRows: (count: number) => void,
): Promise<void> {
  await tx.copyIn(`copy ${table} (${columns.join(', ')}) from stdin`, copyText(rows, onRows))
}

async function* copyText(rows: Iterable<CopyValue[]>, onRows: (count: number) => void): AsyncGenerator<string> {
  let text = ''
  let waiting = 0
  for (const row of rows) {
    text += `${row.map(copyField).join('\t')}\n`
    waiting++
    if (text.length < CHUNK_LENGTH) continue
    yield text
    onRows(waiting)
    text = ''
    waiting = 0
  }
  yield text
  onRows(waiting)
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyField(value: CopyValue): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'string') return value.replaceAll(/[\\\t\n\r]/g, (letter) => ESCAPED[letter]!)
  return value instanceof Date ? value.toISOString() : String(value)
}
