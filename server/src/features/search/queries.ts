import type { Queries } from '../../postgres/connect.ts'

export interface FoundPartner {
  id: number
  name: string
  status: 'active' | 'suspended'
}

/** Searches partners by the words of their names. There are too few partners to need an index. */
export async function searchPartners(
  sql: Queries,
  communityId: number,
  q: string,
  limit: number,
): Promise<FoundPartner[]> {
  return sql<FoundPartner[]>`
    select id, name, status from partners
    where community_id = ${communityId}
      and array_to_tsvector(search_words(${communityId}, name)) @@ search_query(${communityId}, ${q})
    order by name, id limit ${limit}`
}
