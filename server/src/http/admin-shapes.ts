import { Type } from 'typebox'

const TEXT_LENGTH_MAX = 500

/*
 * Shapes that the console's features share.
 */

/** Judged by the rules, which say what is wrong in words for people. */
export const FormText = Type.String({ maxLength: TEXT_LENGTH_MAX })
export const Done = Type.Object({ data: Type.Object({}) })
export const Time = Type.String({ format: 'date-time' })
export const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
