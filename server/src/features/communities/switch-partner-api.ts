import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { updatePartnerApi } from './queries.ts'

const REASON_LENGTH_MAX = 500

/** While switched off, all partner calls are answered with 503 and the reason. */
export async function switchPartnerApi(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { enabled: true } | { enabled: false; reason: string },
): Promise<void> {
  const reason = input.enabled ? null : checkReason(input.reason)
  await transaction(sql, async (tx) => {
    await updatePartnerApi(tx, communityId, { enabled: input.enabled, reason })
    await recordAudit(tx, communityId, actor, {
      action: input.enabled ? 'partner_api.enabled' : 'partner_api.disabled',
      subject: { kind: 'community', id: communityId },
      detail: { reason },
    })
    await announceAccessChange(tx, { communityId })
  })
}

/** Partners receive the reason verbatim. */
function checkReason(text: string): string {
  const reason = text.trim()
  if (reason && reason.length <= REASON_LENGTH_MAX) return reason
  throw new Refusal(because('switch_reason', { max: REASON_LENGTH_MAX }), { field: 'reason' })
}
