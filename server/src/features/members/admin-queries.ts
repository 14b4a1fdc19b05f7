import type { Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { recordColumns, type MemberRecord } from './queries.ts'

/** A member as administrators see it, with the balance of the wallet. */
export interface OfficeMemberRow extends MemberRecord {
  left_at: string | null
  balance: number
}

export interface MemberFilters {
  q?: string
  status?: 'active' | 'inactive' | 'erased'
  hidden?: boolean
}

const columns = (sql: Queries) => sql`${recordColumns('m')}, m.left_at, a.balance`

/** Number of the newest members that a search scans before it falls back to the full-text index. */
const NEWEST_SCAN_ROWS = 2_000

/** Returns the newest members first, and one row more than the limit if there is another page. */
export async function listOfficeMembers(
  sql: Queries,
  communityId: number,
  request: Pick<ListRequest, 'limit' | 'after'>,
  filters: MemberFilters,
): Promise<OfficeMemberRow[]> {
  if (filters.q === undefined) return selectMembers(sql, communityId, request, filters)
  // Scanning the newest members fills a page quickly for a common word. The index is fast only for a rare word: for a
  // common one it would collect every match first.
  const newest = await selectMembers(sql, communityId, request, filters, NEWEST_SCAN_ROWS)
  return newest.length > request.limit ? newest : selectMembers(sql, communityId, request, filters)
}

async function selectMembers(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  { q, status, hidden }: MemberFilters,
  newestRows?: number,
): Promise<OfficeMemberRow[]> {
  const start = after ? sql`and id < ${after.id}` : sql``
  const source =
    newestRows === undefined
      ? sql`members`
      : sql`(select * from members where community_id = ${communityId} ${start} order by id desc limit ${newestRows})`
  return sql<OfficeMemberRow[]>`
    with found as (
      select id from ${source} s
      where community_id = ${communityId} ${start} and (erased_at is not null) = ${status === 'erased'}
        ${q === undefined ? sql`` : sql`and search @@ search_query(${communityId}, ${q})`}
        ${status === 'active' || status === 'inactive' ? sql`and status = ${status}` : sql``}
        ${hidden === undefined ? sql`` : hidden ? sql`and hidden` : sql`and not hidden`}
      order by id desc limit ${limit + 1}
    )
    select ${columns(sql)} from found
    join members m on m.community_id = ${communityId} and m.id = found.id
    join accounts a on a.community_id = ${communityId} and a.member_id = found.id
    order by m.id desc`
}

export async function findOfficeMember(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<OfficeMemberRow | undefined> {
  const [row] = await sql<OfficeMemberRow[]>`
    select ${columns(sql)} from members m
    join accounts a on a.community_id = ${communityId} and a.member_id = m.id
    where m.community_id = ${communityId} and m.id = ${id}`
  return row
}

export interface EmailReadRow {
  id: number
  at: string
  client_id: string
  partner: { id: number; name: string } | null
  request_id: string | null
}

/** Lists the partner calls that read this member's email address, newest first. */
export async function listEmailReads(
  sql: Queries,
  communityId: number,
  memberId: number,
  { limit, after }: ListRequest,
): Promise<EmailReadRow[]> {
  return sql<EmailReadRow[]>`
    select l.id, l.at, l.actor_name as client_id, l.detail ->> 'request_id' as request_id,
      case when p.id is not null then jsonb_build_object('id', p.id, 'name', p.name) end as partner
    from audit_log l
    left join clients c on c.community_id = ${communityId} and c.id = l.actor_id
    left join partners p on p.community_id = ${communityId} and p.id = c.partner_id
    where l.community_id = ${communityId} and l.member_ids @> array[${memberId}::int8]
      and l.action = 'members.email_read' ${after ? sql`and l.id < ${after.id}` : sql``}
    order by l.id desc limit ${limit + 1}`
}
