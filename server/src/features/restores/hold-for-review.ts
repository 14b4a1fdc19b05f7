import type { Actor } from '../audit/record.ts'
import type { Transaction } from '../../postgres/connect.ts'
import { holdCommunities } from './queries.ts'
import { recordRestore } from './withdraw-again.ts'

/**
 * Switches the partner API off everywhere until an owner has reviewed who has access: nothing shows what was withdrawn
 * after the backup. Switching it on again ends the review (`updatePartnerApi`).
 */
export async function holdForReview(tx: Transaction, actor: Actor, backupMadeAt: string): Promise<void> {
  // Partners read it.
  const reason = `The service was restored from a backup of ${backupMadeAt}, and access to it is being reviewed.`
  for (const communityId of await holdCommunities(tx, backupMadeAt, reason)) {
    await recordRestore(tx, actor, communityId, { backup_made_at: backupMadeAt })
  }
}
