import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { ClientRow } from './queries.ts'

/** A client keeps its way of authentication, so that nobody can weaken it unnoticed. */
export function requireKind({ public_id, status, authentication }: ClientRow, kind: ClientRow['authentication']): void {
  if (status === 'revoked') throw new Refusal(because('client_revoked_replace', { client: public_id }))
  if (authentication === kind) return
  throw new Refusal(because(`client_has_${authentication}`, { client: public_id }))
}
