import { identifier, type Queries } from './connect.ts'
import { deleteLockedDeliveries } from './delete-deliveries.ts'

/* Old rows of all communities: see across-communities.ts. */

/** Records, per community, the last feed position that is lost when rows older than `before` leave this partition. */
export async function raisePrunedPositions(sql: Queries, table: string, before: Date): Promise<void> {
  await sql`
    update event_heads h set pruned_position = e.position
    from (
      select community_id, max(position) as position from ${identifier(table)}
      where created_at < ${before} and position is not null group by community_id
    ) e
    where h.community_id = e.community_id and h.pruned_position < e.position`
}

/** Whether the table has events without a position, which have not been delivered to anyone yet. */
export async function hasUnorderedEvents(sql: Queries, table: string): Promise<boolean> {
  const rows = await sql`select 1 from ${identifier(table)} where position is null limit 1`
  return rows.length > 0
}

/** Deletes up to `batchMax` rows and returns the count. */
export type DeleteOld = (sql: Queries, before: Date, batchMax: number) => Promise<number>

export const deleteOldTokens: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from tokens where (community_id, hash) in (
      select community_id, hash from tokens where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAssertions: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from client_assertions where (community_id, client_id, jti_hash) in (
      select community_id, client_id, jti_hash from client_assertions where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldSessions: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_sessions where id in (
      select id from admin_sessions where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldLinks: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_links where token_hash in (
      select token_hash from admin_links where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldInvitations: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_invitations where (community_id, id) in (
      select community_id, id from admin_invitations where expires_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldBrowsers: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_browsers where (admin_id, token_hash) in (
      select admin_id, token_hash from admin_browsers where last_used_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAttemptCounts: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from attempt_counts where key in (select key from attempt_counts where ends_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAdminRequests: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from admin_requests where (community_id, key) in (
      select community_id, key from admin_requests where created_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAlerts: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from alerts where (community_id, id) in (
      select community_id, id from alerts where ended_at < ${before} limit ${batchMax})`
  return count
}

/**
 * Deletes deliveries of one community in any state, because their events are deleted as well. Each subscription's oldest
 * are found by its own index, up to the first event that is kept. An index by age would cost every delivery, or, as BRIN,
 * find nothing any more once new rows stand where old ones were.
 */
export function deleteOldDeliveriesOf(communityId: number): DeleteOld {
  return async (sql, before, batchMax) => {
    const locked = await sql<{ id: number }[]>`
      select id from deliveries
      where community_id = ${communityId} and id = any (array(
        select d.id from subscriptions s cross join lateral (
          select id from deliveries
          where community_id = ${communityId} and subscription_id = s.id and event_created_at < ${before}
            and event_id < coalesce((
              select id from events where community_id = ${communityId} and created_at >= ${before}
              order by created_at, id limit 1), 9223372036854775807)
          order by event_id limit ${batchMax}) d
        where s.community_id = ${communityId} limit ${batchMax}))
      order by subscription_id, event_id for update skip locked`
    return deleteLockedDeliveries(
      sql,
      communityId,
      locked.map(({ id }) => id),
    )
  }
}

/** The default partitions hold rows that were inserted before their partition existed (after a restore). */
export const deleteOldCalls: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from call_groups_default where (community_id, second_at, id) in (
      select community_id, second_at, id from call_groups_default where second_at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldAttempts: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from attempts_default where (community_id, at, id) in (
      select community_id, at, id from attempts_default where at < ${before} limit ${batchMax})`
  return count
}

export const deleteOldEvents: DeleteOld = async (sql, before, batchMax) => {
  const { count } = await sql`
    delete from events_default where (community_id, created_at, id) in (
      select community_id, created_at, id from events_default
      where created_at < ${before} and position is not null limit ${batchMax})`
  return count
}
