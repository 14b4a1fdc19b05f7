import { recordAudit, type Actor } from '../audit/record.ts'
import { replaceSubscriptionSecrets, sealedSubscriptions } from '../../postgres/across-communities.ts'
import { transaction, type Sql } from '../../postgres/connect.ts'
import type { SecretBox } from '../../crypto/secret-box.ts'
import { lockCheck, storeCheck } from './check-secret-key.ts'
import { pauseForNewSecret, type ResetSubscription } from './queries.ts'
import { newWebhookSecret } from '../../crypto/sign.ts'

const BATCH_MAX = 500
const REASON = 'The secret was lost and reset: get a new one with rotate-secret, then set the status to active'

/**
 * Recovers from a lost SECRET_KEY. Every subscription gets an unknown secret and is paused until its partner rotates it,
 * because the partner could not verify deliveries. Deliveries wait in the meantime.
 */
export async function resetSecrets(sql: Sql, actor: Actor, box: SecretBox): Promise<ResetSubscription[]> {
  return transaction(sql, async (tx) => {
    await lockCheck(tx)
    const reset: ResetSubscription[] = []
    for await (const batch of sealedSubscriptions(tx, BATCH_MAX)) {
      for (const { community_id, id } of batch) {
        const secret = box.seal(newWebhookSecret())
        await replaceSubscriptionSecrets(tx, { community_id, id, secret, previous_secret: null })
        reset.push(await pauseForNewSecret(tx, community_id, id, REASON))
        await recordAudit(tx, community_id, actor, {
          action: 'subscription.secret_reset',
          subject: { kind: 'subscription', id },
        })
      }
    }
    await storeCheck(tx, box)
    return reset
  })
}
