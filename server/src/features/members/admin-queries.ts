import type { Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { lastExchangeOn } from '../wallet/queries.ts'
import { recordColumns, type MemberRecord } from './queries.ts'
import { tagList } from './tag-queries.ts'

/** A member as administrators see it, with the balance of the wallet and the tags. */
export interface OfficeMemberRow extends MemberRecord {
  left_at: string | null
  balance: number
  last_active_on: string
  last_exchange_on: string | null
  tags: string[]
}

export async function findOfficeMember(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<OfficeMemberRow | undefined> {
  const [row] = await sql<OfficeMemberRow[]>`
    select ${recordColumns('m')}, m.left_at, a.balance, a.last_active_on,
      ${lastExchangeOn(sql, communityId)} as last_exchange_on, ${tagList(sql, communityId, 'm')} as tags
    from members m
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
