import type { Queries } from '../../postgres/connect.ts'

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
  const unit = step === '1 hour' ? 'hour' : 'day'
  return sql<EndpointPoint[]>`
    with present as materialized (
      select date_trunc(${unit}, now() at time zone ${timeZone}) as last,
        date_trunc(${unit}, now() at time zone ${timeZone}) - ${step}::interval * ${steps - 1} as first
    ), since as materialized (
      select first at time zone ${timeZone} as at from present
    ), chosen as materialized (
      select id, date_trunc(${unit}, event_created_at at time zone ${timeZone}) as slot, success_at, success_duration_ms
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
    select slots.slot at time zone ${timeZone} as at, count(t.slot) filter (where t.ok) as succeeded,
      count(t.slot) filter (where not t.ok) as failed,
      percentile_disc(0.5) within group (order by t.duration_ms)::int4 as median_ms,
      percentile_disc(0.95) within group (order by t.duration_ms)::int4 as slow_ms,
      (select count(*) from chosen) as counted
    from present, generate_series(present.first, present.last, ${step}::interval) as slots(slot)
    left join tries t on t.slot = slots.slot
    group by slots.slot order by slots.slot`
}
