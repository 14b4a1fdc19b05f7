import { Type } from 'typebox'
import { NotFound } from '../../core/refusal.ts'

/** Text on purpose: an id that is no integer is 404 like any other that does not exist, never 422. */
export const IdParameter = Type.Object({ id: Type.String({ description: 'An integer', examples: ['42'] }) })

/** An id in a query or a body. The bounds are those of parseId. */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Undefined for what cannot be an id: not an integer, outside int8, or above what JSON numbers hold exactly. */
export function parseId(text: string): number | undefined {
  const id = Number(text)
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}

/** For the console, whose people are told in words what does not exist. */
export function requireId(text: string, what: string): number {
  const id = parseId(text)
  if (id === undefined) throw new NotFound(`There is no such ${what}.`)
  return id
}
