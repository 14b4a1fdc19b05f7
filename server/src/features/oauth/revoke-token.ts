import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import type { AccessCache, Caller, TokenState } from '../../http/partner/access.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { communityOfToken, hashToken } from '../../crypto/secrets.ts'
import { markTokenRevoked } from './queries.ts'

const ENDED: ReadonlySet<TokenState> = new Set(['expired', 'revoked', 'client_revoked', 'client_expired'])

/** A token that is unknown, expired or already revoked is not an error (RFC 7009 2.2). */
export async function revokeToken(sql: Queries, access: AccessCache, client: Caller, token: string): Promise<void> {
  const communityId = communityOfToken(token)
  if (communityId === undefined) return
  const lookup = await access.findByToken(token)
  if (!lookup || ENDED.has(lookup.state)) return
  if (lookup.caller.partnerId !== client.partnerId || communityId !== client.communityId) {
    throw new ApiError('invalid_request', { description: 'This token was not issued to this partner.' })
  }
  const tokenHash = hashToken(token)
  await transaction(sql, async (tx) => {
    await markTokenRevoked(tx, communityId, tokenHash)
    await announceAccessChange(tx, { communityId, tokenHash })
  })
}
