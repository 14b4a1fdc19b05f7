import { assignments, columnsAndValues, commaSeparated, identifier, type Queries } from '../../postgres/connect.ts'
import { afterId, changedSince, limitRows } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { FIELD_NAMES, LONG_FIELD_NAMES, PARTNER_FIELD_NAMES, type MemberFields } from './fields.ts'
import { Member } from './schema.ts'

/** A member as stored. */
export interface MemberRecord extends MemberFields {
  id: number
  status: 'active' | 'inactive'
  hidden: boolean
  visible: boolean
  erased_at: string | null
  payment_reference: string
  joined_at: string
  updated_at: string
  version: number
}

const STATE_NAMES = [
  'id',
  'status',
  'hidden',
  'visible',
  'erased_at',
  'payment_reference',
  'joined_at',
  'updated_at',
  'version',
] as const satisfies (keyof MemberRecord)[]

/** Of the table with this name or alias. */
export const recordColumns = (table: string) => columnsOf(table, [...FIELD_NAMES, ...STATE_NAMES])

/** What fits into a list. */
export const listColumns = (table: string) =>
  columnsOf(
    table,
    [...FIELD_NAMES, ...STATE_NAMES].filter((name) => !(LONG_FIELD_NAMES as string[]).includes(name)),
  )

function columnsOf(table: string, names: string[]) {
  return commaSeparated(names.map((name) => identifier(`${table}.${name}`)))
}

export type NewMember = Pick<MemberFields, 'name'> & Partial<MemberFields>

export const PARTNER_NAMES = Object.keys(Member.properties) as (keyof Member)[]
const columnsWithEmail = commaSeparated(PARTNER_NAMES.map(identifier))
const columnsWithoutEmail = commaSeparated(PARTNER_NAMES.filter((name) => name !== 'email').map(identifier))

/** What partners see of a member. Email addresses are not even read for those that may not. */
export interface PartnerView {
  withEmail: boolean
}

const partnerColumns = ({ withEmail }: PartnerView) => (withEmail ? columnsWithEmail : columnsWithoutEmail)

/** Lists members by id, or by time of change. Reads one row more than the limit to find out whether there are more. */
export async function listMembers(
  sql: Queries,
  communityId: number,
  list: ListRequest,
  paymentReference: string | undefined,
  view: PartnerView,
): Promise<Member[]> {
  const { limit, after, since } = list
  const filter = paymentReference === undefined ? sql`` : sql`and payment_reference = ${paymentReference}`
  const [place, order] =
    since === undefined ? [afterId(sql, after), sql`id`] : [changedSince(sql, 'updated_at', list), sql`updated_at, id`]
  return sql<Member[]>`
    select ${partnerColumns(view)} from members where community_id = ${communityId} and visible and ${place} ${filter}
    order by ${order} ${limitRows(sql, limit)}`
}

/**
 * Looks up each id by index. With many ids, `id = any (…)` was planned as a scan of the whole community. The ids are
 * hidden from the planner by a `select`: it would make a new plan for each call, which took three times as long as the
 * rest of the statement. A single id, as at low load, takes 60 µs less without the list.
 */
export async function findMembers(
  sql: Queries,
  communityId: number,
  ids: number[],
  view: PartnerView,
): Promise<Member[]> {
  if (ids.length === 1) {
    return sql<Member[]>`
      select ${partnerColumns(view)} from members where community_id = ${communityId} and visible and id = ${ids[0]!}`
  }
  return sql<Member[]>`
    select m.* from unnest((select ${ids}::int8[])) as i(wanted_id), lateral (
      select ${partnerColumns(view)} from members where community_id = ${communityId} and visible and id = i.wanted_id limit 1
    ) m`
}

/** Writes one audit entry per call that read email addresses. */
export async function insertEmailReads(
  sql: Queries,
  communityId: number,
  reads: { clientId: number; clientName: string; requestId: string; memberIds: number[] }[],
): Promise<void> {
  await sql`
    with recorded as (
      insert into audit_log (community_id, actor_kind, actor_id, actor_name, action, subject_kind, detail, member_ids)
      select ${communityId}, 'client', i.client_id, i.client_name, 'members.email_read', 'member',
        jsonb_build_object('request_id', i.request_id), i.member_ids::int8[]
      from unnest(${reads.map((read) => read.clientId)}::int8[], ${reads.map((read) => read.clientName)}::text[],
      ${reads.map((read) => read.requestId)}::text[], ${reads.map((read) => `{${read.memberIds.join(',')}}`)}::text[]
      ) as i(client_id, client_name, request_id, member_ids)
      returning id, at, actor_id, actor_name, cardinality(member_ids) as addresses
    )
    insert into email_read_days as d (community_id, client_id, day, client_name, first_id, first_at, last_at, calls,
      addresses)
    select ${communityId}, r.actor_id, (min(r.at) at time zone c.time_zone)::date, max(r.actor_name), min(r.id),
      min(r.at), max(r.at), count(*), sum(r.addresses)
    from recorded r join communities c on c.id = ${communityId}
    group by r.actor_id, c.time_zone order by r.actor_id
    on conflict (community_id, client_id, day) do update set calls = d.calls + excluded.calls,
      addresses = d.addresses + excluded.addresses, last_at = greatest(d.last_at, excluded.last_at)`
}

/** Creates the member and their wallet. */
export async function insertMember(sql: Queries, communityId: number, member: NewMember): Promise<MemberRecord> {
  const id = sql`take_ids(${communityId}, 'members', 0, 1)`
  const updated_at = sql`stamp_change(${communityId})`
  const [row] = await sql<[MemberRecord]>`
    with made as (
      insert into members ${columnsAndValues({ community_id: communityId, id, ...member, updated_at })} returning *
    ), wallet as (
      insert into accounts (community_id, kind, member_id, last_active_on)
      select m.community_id, 'member', m.id, (m.joined_at at time zone c.time_zone)::date
      from made m join communities c on c.id = ${communityId}
    )
    select ${recordColumns('made')} from made`
  return row
}

/** Locks the wallet, then the member, in the same order as credits and exchanges. */
export async function lockMember(sql: Queries, communityId: number, id: number): Promise<MemberRecord | undefined> {
  await sql`
    select 1 from accounts where community_id = ${communityId} and member_id = ${id} for no key update`
  const [row] = await sql<MemberRecord[]>`
    select ${recordColumns('members')} from members where community_id = ${communityId} and id = ${id} for no key update`
  return row
}

export type MemberChange = Partial<MemberFields & Pick<MemberRecord, 'status' | 'hidden'>>

/** Whether partners may see what changes. */
export function isForPartners(change: MemberChange): boolean {
  return Object.keys(change).some((name) => !OFFICE_NAMES.has(name))
}

const OFFICE_NAMES = new Set<string>(FIELD_NAMES.filter((name) => !(PARTNER_FIELD_NAMES as string[]).includes(name)))

/**
 * Copies the status to the wallet, which is what credits and exchanges check. Version and time of change are for
 * partners: they must not show when the office wrote something down.
 */
export async function updateMember(
  sql: Queries,
  communityId: number,
  id: number,
  change: MemberChange,
): Promise<MemberRecord> {
  const leftAt =
    change.status === undefined ? sql`` : change.status === 'inactive' ? sql`, left_at = now()` : sql`, left_at = null`
  const [row] = await sql<[MemberRecord]>`
    with changed as (
      update members set ${assignments({ ...change })}
        ${isForPartners(change) ? sql`, version = version + 1, updated_at = (select stamp_change(${communityId}))` : sql``}
        ${leftAt}
      where community_id = ${communityId} and id = ${id} returning *
    ), wallet as (
      update accounts a set active = c.status = 'active', hidden = c.hidden from changed c
      where a.community_id = ${communityId} and a.member_id = c.id
    )
    select ${recordColumns('changed')} from changed`
  return row
}
