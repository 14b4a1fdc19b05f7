import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { blankDigests } from '../../http/console/request-queries.ts'
import { recordEvents } from '../events/record.ts'
import { lockCategoriesOfMember, lockListings } from '../listings/queries.ts'
import { isRemoved } from '../removals/queries.ts'
import { leave, requireMember } from './change-member.ts'
import { erasePersonalData, insertErasure } from './erase-queries.ts'

/** Erases personal data everywhere but keeps the transfers, because other members' balances depend on them. */
export async function eraseMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<void> {
  await transaction(sql, async (tx) => {
    await requireMember(tx, communityId, id)
    // Leaving closes the listings, and erasing changes them once more.
    await lockCategoriesOfMember(tx, communityId, id)
    await leave(tx, actor, communityId, id)
    await lockListings(tx, communityId, { user_id: id })
    const version = await erasePersonalData(tx, communityId, id)
    await blankDigests(tx, communityId, id)
    await insertErasure(tx, communityId, id)
    await recordAudit(tx, communityId, actor, { action: 'member.erased', subject: { kind: 'member', id } })
    // Of a member who was always hidden, partners must not learn now that they existed.
    if (!(await isRemoved(tx, communityId, 'user', id))) return
    await recordEvents(tx, communityId, [{ type: 'user.erased', memberId: id, data: { id, version } }])
  })
}
