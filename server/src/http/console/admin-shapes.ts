import { Type } from 'typebox'

const TEXT_LENGTH_MAX = 500
const LONG_TEXT_LENGTH_MAX = 20_000

/** Rejects only text that cannot be stored; the rules validate the rest with messages for users. */
export const FormText = Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'storable' })
/** The same for text of several lines. */
export const LongFormText = Type.String({ maxLength: LONG_TEXT_LENGTH_MAX, format: 'storable' })
export const Done = Type.Object({ data: Type.Object({}) })
export const Time = Type.String({ format: 'date-time' })
export const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const Count = Type.Object(
  {
    count: Type.Integer(),
    more: Type.Boolean({ description: 'There are more than the count: it stops at a limit' }),
  },
  { title: 'Count' },
)

/** Of what was counted up to one more than the limit. */
export function presentCount(found: number, countMax: number): Type.Static<typeof Count> {
  return { count: Math.min(found, countMax), more: found > countMax }
}
