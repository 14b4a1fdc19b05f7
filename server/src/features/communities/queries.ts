import type { Queries } from '../../postgres/connect.ts'

export interface CommunityRow {
  id: number
  slug: string
  name: string
  test: boolean
  time_zone: string
  language: string
  partner_api_enabled: boolean
  created_at: string
}

export const communityColumns = (sql: Queries) =>
  sql`id, slug, name, test, time_zone, language, partner_api_enabled, created_at`

/** Creates the community and its account for adjustments. */
export async function insertCommunity(
  sql: Queries,
  community: { slug: string; name: string; test: boolean; timeZone: string; language: string },
): Promise<CommunityRow> {
  const [row] = await sql<[CommunityRow]>`
    with made as (
      insert into communities (slug, name, test, time_zone, language)
      values (${community.slug}, ${community.name}, ${community.test}, ${community.timeZone}, ${community.language})
      returning *
    ), account as (
      insert into accounts (community_id, kind) select id, 'community' from made
    )
    select ${communityColumns(sql)} from made`
  return row
}

/** Whether PostgreSQL has the zone, in whatever case. */
export async function isKnownTimeZone(sql: Queries, timeZone: string): Promise<boolean> {
  const [row] = await sql<[{ known: boolean }]>`
    select exists(select 1 from pg_timezone_names where lower(name) = lower(${timeZone})) as known`
  return row.known
}

export async function findCommunity(sql: Queries, slug: string): Promise<CommunityRow | undefined> {
  const [row] = await sql<CommunityRow[]>`select ${communityColumns(sql)} from communities where slug = ${slug}`
  return row
}

export async function listCommunities(sql: Queries): Promise<CommunityRow[]> {
  return sql<CommunityRow[]>`select ${communityColumns(sql)} from communities order by slug`
}

/** Switching it on ends the review after a restore. */
export async function updatePartnerApi(
  sql: Queries,
  communityId: number,
  partnerApi: { enabled: boolean; reason: string | null },
): Promise<void> {
  await sql`
    update communities set partner_api_enabled = ${partnerApi.enabled}, partner_api_disabled_reason = ${partnerApi.reason},
      updated_at = now(), review_backup_at = case when not ${partnerApi.enabled} then review_backup_at end
    where id = ${communityId}`
}

export interface PartnerApiRow {
  enabled: boolean
  reason: string | null
}

export async function findPartnerApi(sql: Queries, communityId: number): Promise<PartnerApiRow> {
  const [row] = await sql<[PartnerApiRow]>`
    select partner_api_enabled as enabled, partner_api_disabled_reason as reason from communities
    where id = ${communityId}`
  return row
}
