import { Refusal } from '../core/refusal.ts'

const FIELD_LENGTH_MAX = 100_000
const FIELDS_MAX = 1_000
/** A file with a longer line is not a table. */
const LINE_BYTES_MAX = 4 * 1024 * 1024

const LF = 10
const BYTE_ORDER_MARK = '\uFEFF'
const UTF16_MARKS = new Set(['fffe', 'feff'])

export interface CsvRecord {
  /** The first line of the record; a quoted field may span several lines. */
  line: number
  fields: string[]
}

/** The file is not valid CSV from this line on. */
export class BrokenCsv extends Refusal {
  constructor(
    readonly line: number,
    readonly problem: string,
  ) {
    super(`Line ${line}: ${problem}`)
  }
}

/**
 * Reads comma-separated values (RFC 4180) in UTF-8, with or without a byte order mark, with CRLF or LF. Skips empty
 * lines. Holds one chunk and one record in memory at a time.
 */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const parser = createRecordParser()
  for await (const piece of readWholeLines(bytes)) yield* parser.records(piece)
  const last = parser.end()
  if (last) yield last
}

/** Yields whole lines. Splitting bytes at line ends is safe: no multi-byte UTF-8 sequence contains that byte. */
async function* readWholeLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = []
  let pendingLength = 0
  let line = 1
  let isFirst = true

  function decode(last: Uint8Array): string {
    const whole = Buffer.concat([...pending, last])
    pending = []
    pendingLength = 0
    if (isFirst && UTF16_MARKS.has(whole.toString('hex', 0, 2))) {
      throw new BrokenCsv(1, 'The file is in UTF-16. Save it as CSV in UTF-8.')
    }
    const text = decodeUtf8(whole, line)
    line += countLineEnds(text)
    const hasMark = isFirst && text.startsWith(BYTE_ORDER_MARK)
    isFirst = false
    return hasMark ? text.slice(BYTE_ORDER_MARK.length) : text
  }

  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(LF) + 1
    if (end > 0) yield decode(chunk.subarray(0, end))
    pending.push(chunk.subarray(end))
    pendingLength += chunk.length - end
    if (pendingLength > LINE_BYTES_MAX) throw new BrokenCsv(line, `The line is longer than ${LINE_BYTES_MAX} bytes.`)
  }
  if (pendingLength > 0) yield decode(new Uint8Array())
}

function decodeUtf8(bytes: Buffer, firstLine: number): string {
  const text = tryDecodeUtf8(bytes)
  if (text !== undefined && !text.includes('\0')) return text
  // Something is wrong: decode line by line to report where.
  let line = firstLine
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(LF, from)
    const to = end < 0 ? bytes.length : end + 1
    const one = tryDecodeUtf8(bytes.subarray(from, to))
    if (one === undefined) throw new BrokenCsv(line, 'The text is not UTF-8. Save the file as CSV in UTF-8.')
    if (one.includes('\0')) throw new BrokenCsv(line, 'There is a NUL character. Is it a text file?')
    from = to
  }
  throw new Error('lines that are right one by one are wrong together')
}

function tryDecodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function countLineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

const TEXT_AFTER_QUOTE = 'There is text behind a closing quote.'
const QUOTE_INSIDE = 'There is a quote inside a field without quotes. Put the field in quotes, and double those inside.'
const LONE_CARRIAGE_RETURN = 'There is a carriage return without a line feed. Save the file with CRLF or LF line ends.'

/** Matches up to the next special character outside quotes. */
const PLAIN = /[^,"\r\n]*/y

/** Keeps its state between pieces, because a quoted field may span them. */
function createRecordParser() {
  let line = 1
  let recordLine = 1
  let quoteLine = 1
  let fields: string[] = []
  let field = ''
  /** `closed`: after the closing quote of a field. */
  let state: 'plain' | 'quoted' | 'closed' = 'plain'

  function* records(piece: string): Generator<CsvRecord> {
    let at = 0
    while (at < piece.length) {
      if (state === 'quoted') {
        at = readQuoted(piece, at)
        continue
      }
      PLAIN.lastIndex = at
      const plain = PLAIN.exec(piece)![0]
      if (plain !== '') {
        if (state === 'closed') throw new BrokenCsv(line, TEXT_AFTER_QUOTE)
        append(plain)
        at += plain.length
        continue
      }
      const mark = piece[at]!
      at++
      if (mark === '"') openQuote()
      else if (mark === ',') endField()
      else {
        if (mark === '\r') {
          if (piece[at] !== '\n') throw new BrokenCsv(line, LONE_CARRIAGE_RETURN)
          at++
        }
        const record = endRecord()
        if (record) yield record
      }
    }
  }

  function end(): CsvRecord | undefined {
    if (state === 'quoted') throw new BrokenCsv(quoteLine, 'The quote that opens here is never closed.')
    return endRecord()
  }

  function readQuoted(piece: string, from: number): number {
    const quote = piece.indexOf('"', from)
    const text = piece.slice(from, quote < 0 ? piece.length : quote)
    line += countLineEnds(text)
    append(text)
    if (quote < 0) return piece.length
    if (piece[quote + 1] === '"') {
      append('"')
      return quote + 2
    }
    state = 'closed'
    return quote + 1
  }

  function openQuote(): void {
    if (state === 'closed') throw new BrokenCsv(line, TEXT_AFTER_QUOTE)
    if (field !== '') throw new BrokenCsv(line, QUOTE_INSIDE)
    state = 'quoted'
    quoteLine = line
  }

  function append(text: string): void {
    field += text
    if (field.length <= FIELD_LENGTH_MAX) return
    const [begin, hint] = state === 'quoted' ? [quoteLine, ' Is its quote never closed?'] : [line, '']
    throw new BrokenCsv(begin, `A field is longer than ${FIELD_LENGTH_MAX} characters.${hint}`)
  }

  function endField(): void {
    fields.push(field)
    if (fields.length > FIELDS_MAX) throw new BrokenCsv(line, `There are more than ${FIELDS_MAX} fields.`)
    field = ''
    state = 'plain'
  }

  function endRecord(): CsvRecord | undefined {
    const isEmpty = fields.length === 0 && field === '' && state === 'plain'
    if (!isEmpty) endField()
    const record = isEmpty ? undefined : { line: recordLine, fields }
    fields = []
    line++
    recordLine = line
    return record
  }

  return { records, end }
}
