import { Type } from 'typebox'
import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'

/** Deliberately text: an id that is not an integer gets 404, like any other id that does not exist, not 422. */
export const IdParameter = Type.Object({ id: Type.String({ description: 'An integer', examples: ['42'] }) })

/** An id in a query or a body, with the bounds of parseId. */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Returns undefined if the text is not an integer, exceeds int8, or exceeds the exact range of JSON numbers. */
export function parseId(text: string): number | undefined {
  const id = Number(text)
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}

/** What the console's addresses name by an id. */
type WithId = 'administrator' | 'category' | 'invitation' | 'listing' | 'member' | 'partner' | 'passkey'

/** For the console, which shows a message about what does not exist. */
export function requireId(text: string, what: WithId): number {
  const id = parseId(text)
  if (id === undefined) throw new NotFound(because(`no_such_${what}`))
  return id
}
