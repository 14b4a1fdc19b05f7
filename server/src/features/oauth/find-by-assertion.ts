import type { ClientLookup } from '../../http/partner/access.ts'
import type { Deps } from '../../http/deps.ts'
import { API_PREFIX } from '../../http/partner/frame.ts'
import { verifyAssertion, type ClaimedAssertion, type VerifiedAssertion } from './verify-assertion.ts'

export interface ClientProof extends ClientLookup {
  /** Whether it was used before is still to be checked. */
  assertion?: VerifiedAssertion | undefined
}

/** Every failure costs one lookup and one verification. */
export async function findByAssertion(
  { access, keySets, config }: Deps,
  text: string,
  claimed: ClaimedAssertion,
): Promise<ClientProof | undefined> {
  const client = await access.findKeyClient(claimed.clientId)
  const keys = client?.jwksUrl ? await keySets.find(client.jwksUrl, claimed.keyId) : (client?.keys ?? [])
  const audiences = [config.publicUrl, `${config.publicUrl}${API_PREFIX}/oauth/token`]
  const assertion = await verifyAssertion(text, claimed, keys, audiences)
  return client && { proven: assertion !== undefined, caller: client.caller, assertion }
}
