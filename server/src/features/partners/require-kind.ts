import { Refusal } from '../../core/refusal.ts'
import type { ClientRow } from './queries.ts'

const NAMES = { secret: 'a secret', keys: 'registered keys', jwks: 'the keys at an address' }

/** A client keeps its way of authentication, so that nobody can weaken it unnoticed. */
export function requireKind({ public_id, status, authentication }: ClientRow, kind: ClientRow['authentication']): void {
  if (status === 'revoked') throw new Refusal(`The client ${public_id} is revoked; create a new one.`)
  if (authentication === kind) return
  throw new Refusal(
    `The client ${public_id} authenticates by ${NAMES[authentication]}. Create another client to use ${NAMES[kind]}.`,
  )
}
