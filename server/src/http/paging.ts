import { Type } from 'typebox'
import { invalidField } from './validation.ts'

const LIMIT_DEFAULT = 25
const LIMIT_MAX = 100
const CURSOR_LENGTH_MAX = 1000

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT, description: 'How many at most' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: CURSOR_LENGTH_MAX, description: 'Where to go on: next_cursor of the page before' }),
  ),
}

export const PageMeta = Type.Object({
  limit: Type.Integer(),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})

export interface Page<Row> {
  rows: Row[]
  meta: { limit: number; has_more: boolean; next_cursor: string | null }
}

/** Cuts a list that was asked for one row more than the limit, and names where to go on. */
export function toPage<Row extends { id: number }>(found: Row[], limit = LIMIT_DEFAULT): Page<Row> {
  const rows = found.slice(0, limit)
  const has_more = found.length > limit
  return { rows, meta: { limit, has_more, next_cursor: has_more ? writeCursor(rows.at(-1)!.id) : null } }
}

function writeCursor(id: number): string {
  return Buffer.from(JSON.stringify([id])).toString('base64url')
}

/** The id after which a page begins. */
export function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  try {
    const [id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (Number.isSafeInteger(id) && (id as number) >= 0) return id as number
  } catch {
    // Falls through to the same answer as a cursor of the wrong content.
  }
  throw invalidField('cursor', 'invalid_cursor', 'is not a cursor of this list')
}
