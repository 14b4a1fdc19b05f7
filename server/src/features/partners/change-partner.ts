import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { checkPartner } from './check-partner.ts'
import { releaseHeld } from '../subscriptions/queries.ts'
import { lockReplays } from '../subscriptions/replay-queries.ts'
import {
  deletePartnerRows,
  findPartner,
  findPartnerForChange,
  isUnused,
  updatePartner,
  type PartnerProperties,
  type PartnerRow,
} from './queries.ts'

/** Changes take effect on live tokens immediately. */
export async function changePartner(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  input: Partial<Omit<PartnerProperties, 'scopes'> & { scopes: string[] }>,
  checkBefore: (before: PartnerRow) => void = () => {},
): Promise<PartnerRow> {
  const change = checkPartner(input)
  return transaction(sql, async (tx) => {
    const seen = await findPartner(tx, communityId, partnerId)
    // Less access waits for nothing.
    if (seen && mayReceiveMore(seen, { ...seen, ...change })) await lockReplays(tx, communityId, partnerId)
    const before = await requirePartner(tx, communityId, partnerId)
    checkBefore(before)
    const after = await updatePartner(tx, communityId, partnerId, change)
    await recordAudit(tx, communityId, actor, {
      action: 'partner.changed',
      subject: { kind: 'partner', id: partnerId },
      detail: change,
    })
    if (mayReceiveMore(before, after)) await releaseHeld(tx, communityId, partnerId)
    await announceAccessChange(tx, { communityId })
    return after
  })
}

/** Whether deliveries that are held for lack of access may be sent now. They can be hundreds of thousands. */
function mayReceiveMore(before: PartnerRow, after: PartnerRow): boolean {
  if (after.status !== 'active') return false
  return before.status !== 'active' || after.scopes.some((scope) => !before.scopes.includes(scope))
}

/** Deletes a partner that was never used, such as one created by mistake. */
export async function deletePartner(sql: Queries, actor: Actor, communityId: number, partnerId: number): Promise<void> {
  await transaction(sql, async (tx) => {
    const { name } = await requirePartner(tx, communityId, partnerId)
    if (!(await isUnused(tx, communityId, partnerId))) {
      throw new Refusal(because('partner_used'))
    }
    await deletePartnerRows(tx, communityId, partnerId)
    await recordAudit(tx, communityId, actor, {
      action: 'partner.deleted',
      subject: { kind: 'partner', id: partnerId },
      detail: { name },
    })
    await announceAccessChange(tx, { communityId })
  })
}

async function requirePartner(tx: Queries, communityId: number, partnerId: number): Promise<PartnerRow> {
  const partner = await findPartnerForChange(tx, communityId, partnerId)
  if (!partner) throw new NotFound(because('no_partner', { id: partnerId }))
  return partner
}
