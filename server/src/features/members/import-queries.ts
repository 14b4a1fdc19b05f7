import { commaSeparated, identifier, type Fragment, type Transaction } from '../../postgres/connect.ts'
import { detectChanges, isOtherTime, reasonFound, type Lines } from '../spreadsheets/queries.ts'
import { lockCategoriesOf } from '../listings/queries.ts'
import { FIELD_NAMES, PARTNER_FIELD_NAMES, type FieldName } from './fields.ts'
import { isNewOpening } from './opening-queries.ts'
import type { MemberRecord } from './queries.ts'
import { tagText } from './tag-queries.ts'

/** Fields that an import writes; members are matched by external id. */
export const TEXT_NAMES = FIELD_NAMES.filter((field) => field !== 'external_id')

/** Changes that partners may see. */
const FOR_PARTNERS = [...PARTNER_FIELD_NAMES, 'joined_at']

export async function rejectErasedMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set outcome = 'refused', reasons = ${reasonFound(tx, 'member_erased')}
    from members m
    where r.outcome is null and m.community_id = ${communityId} and m.id = r.id and m.erased_at is not null`
}

/** Notes new rows whose number is that of a member up to zeros at its start, which spreadsheets drop, or whose name is. */
export async function noteKnownMembers(tx: Transaction, communityId: number): Promise<void> {
  const values = tx`'name', m.name, 'external_id', m.external_id`
  await tx`
    update import_rows r set notes = k.notes from (
      select distinct on (i.line) i.line, ${reasonFound(tx, 'number_known_without_zeros', values)} as notes
      from import_rows i join members m
        on ltrim(m.external_id, '0') = ltrim(i.external_id, '0') and m.external_id ~ '^[0-9]+$'
      where i.outcome = 'added' and i.external_id ~ '^[0-9]+$'
        and m.community_id = ${communityId} and m.erased_at is null
      order by i.line, m.id
    ) k
    where r.line = k.line`
  const known = await tx<{ line: number; count: number; external_id: string | null }[]>`
    select i.line, count(*) as count, min(m.external_id) as external_id
    from import_rows i join members m on sort_name(m.name) collate "C" = sort_name(i.input ->> 'name') collate "C"
    where i.outcome = 'added' and i.notes is null and m.community_id = ${communityId} and m.erased_at is null
    group by i.line`
  // In a statement without members, because Citus builds no JSON in a CASE.
  await tx`
    update import_rows r set notes = case
        when k.count > 1 then ${reasonFound(tx, 'members_name_known')}
        when k.external_id is null then ${reasonFound(tx, 'name_known_without_number')}
        else ${reasonFound(tx, 'name_known_with_number', tx`'external_id', k.external_id`)}
      end
    from unnest(${known.map(({ line }) => line)}::int8[], ${known.map(({ count }) => count)}::int8[],
      ${known.map((row) => row.external_id)}::text[]) as k(line, count, external_id)
    where r.line = k.line`
}

export async function detectMemberChanges(tx: Transaction, communityId: number): Promise<void> {
  const fields = tx`
    ${commaSeparated(TEXT_NAMES.map((name) => changedText(tx, name)))},
    case when ${isOtherTime(tx, communityId, 'joined_at')} then 'joined_at' end,
    case when i.input ->> 'status' <> t.status then 'status' end,
    case when (i.input ->> 'hidden')::boolean <> t.hidden then 'hidden' end,
    case when i.input ? 'tags' and i.input ->> 'tags' is distinct from ${tagText(tx, communityId, 't')} then 'tags' end,
    case when ${isNewOpening(tx, communityId)} then 'opening_balance' end`
  await detectChanges(tx, communityId, 'members', fields)
}

function changedText(tx: Transaction, name: FieldName): Fragment {
  return tx`
    case when i.input ? ${name}::text and i.input ->> ${name}::text is distinct from t.${identifier(name)}
      then ${name}::text end`
}

/** Locks wallets, members, categories, then listings, each in one order. Every other writer takes them in the same order. */
export async function lockChangedMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    select 1 from accounts
    where community_id = ${communityId} and member_id in (
      select id from import_rows where outcome = 'changed' and changes && '{status,hidden,opening_balance,joined_at}')
    order by id for no key update`
  await tx`
    select 1 from members
    where community_id = ${communityId} and id in (select id from import_rows where outcome = 'changed')
    order by id for no key update`
  const stateChanges = tx`select id from import_rows where outcome = 'changed' and changes && '{status,hidden}'`
  await lockCategoriesOf(tx, communityId, tx`l.member_id in (${stateChanges})`)
  await tx`
    select 1 from listings
    where community_id = ${communityId} and member_id in (${stateChanges})
    order by id for no key update`
}

export type WrittenMember = MemberRecord & { changes: string[]; for_partners: boolean }

/** Also creates the wallets. */
export async function insertMembers(
  tx: Transaction,
  communityId: number,
  { from, to }: Lines,
): Promise<WrittenMember[]> {
  return tx<WrittenMember[]>`
    with added as materialized (
      select * from import_rows where outcome = 'added' and line between ${from} and ${to}
    ), ids as materialized (
      select take_ids(${communityId}, 'members', 0, (select count(*) from added)) as first,
        stamp_change(${communityId}) as stamped_at
    ), made as (
      insert into members (community_id, id, external_id, ${commaSeparated(TEXT_NAMES.map(identifier))}, status, hidden,
        joined_at, left_at, updated_at)
      select ${communityId}, ids.first + row_number() over (order by line) - 1, external_id,
        ${commaSeparated(TEXT_NAMES.map((name) => tx`input ->> ${name}::text`))},
        coalesce(input ->> 'status', 'active'),
        coalesce((input ->> 'hidden')::boolean, false), coalesce((input ->> 'joined_at')::timestamptz, clock_timestamp()),
        case when input ->> 'status' = 'inactive' then now() end, ids.stamped_at
      from added, ids order by line
      returning *
    ), wallets as (
      insert into accounts (community_id, kind, member_id, active, hidden, last_active_on)
      select ${communityId}, 'member', m.id, m.status = 'active', m.hidden, (m.joined_at at time zone c.time_zone)::date
      from made m join communities c on c.id = ${communityId} order by m.id
    ), matched as (
      -- The tags are inserted by it.
      update import_rows r set id = a.id from (
        select line, ids.first + row_number() over (order by line) - 1 as id from added, ids
      ) a
      where r.line = a.line
    )
    select *, '{}'::text[] as changes, true as for_partners from made order by id`
}

/**
 * Skips members who were erased in the meantime. Writes only the fields that are changed, because the others may have got
 * another value since they were compared.
 */
export async function updateMembers(
  tx: Transaction,
  communityId: number,
  { from, to }: Lines,
): Promise<WrittenMember[]> {
  // In a statement of its own, because Citus calls no such function in a CASE; nor does it read a time there.
  const [{ stamped_at }] = await tx<[{ stamped_at: string }]>`select stamp_change(${communityId}) as stamped_at`
  return tx<WrittenMember[]>`
    with r as materialized (
      select *, (input ->> 'joined_at')::timestamptz as joined_at from import_rows
      where outcome = 'changed' and line between ${from} and ${to} and changes && ${[...TEXT_NAMES, 'joined_at', 'tags']}::text[]
    )
    update members m set ${commaSeparated(TEXT_NAMES.map((name) => newText(tx, name)))},
      joined_at = case when 'joined_at' = any (r.changes) then r.joined_at else m.joined_at end,
      version = m.version + case when r.changes && ${FOR_PARTNERS}::text[] then 1 else 0 end,
      updated_at = case when r.changes && ${FOR_PARTNERS}::text[] then ${stamped_at}::timestamptz else m.updated_at end
    from r
    where m.community_id = ${communityId} and m.id = r.id and m.erased_at is null
      -- Redundant, but makes the planner look up these members by index instead of scanning all of them.
      and m.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    returning m.*, r.changes, r.changes && ${FOR_PARTNERS}::text[] as for_partners`
}

function newText(tx: Transaction, name: FieldName): Fragment {
  const column = identifier(name)
  return tx`${column} = case when ${name}::text = any (r.changes) then r.input ->> ${name}::text else m.${column} end`
}

interface StateChange {
  id: number
  changes: string[]
  status: string | null
  hidden: boolean | null
}

/** Skips members who were erased in the meantime. */
export async function listStateChanges(
  tx: Transaction,
  communityId: number,
  { from, to }: Lines,
): Promise<StateChange[]> {
  return tx<StateChange[]>`
    select r.id, r.changes, r.input ->> 'status' as status, (r.input ->> 'hidden')::boolean as hidden
    from import_rows r join members m on m.community_id = ${communityId} and m.id = r.id
    where r.outcome = 'changed' and r.line between ${from} and ${to} and r.changes && '{status,hidden}' and m.erased_at is null
      and m.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    order by r.line`
}
