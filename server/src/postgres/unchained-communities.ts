import type { Queries } from './connect.ts'

/** Returns communities with transfers after the end of their hash chain. Costs two index lookups per community. */
export async function communitiesToChain(sql: Queries): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select c.id from communities c
    where (select t.id from transfers t where t.community_id = c.id order by t.id desc limit 1)
      > coalesce((select h.transfer_id from ledger_heads h where h.community_id = c.id), 0)
    order by c.id`
  return rows.map(({ id }) => id)
}
