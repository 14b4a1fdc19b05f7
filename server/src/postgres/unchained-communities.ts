import type { Queries } from './connect.ts'

/** Returns the last number that a transfer got, in any community. */
export async function readLastTransferNumber(sql: Queries): Promise<number> {
  const [row] = await sql<[{ last_value: number }]>`select last_value from transfers_id_seq`
  return row.last_value
}

/** Whether a transaction that has begun to write is still open. */
export async function hasOpenTransactions(sql: Queries): Promise<boolean> {
  const [row] = await sql<[{ is_open: boolean }]>`
    select exists (
      select from pg_stat_activity
      where datname = current_database() and backend_xid is not null and pid <> pg_backend_pid()) as is_open`
  return row.is_open
}

/** Returns communities with transfers after the end of their hash chain. Costs two index lookups per community. */
export async function communitiesToChain(sql: Queries): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select c.id from communities c
    where (select t.id from transfers t where t.community_id = c.id order by t.id desc limit 1)
      > coalesce((select h.transfer_id from ledger_heads h where h.community_id = c.id), 0)
    order by c.id`
  return rows.map(({ id }) => id)
}
