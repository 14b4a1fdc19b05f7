import type { Writable } from 'node:stream'
import type { Transaction } from '../db/connect.ts'

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
  const into = await tx.unsafe(`copy ${table} (${columns.join(', ')}) from stdin`).writable()
  // Told by the statement that follows.
  into.on('error', () => {})
  let text = ''
  let waiting = 0
  for (const row of rows) {
    text += `${row.map(copyField).join('\t')}\n`
    waiting++
    if (text.length < CHUNK_LENGTH) continue
    await write(into, text)
    onRows(waiting)
    text = ''
    waiting = 0
  }
  await write(into, text)
  onRows(waiting)
  // The driver's stream sends CopyFail even after a good end; the server ignores it, but the next statement then waits.
  Object.assign(into, { _destroy: (error: Error | null, closed: (error?: Error | null) => void) => closed(error) })
  into.end()
  // The driver does not tell when a COPY fails after its last row was sent; but then this fails.
  await tx`select 1`
}

function write(into: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    into.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyField(value: CopyValue): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'string') return value.replaceAll(/[\\\t\n\r]/g, (letter) => ESCAPED[letter]!)
  return value instanceof Date ? value.toISOString() : String(value)
}
