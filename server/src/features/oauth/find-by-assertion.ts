import type { ClientLookup } from '../../http/partner/access.ts'
import type { Deps } from '../../http/deps.ts'
import { API_PREFIX } from '../../http/partner/frame.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { insertAssertion } from './queries.ts'
import { verifyAssertion, type ClaimedAssertion } from './verify-assertion.ts'

/** Every failure but a replay costs one lookup and one verification; a replay proves that the caller has seen more. */
export async function findByAssertion(
  { access, keySets, sql, config }: Deps,
  assertion: string,
  claimed: ClaimedAssertion,
): Promise<ClientLookup | undefined> {
  const client = await access.findKeyClient(claimed.clientId)
  const keys = client?.jwksUrl ? await keySets.find(client.jwksUrl, claimed.keyId) : (client?.keys ?? [])
  const audiences = [config.publicUrl, `${config.publicUrl}${API_PREFIX}/oauth/token`]
  const verified = await verifyAssertion(assertion, claimed, keys, audiences)
  if (!client) return undefined
  const proven = verified && (await insertAssertion(sql, client.caller, hashSecret(verified.jti), verified.expiresAt))
  return { proven: proven ?? false, caller: client.caller }
}
