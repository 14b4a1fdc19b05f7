import type { Fragment, Queries } from '../../postgres/connect.ts'

/** For a new endpoint whose response was lost: nobody has seen the secret. */
export async function overwriteSubscriptionSecret(
  sql: Queries,
  communityId: number,
  id: number,
  secret: Buffer,
): Promise<{ id: number; scopes: string[] } | undefined> {
  const [row] = await sql<{ id: number; scopes: string[] }[]>`
    update subscriptions set secret = ${secret}, updated_at = now()
    where community_id = ${communityId} and id = ${id} returning id, scopes`
  return row
}

export interface EndpointPoint {
  at: string
  succeeded: number
  failed: number
  median_ms: number | null
  slow_ms: number | null
  counted: number
}

/**
 * Counts the attempts of a subscription's newest deliveries, by the time of their events: deliveries are in the order of
 * events, and an index of the attempts' times would cost every delivery more than this page is worth. Starts at the
 * first event of the period and stops at a limit.
 */
export async function readStatistics(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  { timeZone, step, steps, limit }: { timeZone: string; step: '1 hour' | '1 day'; steps: number; limit: number },
): Promise<EndpointPoint[]> {
  // Days follow the clock of the community. Hours do not: one of them comes twice when the clocks are set back.
  const slotOf =
    step === '1 day'
      ? (time: Fragment) => sql`date_trunc('day', ${time} at time zone ${timeZone}) at time zone ${timeZone}`
      : (time: Fragment) => sql`date_trunc('hour', ${time}, ${timeZone})`
  const slotBefore =
    step === '1 day'
      ? sql`(date_trunc('day', now() at time zone ${timeZone}) - n * interval '1 day') at time zone ${timeZone}`
      : sql`${slotOf(sql`now()`)} - n * interval '1 hour'`
  return sql<EndpointPoint[]>`
    with slots as materialized (
      select ${slotBefore} as slot from generate_series(0, ${steps - 1}::int4) n
    ), since as materialized (
      select min(slot) as at from slots
    ), chosen as materialized (
      select id, ${slotOf(sql`event_created_at`)} as slot, success_at, success_duration_ms
      from deliveries
      where community_id = ${communityId} and subscription_id = ${subscriptionId}
        and event_created_at >= (select at from since)
        and event_id >= (
          select e.id from events e where e.community_id = ${communityId} and e.created_at >= (select at from since)
          order by e.created_at, e.id limit 1)
      order by event_id desc limit ${limit}
    ), tries as (
      select slot, true as ok, success_duration_ms as duration_ms from chosen where success_at is not null
      union all
      select c.slot, a.error_kind is null, a.duration_ms from chosen c
      join attempts a on a.community_id = ${communityId} and a.delivery_id = c.id and a.at >= (select at from since)
    )
    select slots.slot as at, count(t.slot) filter (where t.ok) as succeeded,
      count(t.slot) filter (where not t.ok) as failed,
      percentile_disc(0.5) within group (order by t.duration_ms)::int4 as median_ms,
      percentile_disc(0.95) within group (order by t.duration_ms)::int4 as slow_ms,
      (select count(*) from chosen) as counted
    from slots left join tries t on t.slot = slots.slot
    group by slots.slot order by slots.slot`
}
