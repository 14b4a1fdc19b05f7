import type { Queries, Transaction } from '../../postgres/connect.ts'

export interface AdminRequestRow {
  admin_id: number
  digest: Buffer
  /** Of what was made. */
  ids: number[]
}

/** For `pg_advisory_xact_lock` with two keys, of which the community is the second. */
const REQUESTS_LOCK = 4_711_011
const INT4_MAX = 2_147_483_647

/**
 * Call it before inserting the key. The key's row refers to the community and is written before any wallet is locked, but
 * the removal of a test community locks wallets before the community.
 */
export async function holdOffRemoval(tx: Transaction, communityId: number): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(${REQUESTS_LOCK}::int4, ${communityId % INT4_MAX}::int4)`
}

/** Waits for requests with a key, and makes new ones wait until commit. */
export async function holdOffRequests(tx: Transaction, communityId: number): Promise<void> {
  await tx`select pg_advisory_xact_lock(${REQUESTS_LOCK}::int4, ${communityId % INT4_MAX}::int4)`
}

/** Returns false if the key exists, or the community does not. Waits for a concurrent request with the same key. */
export async function insertAdminRequest(
  sql: Queries,
  communityId: number,
  request: { key: string; adminId: number; digest: Buffer },
): Promise<boolean> {
  const rows = await sql`
    insert into admin_requests (community_id, key, admin_id, digest)
    select id, ${request.key}, ${request.adminId}::int8, ${request.digest}::bytea from communities where id = ${communityId}
    on conflict (community_id, key) do nothing
    returning key`
  // Not by the count, which is that of the query on Citus, also if nothing was inserted.
  return rows.length === 1
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

/**
 * Removes the digests of what was entered about a member: a digest confirms a guess of the text. Ids of different
 * kinds are not told apart: a request without a digest is still not carried out twice.
 */
export async function blankDigests(tx: Transaction, communityId: number, memberId: number): Promise<void> {
  const wallet = tx`(select id from accounts where community_id = ${communityId} and member_id = ${memberId})`
  await tx`
    update admin_requests set digest = ''
    where community_id = ${communityId} and key = any (array(
      select key from admin_requests
      where community_id = ${communityId} and key in (
        -- Rows instead of arrays, which are compared each with each.
        select made.key from (
          select key, unnest(coalesce(made_ids, transfer_ids)) as id from admin_requests
          where community_id = ${communityId} and digest <> ''
        ) made where made.id in (
          select id from listings where community_id = ${communityId} and member_id = ${memberId}
          union all select id from transfers where community_id = ${communityId} and debit_account_id = ${wallet}
          union all select id from transfers where community_id = ${communityId} and credit_account_id = ${wallet}
          union all select ${memberId}::int8
        ))
      order by key for no key update))`
}
