import type { Queries } from '../../postgres/connect.ts'
import type { PartnerRow } from './queries.ts'

/** A partner with its recent activity. */
export interface PartnerOverviewRow extends PartnerRow {
  /** Credited today in the community's time zone. */
  used_centihours: number
  active_clients: number
  last_used_at: string | null
}

const selectOverview = (sql: Queries, communityId: number) => sql`
  select p.id, p.name, p.contact, p.status, p.scopes, p.rate_limit_per_minute, p.daily_limit_centihours,
    p.allowed_networks, p.created_at, coalesce(d.centihours, 0) as used_centihours, c.active_clients, c.last_used_at
  from partners p
  join communities m on m.id = ${communityId}
  left join partner_days d on d.community_id = ${communityId} and d.partner_id = p.id
    and d.day = (now() at time zone m.time_zone)::date
  cross join lateral (
    select count(*) filter (where status = 'active') as active_clients, max(last_used_at) as last_used_at
    from clients where community_id = ${communityId} and partner_id = p.id
  ) c`

export interface PartnerFilter {
  /** Part of the name. */
  q?: string
  status?: 'active' | 'suspended'
}

/** Lists the newest first. */
export async function listPartnerOverviews(
  sql: Queries,
  communityId: number,
  { q, status }: PartnerFilter,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<PartnerOverviewRow[]> {
  return sql<PartnerOverviewRow[]>`
    ${selectOverview(sql, communityId)}
    where p.community_id = ${communityId}
      ${q === undefined ? sql`` : sql`and position(lower(${q}) in lower(p.name)) > 0`}
      ${status === undefined ? sql`` : sql`and p.status = ${status}`}
      ${before === undefined ? sql`` : sql`and p.id < ${before}`}
    order by p.id desc limit ${limit}`
}

export async function findPartnerOverview(
  sql: Queries,
  communityId: number,
  partnerId: number,
): Promise<PartnerOverviewRow | undefined> {
  const [row] = await sql<PartnerOverviewRow[]>`
    ${selectOverview(sql, communityId)} where p.community_id = ${communityId} and p.id = ${partnerId}`
  return row
}
