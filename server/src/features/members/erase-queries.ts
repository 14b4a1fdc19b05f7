import type { KnownErasure } from '../../postgres/across-communities.ts'
import { assignments, type Transaction } from '../../postgres/connect.ts'
import { ERASED } from './fields.ts'

/** Covers the record, listings, notes, stored events and webhook responses. Returns the member's new version. */
export async function erasePersonalData(tx: Transaction, communityId: number, id: number): Promise<number> {
  const [member] = await tx<[{ version: number }]>`
    update members set ${assignments(ERASED)}, erased_at = now(),
      version = version + 1, updated_at = (select stamp_change(${communityId}))
    where community_id = ${communityId} and id = ${id} returning version`
  await tx`delete from member_tags where community_id = ${communityId} and member_id = ${id}`
  await tx`
    update listings set title = 'Erased', description = '', external_id = null, status = 'closed', visible = false
    where community_id = ${communityId} and member_id = ${id}`
  await tx`
    delete from transfer_notes n using transfers t, accounts a
    where n.community_id = ${communityId} and t.community_id = ${communityId} and a.community_id = ${communityId}
      and a.member_id = ${id} and t.id = n.transfer_id and a.id in (t.debit_account_id, t.credit_account_id)`
  await tx`
    update credit_reversals r set reason = null from credits c
    where r.community_id = ${communityId} and c.community_id = ${communityId} and c.partner_id = r.partner_id
      and c.id = r.credit_id and c.member_id = ${id}`
  await tx`
    update events set data = case when type like 'wallet.%' then data - 'note'
      else jsonb_set(jsonb_set('{}', '{id}', coalesce(data -> 'id', 'null')), '{version}', coalesce(data -> 'version', 'null')) end
    where community_id = ${communityId} and member_id = ${id}`
  // A receiver may echo personal data in its response. Deliveries come first, because a success response moves from the
  // delivery to the attempts when a later attempt follows. A new claim voids attempts under way: their responses are not
  // stored, and the deliveries are sent again with what is left.
  await tx`
    update deliveries set success_response = null, claims = claims + 1
    where community_id = ${communityId} and id = any (array(
      select d.id from deliveries d, events e, subscriptions s
      where d.community_id = ${communityId} and e.community_id = ${communityId} and s.community_id = ${communityId}
        and e.member_id = ${id} and d.subscription_id = s.id and d.event_id = e.id
        and (d.success_response is not null or d.status = 'pending')
      order by d.subscription_id, d.event_id for no key update of d))`
  await tx`
    update attempts a set response = null, error = null from events e, subscriptions s, deliveries d
    where a.community_id = ${communityId} and e.community_id = ${communityId} and s.community_id = ${communityId}
      and d.community_id = ${communityId} and e.member_id = ${id} and d.subscription_id = s.id and d.event_id = e.id
      and a.delivery_id = d.id`
  return member.version
}

export async function insertErasure(tx: Transaction, communityId: number, memberId: number): Promise<void> {
  await tx`
    insert into erasures (community_id, member_id) values (${communityId}, ${memberId})
    on conflict (community_id, member_id) do nothing`
}

/** Returns the community of an erasure whose member exists and is not yet erased. */
export async function findCommunityToErase(
  tx: Transaction,
  erasure: Pick<KnownErasure, 'community' | 'community_created_at' | 'member_id'>,
): Promise<number | undefined> {
  const [community] = await tx<{ id: number }[]>`
    select id from communities
    where slug = ${erasure.community} and created_at = ${erasure.community_created_at}::timestamptz`
  if (!community) return undefined
  const [member] = await tx<{ id: number }[]>`
    select id from members where community_id = ${community.id} and id = ${erasure.member_id} and erased_at is null`
  return member && community.id
}
