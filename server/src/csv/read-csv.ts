import { pipeline, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { CsvError, parse } from 'csv-parse'
import { BrokenCsv } from './broken-csv.ts'
import { countLineEnds, decodeText } from './decode-text.ts'
import { DELIMITER_LINE, DELIMITERS, PLAIN_FORMAT, type FileFormat } from './file-format.ts'
import { because } from '../core/reasons.ts'

const FIELD_LENGTH_MAX = 100_000
const FIELDS_MAX = 1_000
/** A file with a longer row is not a table. */
const ROW_BYTES_MAX = 1024 * 1024
/** The parser reads a piece in one go: 8,000 rows of one letter take 10 ms. */
const PIECE_LENGTH_MAX = 16 * 1024

export interface CsvRecord {
  /** The first line of the record; a quoted field may span several lines. */
  line: number
  fields: string[]
}

interface ParsedRecord {
  record: string[]
  raw: string
}

/**
 * Reads delimited values, quoted as in RFC 4180, with CRLF or LF. Skips empty lines, and a first line that names the
 * delimiter. Holds one chunk and the records of a piece of it in memory at a time, and lets others work after each piece.
 */
export async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, delimiter }: FileFormat = PLAIN_FORMAT,
): AsyncGenerator<CsvRecord> {
  const { addLine, nextLine } = createLineCounter()
  const parser = parse({
    delimiter: DELIMITERS[delimiter],
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: ROW_BYTES_MAX,
    raw: true,
    // Called for each record before an error in the same chunk ends the stream.
    on_record(parsed: unknown) {
      // The parser makes an error, with its stack, for each record that is not as wide as the first, also if it may be:
      // 60 µs and more instead of 1. To the parser, every record is the first.
      counts.records = 0
      return addLine(parsed as ParsedRecord) as never
    },
  })
  const counts: { records: number } = parser.info
  // Errors reach the loop through the parser.
  pipeline(Readable.from(inPieces(decodeText(bytes, encoding))), parser, () => {})
  try {
    yield* parser as AsyncIterable<CsvRecord>
  } catch (error) {
    throw error instanceof CsvError ? explain(error, nextLine()) : error
  }
}

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    let rest = text
    while (rest.length > PIECE_LENGTH_MAX) {
      // Each piece is encoded for itself, so both halves of a character must be in one.
      const length = PIECE_LENGTH_MAX - (isHighSurrogate(rest.charCodeAt(PIECE_LENGTH_MAX - 1)) ? 1 : 0)
      yield rest.slice(0, length)
      rest = rest.slice(length)
      await setImmediate()
    }
    yield rest
  }
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff

/** Counts lines itself: the parser takes a CRLF within quotes for two. */
function createLineCounter() {
  let line = 1
  let isFirst = true
  /** Null for what is no row; the parser then leaves it out. */
  function addLine({ record: fields, raw }: ParsedRecord): CsvRecord | null {
    // Skipped lines are part of the next record's text, with one character each.
    const row = raw.replace(/^[\r\n]+/, '')
    const first = line + raw.length - row.length
    const text = row.replace(/\r?\n?$/, '')
    checkRow(first, fields, text)
    line = first + 1 + countLineEnds(text)
    const isRow = !isFirst || !DELIMITER_LINE.test(text)
    isFirst = false
    return isRow ? { line: first, fields } : null
  }
  return { addLine, nextLine: () => line }
}

function checkRow(line: number, fields: string[], text: string): void {
  if (fields.length > FIELDS_MAX) throw new BrokenCsv(line, because('fields_max', { max: FIELDS_MAX }))
  if (fields.some((field) => field.length > FIELD_LENGTH_MAX)) {
    throw new BrokenCsv(line, because('field_length', { max: FIELD_LENGTH_MAX }))
  }
  if (!text.includes('\r')) return
  const unquoted = text.replaceAll(/"[^"]*"/g, '')
  if (unquoted.includes('\r')) {
    throw new BrokenCsv(line, because('carriage_return'))
  }
}

function explain(error: CsvError, rowLine: number): BrokenCsv {
  const { code, lines } = error as CsvError & { lines?: number }
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new BrokenCsv(rowLine, because('quote_open'))
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new BrokenCsv(rowLine, because('row_too_long', { max: ROW_BYTES_MAX }))
  }
  const line = Math.max(rowLine, lines ?? rowLine)
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return new BrokenCsv(line, because('quote_text_behind'))
  return new BrokenCsv(line, because('quote_inside'))
}
