import { BrokenCsv } from './broken-csv.ts'
import { decodeText } from './decode-text.ts'
import {
  DELIMITER_LINE,
  DELIMITER_NAMES,
  DELIMITERS,
  type Decimal,
  type Delimiter,
  type Encoding,
  type FileFormat,
} from './file-format.ts'
import { readCsv, type CsvRecord } from './read-csv.ts'
import { because } from '../core/reasons.ts'

/** Opens the file from its beginning, as often as it is called. */
export type OpenFile = () => AsyncIterable<Uint8Array>

export interface DetectedFile extends FileFormat {
  decimal: Decimal
  /** The first rows. */
  sample: CsvRecord[]
}

const SAMPLE_ROWS = 50
/** Longer than the first lines of any table. */
const FIRST_LINES_LENGTH_MAX = 64 * 1024

/** As many as tell what a file is. */
const START_BYTES = 4

/** First bytes of files that people take for tables. */
const OTHER_FILES = [
  ['504b0304', 'file_is_workbook'],
  ['d0cf11e0', 'file_is_old_workbook'],
  ['25504446', 'file_is_pdf'],
] as const
const BYTE_ORDER_MARKS: readonly [start: string, encoding: Encoding][] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
]

/** Finds out how a file is written. What the caller knows already is taken as given. */
export async function detectFormat(open: OpenFile, given: Partial<FileFormat> = {}): Promise<DetectedFile> {
  const detected = await detectEncoding(open)
  const encoding = given.encoding ?? detected
  const delimiter = given.delimiter ?? detectDelimiter(await readFirstLines(open, encoding))
  const sample: CsvRecord[] = []
  for await (const record of readCsv(open(), { encoding, delimiter })) {
    if (sample.push(record) === SAMPLE_ROWS) break
  }
  return { encoding, delimiter, decimal: detectDecimal(delimiter, sample), sample }
}

/** By the byte order mark; otherwise UTF-8 if all of the file is valid, else Windows-1252. */
async function detectEncoding(open: OpenFile): Promise<Encoding> {
  const start = await readStart(open)
  const [, other] = OTHER_FILES.find(([bytes]) => start.startsWith(bytes)) ?? []
  if (other) throw new BrokenCsv(1, because(other))
  const [, marked] = BYTE_ORDER_MARKS.find(([bytes]) => start.startsWith(bytes)) ?? []
  return marked ?? ((await isUtf8(open)) ? 'utf-8' : 'windows-1252')
}

async function readStart(open: OpenFile): Promise<string> {
  let start = ''
  for await (const chunk of open()) {
    start += Buffer.from(chunk.subarray(0, START_BYTES)).toString('hex')
    if (start.length >= 2 * START_BYTES) break
  }
  return start
}

async function isUtf8(open: OpenFile): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of open()) {
    if (!isDecodable(decoder, chunk, true)) return false
  }
  return isDecodable(decoder, new Uint8Array(), false)
}

function isDecodable(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array, stream: boolean): boolean {
  try {
    decoder.decode(chunk, { stream })
    return true
  } catch {
    return false
  }
}

const linesOf = (text: string) => text.split(/[\r\n]+/).filter(Boolean)

/** The first two lines that are not empty. */
async function readFirstLines(open: OpenFile, encoding: Encoding): Promise<string[]> {
  let text = ''
  for await (const piece of decodeText(open(), encoding)) {
    text += piece
    if (text.length > FIRST_LINES_LENGTH_MAX || linesOf(text).length > 2) break
  }
  return linesOf(text).slice(0, 2)
}

/** The one that the first line names; otherwise the one that occurs most often in it, outside quotes. */
function detectDelimiter([first = '', second = '']: string[]): Delimiter {
  const [isNaming, named] = DELIMITER_LINE.exec(first) ?? []
  const unquoted = (isNaming ? second : first).trim().replaceAll(/"[^"]*"/g, '')
  const count = (name: Delimiter) => unquoted.split(DELIMITERS[name]).length
  const known = DELIMITER_NAMES.find((name) => DELIMITERS[name] === named)
  return known ?? DELIMITER_NAMES.toSorted((one, other) => count(other) - count(one))[0]!
}

const WITH_COMMA = /^[-+−]?[\d.]*\d,\d{1,2}$/
const WITH_POINT = /^[-+−]?[\d,]*\d\.\d{1,2}$/

/** By the numbers of the first rows. Where none tells, spreadsheets that write semicolons write decimal commas. */
function detectDecimal(delimiter: Delimiter, sample: CsvRecord[]): Decimal {
  const fields = sample.flatMap((record) => record.fields)
  const commas = fields.filter((field) => WITH_COMMA.test(field.trim())).length
  const points = fields.filter((field) => WITH_POINT.test(field.trim())).length
  if (commas !== points) return commas > points ? 'comma' : 'point'
  return delimiter === 'semicolon' ? 'comma' : 'point'
}
