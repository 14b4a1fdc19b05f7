import { Type } from 'typebox'

const TEXT_LENGTH_MAX = 500

/*
 * Shapes that the console's features share.
 */

/** The rules say in plain words what is wrong with it; this only keeps out what cannot be stored. */
export const FormText = Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'storable' })
export const Done = Type.Object({ data: Type.Object({}) })
export const Time = Type.String({ format: 'date-time' })
export const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
