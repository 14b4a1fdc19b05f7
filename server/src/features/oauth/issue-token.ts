import { coalesce, type CoalesceLimits } from '../../postgres/coalesce.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Caller } from '../../http/partner/access.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { commonScopes, isScope, type Scope } from '../../core/scopes.ts'
import { hashToken, newToken } from '../../crypto/secrets.ts'
import { insertTokens, type NewToken } from './queries.ts'

export const TOKEN_LIFETIME_SECONDS = 3600
const ISSUE_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 10_000 }

export type IssueToken = (
  client: Caller,
  requestedScope: string | undefined,
) => Promise<{ token: string; scopes: Scope[] }>

export function createTokenIssuer(sql: Sql): IssueToken {
  const insert = coalesce(async (communityId: number, tokens: NewToken[]) => {
    const removed = await insertTokens(sql, communityId, tokens, TOKEN_LIFETIME_SECONDS)
    return tokens.map(({ clientId }) => !removed.has(clientId))
  }, ISSUE_LIMITS)

  return async (client, requestedScope) => {
    const scopes = grantScopes(client, requestedScope)
    const token = newToken(client.communityId)
    const isIssued = await insert(client.communityId, { hash: hashToken(token), clientId: client.clientId, scopes })
    if (!isIssued) throw new ApiError('invalid_client')
    return { token, scopes }
  }
}

/** Grants all of the client's scopes by default. Unknown names are rejected; scopes the client lacks are left out. */
function grantScopes(client: Caller, requestedScope: string | undefined): Scope[] {
  const requested = requestedScope?.split(' ').filter((name) => name !== '')
  if (requested?.some((name) => !isScope(name))) {
    throw new ApiError('invalid_scope', { description: 'A requested scope does not exist.' })
  }
  const scopes = requested?.length ? commonScopes(requested, client.scopes) : [...client.scopes]
  if (scopes.length === 0) throw new ApiError('invalid_scope')
  return scopes
}
