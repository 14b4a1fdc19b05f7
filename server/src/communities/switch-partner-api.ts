import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../db/channel.ts'
import { transaction, type Queries } from '../db/connect.ts'
import { updatePartnerApi } from './queries.ts'

/** Off: every partner of the community is told 503 with the reason, at once. */
export async function switchPartnerApi(
  sql: Queries,
  actor: Actor,
  communityId: number,
  wish: { enabled: true } | { enabled: false; reason: string },
): Promise<void> {
  const reason = wish.enabled ? null : wish.reason
  await transaction(sql, async (tx) => {
    await updatePartnerApi(tx, communityId, { enabled: wish.enabled, reason })
    await recordAudit(tx, communityId, actor, {
      action: wish.enabled ? 'partner_api.enabled' : 'partner_api.disabled',
      subject: { kind: 'community', id: communityId },
      detail: { reason },
    })
    await announceAccessChange(tx, { communityId })
  })
}
