import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'
import { updatePartnerApi } from './queries.ts'

const REASON_LENGTH_MAX = 500

/** Off: every partner of the community is told 503 with the reason, at once. */
export async function switchPartnerApi(
  sql: Queries,
  actor: Actor,
  communityId: number,
  wish: { enabled: true } | { enabled: false; reason: string },
): Promise<void> {
  const reason = wish.enabled ? null : checkReason(wish.reason)
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

/** Partners are told, word by word. */
function checkReason(text: string): string {
  const reason = text.trim()
  if (reason && reason.length <= REASON_LENGTH_MAX) return reason
  throw new Refusal(`Say why, in 1 to ${REASON_LENGTH_MAX} characters: partners are told.`, { field: 'reason' })
}
