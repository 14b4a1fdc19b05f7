import { neutralise } from './formulas.ts'

/** Numbers and booleans are written unchanged; text may need protection from being read as a formula. */
export type CsvValue = string | number | boolean | null

const CHUNK_LENGTH = 64 * 1024
const LINE_END = '\r\n'
const NEEDS_QUOTES = /[",\r\n]/

/** Formats comma-separated values (RFC 4180) in chunks of about CHUNK_LENGTH. */
export async function* writeCsv(
  header: readonly string[],
  rows: AsyncIterable<CsvValue[][]> | Iterable<CsvValue[][]>,
): AsyncGenerator<string> {
  let text = csvLine([...header])
  for await (const batch of rows) {
    for (const values of batch) {
      text += csvLine(values)
      if (text.length < CHUNK_LENGTH) continue
      yield text
      text = ''
    }
  }
  yield text
}

export function csvLine(values: CsvValue[]): string {
  // A lone empty field would be an empty line, which readers skip.
  if (values.length === 1 && (values[0] === '' || values[0] === null)) return `""${LINE_END}`
  return values.map(csvField).join(',') + LINE_END
}

function csvField(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = neutralise(value)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
