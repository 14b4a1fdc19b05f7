import type { Queries } from '../../postgres/connect.ts'

export interface AdminRequestRow {
  admin_id: number
  digest: Buffer
  /** Of what was made. */
  ids: number[]
}

/** Returns false if the key exists. Waits for a concurrent request with the same key. */
export async function insertAdminRequest(
  sql: Queries,
  communityId: number,
  request: { key: string; adminId: number; digest: Buffer },
): Promise<boolean> {
  const { count } = await sql`
    insert into admin_requests (community_id, key, admin_id, digest)
    values (${communityId}, ${request.key}, ${request.adminId}, ${request.digest})
    on conflict (community_id, key) do nothing`
  return count === 1
}

export async function findAdminRequest(
  sql: Queries,
  communityId: number,
  key: string,
): Promise<AdminRequestRow | undefined> {
  const [row] = await sql<AdminRequestRow[]>`
    select admin_id, digest, coalesce(made_ids, transfer_ids) as ids from admin_requests
    where community_id = ${communityId} and key = ${key}`
  return row
}

export async function setRequestIds(sql: Queries, communityId: number, key: string, ids: number[]): Promise<void> {
  await sql`
    update admin_requests set made_ids = ${ids}::int8[] where community_id = ${communityId} and key = ${key}`
}
