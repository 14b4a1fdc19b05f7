import type { Queries } from './connect.ts'

/** Returns the last number that a transfer got, in any community. */
export async function readLastTransferNumber(sql: Queries): Promise<number> {
  const [row] = await sql<[{ last_value: number }]>`select last_value from transfers_id_seq`
  return row.last_value
}

export interface OpenTransaction {
  pid: number
  seconds: number
}

/** Finds the oldest transaction that has begun to write and is still open. On Citus only the lock of stamp_change() tells. */
export async function findOpenTransaction(sql: Queries): Promise<OpenTransaction | undefined> {
  const [row] = await sql<OpenTransaction[]>`
    select pid, extract(epoch from clock_timestamp() - xact_start)::int8 as seconds from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and (backend_xid is not null or pid in (
      select pid from pg_locks
      where locktype = 'advisory' and classid = 4711010 and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())))
    order by xact_start limit 1`
  return row
}

/**
 * Returns communities with transfers after the end of their hash chain. Costs two index lookups per community. The list of
 * communities is that of their accounts, which Citus joins on each node.
 */
export async function communitiesToChain(sql: Queries): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select a.community_id as id from accounts a
    where a.kind = 'community'
      and (select t.id from transfers t where t.community_id = a.community_id order by t.id desc limit 1)
      > coalesce((select h.transfer_id from ledger_heads h where h.community_id = a.community_id), 0)
    order by 1`
  return rows.map(({ id }) => id)
}
