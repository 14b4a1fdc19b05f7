import type { Fragment, Transaction } from '../../postgres/connect.ts'
import { reasonFound, type Lines } from '../spreadsheets/queries.ts'

/** The opening balances that stand; one that was reversed no longer counts. */
const standing = (tx: Transaction, communityId: number): Fragment => tx`
  select o.member_id, case when t.credit_account_id = w.id then t.amount else -t.amount end as centihours
  from opening_balances o
  join transfers t on t.community_id = ${communityId} and t.id = o.transfer_id
  join accounts w on w.community_id = ${communityId} and w.member_id = o.member_id
  where o.community_id = ${communityId}
    and not exists (select 1 from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id)`

/** Whether the row `i` brings an opening balance for the member `t`, who has none. */
export function isNewOpening(tx: Transaction, communityId: number): Fragment {
  return tx`
    (i.input ->> 'opening_centihours')::int8 <> 0
    and t.id not in (select member_id from (${standing(tx, communityId)}) s)`
}

export async function rejectOtherOpenings(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    with s as materialized (
      select member_id, centihours,
        ${reasonFound(tx, 'opening_posted', tx`'hours', trim_scale(centihours / 100.0)`)} as reasons
      from (${standing(tx, communityId)}) s
    )
    update import_rows r set outcome = 'refused', reasons = s.reasons
    from s
    where r.outcome is null and s.member_id = r.id and (r.input ->> 'opening_centihours')::int8 <> s.centihours`
}

export interface Opening {
  member_id: number
  centihours: number
}

/** Lists the opening balances to post for the rows in these lines. Skips members who were erased in the meantime. */
export async function listOpenings(tx: Transaction, communityId: number, { from, to }: Lines): Promise<Opening[]> {
  return tx<Opening[]>`
    select m.id as member_id, (r.input ->> 'opening_centihours')::int8 as centihours
    from import_rows r join members m on m.community_id = ${communityId} and m.external_id = r.external_id
    where r.outcome = 'added' and r.line between ${from} and ${to} and (r.input ->> 'opening_centihours')::int8 <> 0
      and m.external_id = any (array(select external_id from import_rows where line between ${from} and ${to}))
    union all
    select r.id, (r.input ->> 'opening_centihours')::int8
    from import_rows r join members m on m.community_id = ${communityId} and m.id = r.id and m.erased_at is null
    where r.outcome = 'changed' and r.line between ${from} and ${to} and 'opening_balance' = any (r.changes)
      and m.id = any (array(select id from import_rows where line between ${from} and ${to}))
    order by 1`
}

/**
 * Returns how many were recorded: not those of members who have got one in the meantime. The wallets are locked, so nobody
 * else records or reverses one between the statements; a condition on another table in `on conflict` is refused by Citus.
 */
export async function recordOpenings(
  tx: Transaction,
  communityId: number,
  openings: { memberId: number; transferId: number }[],
): Promise<number> {
  const memberIds = openings.map(({ memberId }) => memberId)
  await tx`
    delete from opening_balances o
    where o.community_id = ${communityId} and o.member_id = any (${memberIds}::int8[])
      and exists (select 1 from transfers r where r.community_id = ${communityId} and r.reverses_id = o.transfer_id)`
  const rows = await tx`
    insert into opening_balances (community_id, member_id, transfer_id)
    select ${communityId}::int8, i.member_id, i.transfer_id
    from unnest(${memberIds}::int8[], ${openings.map(({ transferId }) => transferId)}::int8[])
      as i(member_id, transfer_id)
    on conflict (community_id, member_id) do nothing
    returning 1`
  return rows.length
}

/** How many, and the hours, of the opening balances that the staged rows bring. */
export async function sumOpenings(tx: Transaction): Promise<{ count: number; centihours: number }> {
  const [row] = await tx<[{ count: number; centihours: number }]>`
    select count(*), coalesce(sum((input ->> 'opening_centihours')::int8), 0)::int8 as centihours
    from import_rows
    where (input ->> 'opening_centihours')::int8 <> 0
      and (outcome = 'added' or (outcome = 'changed' and 'opening_balance' = any (changes)))`
  return row
}
