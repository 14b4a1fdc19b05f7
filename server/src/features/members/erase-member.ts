import { recordAudit, type Actor } from '../audit/record.ts'
import { assignments, transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { recordEvents } from '../events/record.ts'
import { leave, requireMember } from './change-member.ts'
import { ERASED } from './fields.ts'

/** Erases personal data everywhere but keeps the transfers, because other members' balances depend on them. */
export async function eraseMember(sql: Queries, actor: Actor, communityId: number, id: number): Promise<void> {
  await transaction(sql, async (tx) => {
    await requireMember(tx, communityId, id)
    await leave(tx, actor, communityId, id)
    const version = await erasePersonalData(tx, communityId, id)
    await tx`
      insert into erasures (community_id, member_id) values (${communityId}, ${id})
      on conflict (community_id, member_id) do nothing`
    await recordAudit(tx, communityId, actor, { action: 'member.erased', subject: { kind: 'member', id } })
    await recordEvents(tx, communityId, [{ type: 'user.erased', memberId: id, data: { id, version } }])
  })
}

/** Covers the record, listings, notes, stored events and webhook responses. Returns the member's new version. */
async function erasePersonalData(tx: Transaction, communityId: number, id: number): Promise<number> {
  const [member] = await tx<[{ version: number }]>`
    update members set ${assignments(ERASED)}, erased_at = now(),
      version = version + 1, updated_at = clock_timestamp()
    where community_id = ${communityId} and id = ${id} returning version`
  await tx`
    update listings set title = 'Erased', description = '', external_id = null, status = 'closed', visible = false
    where community_id = ${communityId} and member_id = ${id}`
  await tx`
    delete from transfer_notes n using transfers t, accounts a
    where n.community_id = ${communityId} and t.community_id = ${communityId} and a.community_id = ${communityId}
      and a.member_id = ${id} and t.id = n.transfer_id and a.id in (t.debit_account_id, t.credit_account_id)`
  await tx`
    update credit_reversals r set reason = null from credits c
    where r.community_id = ${communityId} and c.community_id = ${communityId} and c.id = r.credit_id
      and c.member_id = ${id}`
  await tx`
    update events set data = case when type like 'wallet.%' then data - 'note'
      else jsonb_build_object('id', data -> 'id', 'version', data -> 'version') end
    where community_id = ${communityId} and member_id = ${id}`
  // A receiver may echo personal data in its response. Deliveries come first, because a success response moves from the
  // delivery to the attempts when a later attempt follows.
  await tx`
    update deliveries set success_response = null
    where community_id = ${communityId} and id = any (array(
      select d.id from deliveries d, events e, subscriptions s
      where d.community_id = ${communityId} and e.community_id = ${communityId} and s.community_id = ${communityId}
        and e.member_id = ${id} and d.subscription_id = s.id and d.event_id = e.id and d.success_response is not null
      order by d.subscription_id, d.event_id for no key update of d))`
  await tx`
    update attempts a set response = null, error = null from events e, subscriptions s, deliveries d
    where a.community_id = ${communityId} and e.community_id = ${communityId} and s.community_id = ${communityId}
      and d.community_id = ${communityId} and e.member_id = ${id} and d.subscription_id = s.id and d.event_id = e.id
      and a.delivery_id = d.id`
  return member.version
}
