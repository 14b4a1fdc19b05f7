import type { Actor } from '../audit/record.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { communityOfClientId } from '../../crypto/secrets.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { releaseHeld } from '../subscriptions/queries.ts'
import { lockReplays } from '../subscriptions/replay-queries.ts'
import { changeClient } from './change-client.ts'
import { checkExpiry } from './check-expiry.ts'
import { findPartnerForChange, findPartnerOfClient, isExpiring, setExpiry, type ClientRow } from './queries.ts'

/**
 * Sets when a client expires, or that it never does. From then on it is rejected like one that is revoked, but a later
 * time brings it back. Returns the time as it is stored.
 */
export async function changeExpiry(
  sql: Queries,
  actor: Actor,
  publicId: string,
  wanted: string | null,
  communityId = communityOfClientId(publicId),
  checkBefore: (before: ClientRow) => void = () => {},
): Promise<string | null> {
  return transaction(sql, async (tx) => {
    const partnerId = communityId && (await findPartnerOfClient(tx, communityId, publicId))
    if (!communityId || !partnerId) throw new NotFound(because('no_client', { client: publicId }))
    const expiresAt = await checkExpiry(tx, wanted)
    const wasExpiring = await isExpiring(tx, communityId, publicId)
    if (wasExpiring) await lockReplays(tx, communityId, partnerId)
    // Partners are locked before their clients, as deliveries lock them.
    await findPartnerForChange(tx, communityId, partnerId)
    const detail = { expires_at: expiresAt ?? 'never' }
    const changed = await changeClient(
      tx,
      actor,
      { publicId, communityId },
      'client.expiry_changed',
      detail,
      async (_tx, client) => {
        if (client.status === 'revoked') throw new Refusal(because('client_revoked', { client: publicId }))
        checkBefore(client)
        await setExpiry(tx, client, expiresAt)
      },
    )
    if (wasExpiring) await releaseHeld(tx, communityId, partnerId, changed.id)
    return expiresAt
  })
}

/** Whether a client works for longer after the change than before: that needs a fresh proof. */
export function extendsAccess({ expires_at: before }: ClientRow, after: string | null): boolean {
  return before !== null && (after === null || Date.parse(after) > Date.parse(before))
}
