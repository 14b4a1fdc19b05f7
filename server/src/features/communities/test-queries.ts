import type { Queries } from '../../postgres/connect.ts'

export interface KnownCommunity {
  slug: string
  name: string
  test: boolean
  /** The community it was made from. */
  test_of: number | null
}

export async function findCommunityById(sql: Queries, communityId: number): Promise<KnownCommunity | undefined> {
  const [row] = await sql<KnownCommunity[]>`select slug, name, test, test_of from communities where id = ${communityId}`
  return row
}

/** As above; nobody adds to it any more until the transaction ends. */
export async function lockCommunity(sql: Queries, communityId: number): Promise<KnownCommunity | undefined> {
  const [row] = await sql<KnownCommunity[]>`
    select slug, name, test, test_of from communities where id = ${communityId} for update`
  return row
}

export async function countTestCommunities(sql: Queries, communityId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from communities where test_of = ${communityId}`
  return row.count
}

/** The slug itself, and those that begin with it. */
export async function listSlugsLike(sql: Queries, start: string): Promise<string[]> {
  const rows = await sql<{ slug: string }[]>`select slug from communities where starts_with(slug, ${start})`
  return rows.map(({ slug }) => slug)
}

export async function markTestOf(sql: Queries, communityId: number, testOf: number): Promise<void> {
  await sql`update communities set test_of = ${testOf} where id = ${communityId}`
}
