import { Type, type Static } from 'typebox'
import { Nullable } from '../../http/console/admin-shapes.ts'

export const ImportQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Tells what would become of every row, and writes nothing' })),
  skip_bad: Type.Optional(
    Type.Boolean({ description: 'Leaves refused rows out; otherwise one of them keeps everything from being written' }),
  ),
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
    fates: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: 'Of the file, where the row begins' }),
          outcome: Type.Enum(['added', 'changed', 'unchanged', 'refused']),
          reason: Nullable(Type.String({ description: 'Why it is refused, or which fields change' })),
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
