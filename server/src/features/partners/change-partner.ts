import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { NotFound } from '../../core/refusal.ts'
import { checkPartner } from './check-partner.ts'
import { releaseHeld } from '../subscriptions/queries.ts'
import { findPartnerForChange, updatePartner, type PartnerProperties } from './queries.ts'

/** Changes take effect on live tokens immediately. */
export async function changePartner(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  input: Partial<Omit<PartnerProperties, 'scopes'> & { scopes: string[] }>,
): Promise<void> {
  const change = checkPartner(input)
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
    // Deliveries held for lack of access are checked again.
    await releaseHeld(tx, communityId, partnerId)
    await announceAccessChange(tx, { communityId })
  })
}
