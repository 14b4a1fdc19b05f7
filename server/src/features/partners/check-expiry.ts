import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../../postgres/connect.ts'
import { readFuture } from './queries.ts'

/** A time in the past would be a way to revoke that can be undone by mistake. Null: never. */
export async function checkExpiry(sql: Queries, expiresAt: string | null): Promise<string | null> {
  if (expiresAt === null) return null
  const { at, is_future } = await readFuture(sql, expiresAt)
  if (is_future) return at
  throw new Refusal(because('credentials_expiry_past'), { field: 'expires_at' })
}
