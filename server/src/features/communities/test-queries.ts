import { identifier, type Queries } from '../../postgres/connect.ts'

export interface CommunityOrigin {
  slug: string
  name: string
  test: boolean
  /** The community that the test community was created from. */
  test_of: number | null
}

export async function findCommunityById(sql: Queries, communityId: number): Promise<CommunityOrigin | undefined> {
  const [row] = await sql<
    CommunityOrigin[]
  >`select slug, name, test, test_of from communities where id = ${communityId}`
  return row
}

/** Prevents inserts into the community until commit. */
export async function lockCommunity(sql: Queries, communityId: number): Promise<CommunityOrigin | undefined> {
  const [row] = await sql<CommunityOrigin[]>`
    select slug, name, test, test_of from communities where id = ${communityId} for update`
  return row
}

export async function countTestCommunities(sql: Queries, communityId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from communities where test_of = ${communityId}`
  return row.count
}

/** Lists the slugs with this prefix. */
export async function listSlugsLike(sql: Queries, prefix: string): Promise<string[]> {
  const rows = await sql<{ slug: string }[]>`select slug from communities where starts_with(slug, ${prefix})`
  return rows.map(({ slug }) => slug)
}

export async function markTestOf(sql: Queries, communityId: number, testOf: number): Promise<void> {
  await sql`update communities set test_of = ${testOf} where id = ${communityId}`
}

/**
 * Locks wallets before everything else, in id order like all transfers. Members' accounts come first, because a credit
 * that holds one goes on to write rows that reference the others.
 */
export async function lockWallets(sql: Queries, communityId: number): Promise<void> {
  await sql`select 1 from accounts where community_id = ${communityId} order by member_id is null, id for update`
}

export async function lockRows(sql: Queries, table: string, communityId: number, order: string): Promise<void> {
  await sql`
    select 1 from ${identifier(table)} where community_id = ${communityId} order by ${identifier(order)} for update`
}

export async function deleteRows(sql: Queries, table: string, communityId: number): Promise<void> {
  await sql`delete from ${identifier(table)} where community_id = ${communityId}`
}

export async function deleteCommunity(sql: Queries, communityId: number): Promise<void> {
  await sql`delete from communities where id = ${communityId}`
}
