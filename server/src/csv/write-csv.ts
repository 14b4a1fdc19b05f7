import { DELIMITERS, type Delimiter } from './file-format.ts'
import { neutralise } from './formulas.ts'

/** Numbers and booleans are not quoted; text may need protection from being read as a formula. */
export type CsvValue = string | number | boolean | null

const CHUNK_LENGTH = 64 * 1024
const LINE_END = '\r\n'

/** Formats delimited values (RFC 4180) in chunks of about CHUNK_LENGTH. */
export async function* writeCsv(
  header: readonly string[],
  rows: AsyncIterable<CsvValue[][]> | Iterable<CsvValue[][]>,
  delimiter: Delimiter = 'comma',
): AsyncGenerator<string> {
  let text = csvLine([...header], delimiter)
  for await (const batch of rows) {
    for (const values of batch) {
      text += csvLine(values, delimiter)
      if (text.length < CHUNK_LENGTH) continue
      yield text
      text = ''
    }
  }
  yield text
}

export function csvLine(values: CsvValue[], delimiter: Delimiter = 'comma'): string {
  // A lone empty field would be an empty line, which readers skip.
  if (values.length === 1 && (values[0] === '' || values[0] === null)) return `""${LINE_END}`
  return values.map((value) => csvField(value, delimiter)).join(DELIMITERS[delimiter]) + LINE_END
}

const NEEDS_QUOTES: Record<Delimiter, RegExp> = { comma: /[",\r\n]/, semicolon: /[";\r\n]/, tab: /["\t\r\n]/ }

function csvField(value: CsvValue, delimiter: Delimiter): string {
  if (value === null) return ''
  if (typeof value === 'number') return writeNumber(value, delimiter)
  if (typeof value !== 'string') return String(value)
  const text = neutralise(value)
  return NEEDS_QUOTES[delimiter].test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheets that expect semicolons expect decimal commas; they would take 1.5 for a date. */
function writeNumber(value: number, delimiter: Delimiter): string {
  return delimiter === 'semicolon' ? String(value).replace('.', ',') : String(value)
}
