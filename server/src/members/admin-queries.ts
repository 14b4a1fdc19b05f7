import { transaction, type Queries } from '../db/connect.ts'
import type { ListRequest } from '../http/paging.ts'

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

/** The newest first. One row more than the limit tells whether there are more. */
export async function listOfficeMembers(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  { q, status, hidden }: MemberFilters,
): Promise<OfficeMemberRow[]> {
  return transaction(sql, async (tx) => {
    // Whether a word is rare or common decides the way through the table; a plan made for any word fits neither.
    if (q !== undefined) await tx`set local plan_cache_mode = force_custom_plan`
    return tx<OfficeMemberRow[]>`
      with found as (
        select id from members
        where community_id = ${communityId} and (erased_at is not null) = ${status === 'erased'}
          ${after ? tx`and id < ${after.id}` : tx``}
          ${q === undefined ? tx`` : tx`and search @@ search_query(${communityId}, ${q})`}
          ${status === 'active' || status === 'inactive' ? tx`and status = ${status}` : tx``}
          ${hidden === undefined ? tx`` : hidden ? tx`and hidden` : tx`and not hidden`}
        order by id desc limit ${limit + 1}
      )
      select ${columns(tx)} from found
      join members m on m.community_id = ${communityId} and m.id = found.id
      join accounts a on a.community_id = ${communityId} and a.member_id = found.id
      order by m.id desc`
  })
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
