import type { Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'

/** A member as the office sees it, with the wallet. */
export interface OfficeMemberRow {
  id: number
  name: string
  email: string | null
  external_id: string | null
  payment_reference: string
  status: 'active' | 'inactive'
  hidden: boolean
  joined_at: string
  left_at: string | null
  erased_at: string | null
  updated_at: string
  balance: number
}

export interface MemberFilters {
  q?: string
  status?: 'active' | 'inactive' | 'erased'
  hidden?: boolean
}

const columns = (sql: Queries) => sql`
  m.id, m.name, m.email, m.external_id, m.payment_reference, m.status, m.hidden, m.joined_at, m.left_at, m.erased_at,
  m.updated_at, a.balance`

/** Of the newest members, read through before the index of words is asked. */
const NEWEST_READ_ROWS = 2_000

/** The newest first. One row more than the limit tells whether there are more. */
export async function listOfficeMembers(
  sql: Queries,
  communityId: number,
  request: Pick<ListRequest, 'limit' | 'after'>,
  filters: MemberFilters,
): Promise<OfficeMemberRow[]> {
  if (filters.q === undefined) return selectMembers(sql, communityId, request, filters)
  // A common word is found many times among the newest, a rare one by the index; asked first, the index would gather
  // everyone who has the common word.
  const newest = await selectMembers(sql, communityId, request, filters, NEWEST_READ_ROWS)
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

/** Which calls of partners have read the email address of this member, the newest first. */
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
