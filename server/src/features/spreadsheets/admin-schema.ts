import { Type, type Static } from 'typebox'
import { WRITTEN_ENCODINGS } from '../../csv/encode-text.ts'
import { DELIMITER_NAMES, ENCODINGS } from '../../csv/file-format.ts'
import { Nullable } from '../../http/console/admin-shapes.ts'

const Encoding = Type.Enum([...ENCODINGS])
const Delimiter = Type.Enum(DELIMITER_NAMES)
const Decimal = Type.Enum(['point', 'comma'], { description: 'The decimal sign of numbers' })
const DateOrder = Type.Enum(['day_first', 'month_first'], {
  description: 'Of dates like 5/6/2024. Dates with dots have the day first, and 2024-06-05 is always understood',
})
const Columns = {
  description:
    'Which columns of the file, counted from 0, hold what: external_id:0,name:1,name:2. Two are joined by a space',
}

export const FileQuery = Type.Object({
  encoding: Type.Optional({ ...Encoding, description: 'Found out if omitted' }),
  delimiter: Type.Optional({ ...Delimiter, description: 'Found out if omitted' }),
})

export const ImportQuery = Type.Object({
  ...FileQuery.properties,
  decimal: Type.Optional(Decimal),
  dates: Type.Optional(DateOrder),
  columns: Type.Optional(
    Type.String({
      maxLength: 2_000,
      pattern: '^[a-z_]+:\\d{1,3}(,[a-z_]+:\\d{1,3})*$',
      description: `${Columns.description}. Remembered for files with the same first row. If omitted, as remembered, else by name`,
    }),
  ),
  empty_cells: Type.Optional(
    Type.Enum(['keep', 'clear'], {
      description: 'keep, unless given: an empty cell changes nothing; clear: it removes the value',
    }),
  ),
  file_name: Type.Optional(
    Type.String({ format: 'text', minLength: 1, maxLength: 255, description: 'For the reason of opening balances' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Tells what would become of every row, and writes none' })),
  skip_bad: Type.Optional(
    Type.Boolean({ description: 'Leaves refused rows out; otherwise one of them keeps everything from being written' }),
  ),
})

const Said = Type.Object({
  code: Type.String({ description: 'x-sentences has its sentence' }),
  values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
})

export const ImportResult = Type.Object(
  {
    dry_run: Type.Boolean(),
    written: Type.Boolean(),
    rows: Type.Integer(),
    added: Type.Integer(),
    changed: Type.Integer(),
    unchanged: Type.Integer(),
    refused: Type.Integer(),
    lookalikes: Type.Optional(
      Type.Integer({
        description:
          'Of a dry run: new rows with the name of a member who is there, or a number that differs only by zeros at its start; omitted if there are none',
      }),
    ),
    openings: Type.Optional(
      Type.Object(
        {
          members: Type.Integer(),
          hours: Type.Number(),
          reason: Type.String({ description: "Of each adjustment, in the community's language" }),
        },
        { description: 'The opening balances that are recorded, if the file has them' },
      ),
    ),
    fates: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: 'Of the file, where the row begins' }),
          outcome: Type.Enum(['added', 'changed', 'unchanged', 'refused']),
          reason: Nullable(
            Type.String({
              description: 'Why it is refused, or what to look at in it, in English; or which fields change',
            }),
          ),
          reasons: Type.Array(Said, { description: 'Why it is refused' }),
          notes: Type.Array(Said, { description: 'What a person should look at in a row that is not refused' }),
          external_id: Nullable(Type.String()),
          name: Nullable(Type.String()),
        },
        { title: 'RowOutcome' },
      ),
      { description: 'Of a dry run all rows, otherwise the refused ones; so many of each outcome at most' },
    ),
    fates_left_out: Type.Integer(),
  },
  { title: 'ImportResult' },
)
export type ImportResult = Static<typeof ImportResult>

export const InspectedFile = Type.Object(
  {
    encoding: Encoding,
    delimiter: Delimiter,
    decimal: Decimal,
    dates: DateOrder,
    header: Type.Array(Type.String(), { description: 'The first row' }),
    rows: Type.Array(Type.Array(Type.String()), { description: 'A few rows after it' }),
    columns: Type.String(Columns),
    remembered: Type.Boolean({ description: 'Whether columns, decimal and dates are those of an earlier import' }),
    has_own_names: Type.Boolean({
      description: 'Whether the first row has the names of the import, so that no mapping is needed',
    }),
  },
  { title: 'InspectedFile' },
)
export type InspectedFile = Static<typeof InspectedFile>

/** How an export is written. */
export const CsvFormat = Type.Object({
  delimiter: Type.Optional(Type.Enum(DELIMITER_NAMES, { description: 'With semicolons, numbers have decimal commas' })),
  encoding: Type.Optional(
    Type.Enum([...WRITTEN_ENCODINGS], {
      description: 'windows-1252 has a question mark for each letter that it lacks',
    }),
  ),
})
export type CsvFormat = Static<typeof CsvFormat>
