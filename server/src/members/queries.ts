import type { Queries } from '../db/connect.ts'

export interface MemberRow {
  id: number
  name: string
  email: string | null
  status: 'active'
  joined_at: Date
  updated_at: Date
}

export async function listMembers(
  sql: Queries,
  communityId: number,
  page: { afterId: number; limit: number },
): Promise<MemberRow[]> {
  return sql<MemberRow[]>`
    select id, name, email, status, joined_at, updated_at
    from members
    where community_id = ${communityId} and status = 'active' and id > ${page.afterId}
    order by id limit ${page.limit + 1}`
}
