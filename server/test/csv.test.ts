import * as fc from 'fast-check'
import { CsvError } from 'csv-parse'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { restoreText } from '../src/csv/formulas.ts'
import { DELIMITER_NAMES, DELIMITERS } from '../src/csv/file-format.ts'
import { BrokenCsv } from '../src/csv/broken-csv.ts'
import { readCsv, type CsvRecord } from '../src/csv/read-csv.ts'
import { csvLine, writeCsv } from '../src/csv/write-csv.ts'

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string | Buffer, chunkSize = 65_536): Promise<CsvRecord[]> {
  const records: CsvRecord[] = []
  for await (const record of readCsv(inChunks(Buffer.from(text as string), chunkSize))) records.push(record)
  return records
}

const fields = async (text: string | Buffer) => (await read(text)).map((record) => record.fields)

async function broken(text: string | Buffer): Promise<BrokenCsv> {
  return read(text).then(
    () => expect.unreachable('it was read'),
    (error: BrokenCsv) => {
      expect(error).toBeInstanceOf(BrokenCsv)
      return error
    },
  )
}

/** Whatever has a meaning in CSV or in a spreadsheet comes up often. */
const nastyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('"', ',', '\r', '\n', "'", '=', '+', '-', '@', '\t', ';', ' ', 'ä', '🙂', '\uFEFF'),
  }),
)

describe('the round trip', () => {
  test('whatever is written is read back exactly, however it is cut into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }).chain((width) =>
          fc.record({
            header: fc.array(nastyText, { minLength: width, maxLength: width }),
            rows: fc.array(fc.array(nastyText, { minLength: width, maxLength: width }), { maxLength: 10 }),
          }),
        ),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async ({ header, rows }, chunkSize, isMarked) => {
          let text = ''
          for await (const chunk of writeCsv(header, [rows])) text += chunk
          const found = await read(
            Buffer.from(`${isMarked || text.startsWith('\uFEFF') ? '\uFEFF' : ''}${text}`),
            chunkSize,
          )
          expect(found.map((record) => record.fields.map(restoreText))).toEqual([header, ...rows])
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('no field that is written can be taken for a formula', () => {
    fc.assert(
      fc.property(nastyText, (value) => {
        // What stands in the cell, as a spreadsheet takes it.
        const cell = csvLine([value, 'x']).replace(/^"/, '')
        expect(cell).not.toMatch(/^[=+\-@\t\r\n]/)
      }),
    )
    fc.assert(
      fc.property(nastyText, (value) => {
        // The same where lines are split at semicolons, and quotes in the middle of a cell do not count.
        const cells = csvLine(['x', value])
          .slice(0, -2)
          .split(/[;\r\n]/)
          .slice(1)
        for (const cell of cells) expect(cell).not.toMatch(/^"{0,4}[=+\-@\t]/)
      }),
    )
    fc.assert(
      fc.property(nastyText, fc.constantFrom(...DELIMITER_NAMES), (value, delimiter) => {
        // The same for every delimiter, where lines are split at one of the others.
        for (const other of DELIMITER_NAMES.filter((name) => name !== delimiter)) {
          const cells = csvLine(['x', value], delimiter).slice(0, -2).split(DELIMITERS[other]).slice(1)
          for (const cell of cells) expect(cell).not.toMatch(/^"{0,4}[=+\-@]/)
        }
      }),
    )
    expect(csvLine(['x,=1+1', 1], 'semicolon')).toBe("x,'=1+1;1\r\n")
    expect(csvLine(['x,=1+1\t=2', 1], 'tab')).toBe(`"x,'=1+1\t'=2"\t1\r\n`)
    for (const start of ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
      expect(csvLine([`${start}1+1`, 'x'])).toMatch(/^"?'/)
    }
  })

  test('numbers stay numbers', () => {
    expect(csvLine([-1.5, 0, true, null, '-1.5'])).toBe("-1.5,0,true,,'-1.5\r\n")
  })
})

describe('reading', () => {
  test('CRLF and LF, with and without a last line end, with and without a byte order mark', async () => {
    const expected = [
      ['a', 'b'],
      ['1', '2'],
    ]
    for (const text of ['a,b\r\n1,2\r\n', 'a,b\n1,2\n', 'a,b\r\n1,2', 'a,b\n1,2', '\uFEFFa,b\n1,2\n']) {
      expect(await fields(text)).toEqual(expected)
    }
  })

  test('quotes, doubled quotes, commas and line ends inside them', async () => {
    expect(await fields('"a,b","say ""hi""","two\r\nlines","",\n')).toEqual([
      ['a,b', 'say "hi"', 'two\r\nlines', '', ''],
    ])
  })

  test('the line of a record is where it begins', async () => {
    const records = await read('a\n"x\ny\r\nz"\n\n\nb\n')
    expect(records.map(({ line }) => line)).toEqual([1, 2, 7])
  })

  test('nothing at all', async () => {
    for (const text of ['', '\n', '\r\n\r\n', '\uFEFF']) expect(await read(text)).toEqual([])
  })
})

describe('a broken file is refused, with the line', () => {
  test.each([
    ['a,b\n1,"2', 2, 'never closed'],
    ['a,b\n"1\n2\n3', 2, 'never closed'],
    ['a\n"x"y\n', 2, 'behind a closing quote'],
    ['a\n"x" \n', 2, 'behind a closing quote'],
    ['a\n"x""y"z"\n', 2, 'behind a closing quote'],
    ['a\n\nx"y\n', 3, 'quote inside a field'],
    ['a,b\r1,2\r', 1, 'carriage return'],
    ['a\n"1\n2"\nx\ry\n', 4, 'carriage return'],
    ['a\nx\0y\n', 2, 'NUL'],
  ])('%j', async (text, line, problem) => {
    const error = await broken(text)
    expect(error.line).toBe(line)
    expect(error.message).toMatch(problem)
  })

  test('text that is not UTF-8', async () => {
    const latin1 = Buffer.concat([Buffer.from('name\nAnna\n'), Buffer.from('Jürgen\n', 'latin1'), Buffer.from('Eva\n')])
    expect(await broken(latin1)).toMatchObject({ line: 3, problem: expect.stringContaining('not UTF-8') })
    expect((await broken(Buffer.from('\uFEFFname\n', 'utf16le'))).message).toMatch('not UTF-8')
    // Cut in the middle of a letter.
    expect((await broken(Buffer.from('name\nJü').subarray(0, -1))).line).toBe(2)
  })

  test('what would not fit into memory', async () => {
    expect((await broken(`a\n"${'x\n'.repeat(100_000)}"\n`)).message).toMatch('Line 2: A field is longer')
    expect((await broken(`a\n"${'x\n'.repeat(1_000_000)}`)).message).toMatch('Line 2: The row is longer')
    expect((await broken('x'.repeat(5_000_000))).message).toMatch('longer than')
    expect((await broken(','.repeat(2_000))).message).toMatch('more than 1000 fields')
  })
})

describe('a file of short rows takes little work', () => {
  test('rows of other widths than the first make no errors within the parser', async () => {
    const stacks = vi.spyOn(Error, 'captureStackTrace')
    onTestFinished(() => stacks.mockRestore())
    const rows = [['a', 'b'], ['1'], ['1', '2', '3'], ['1', '2']]
    expect(await fields(rows.map((row) => `${row.join(',')}\n`).join(''))).toEqual(rows)
    expect(stacks.mock.calls.filter(([made]) => made instanceof CsvError)).toEqual([])
  })

  test('others have their turn while a chunk is read, and no character is cut', async () => {
    let turns = 0
    let next: NodeJS.Immediate
    const takeTurn = () => {
      turns++
      next = setImmediate(takeTurn)
    }
    takeTurn()
    onTestFinished(() => clearImmediate(next))
    // The odd letter puts the ends of pieces into the middle of characters.
    for (const start of ['', 'x']) {
      turns = 0
      const row = `${start}${'🙂'.repeat(45_000)}`
      const records = await read(`a\n${row}\n${row}`, Infinity)
      expect(records.map((record) => record.fields)).toEqual([['a'], [row], [row]])
      expect(turns).toBeGreaterThan(5)
    }
  })
})
