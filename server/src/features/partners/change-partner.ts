import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { NotFound } from '../../core/refusal.ts'
import { checkPartner } from './check-partner.ts'
import { releaseHeld } from '../subscriptions/queries.ts'
import { findPartnerForChange, updatePartner, type PartnerProperties } from './queries.ts'

/** Suspends, resumes, narrows, widens: live tokens follow at once. */
export async function changePartner(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  wish: Partial<Omit<PartnerProperties, 'scopes'> & { scopes: string[] }>,
): Promise<void> {
  const change = checkPartner(wish)
  await transaction(sql, async (tx) => {
    if (!(await findPartnerForChange(tx, communityId, partnerId))) {
      throw new NotFound(`There is no partner ${partnerId} in this community.`)
    }
    await updatePartner(tx, communityId, partnerId, change)
    await recordAudit(tx, communityId, actor, {
      action: 'partner.changed',
      subject: { kind: 'partner', id: partnerId },
      detail: change,
    })
    // Whatever was held for want of access is judged anew.
    await releaseHeld(tx, communityId, partnerId)
    await announceAccessChange(tx, { communityId })
  })
}
