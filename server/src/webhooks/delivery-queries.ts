import type { Queries } from '../db/connect.ts'
import type { StoredEvent } from '../events/render.ts'

/** A delivery that this worker holds until its lease ends, with all that is needed to judge, render and sign it. */
export interface ClaimedDelivery extends StoredEvent {
  id: number
  subscription_id: number
  claims: number
  attempts: number
  event_uuid: string
  event_created_at: string
  member_id: number | null
  target_url: string
  secret: Buffer
  previous_secret: Buffer | null
  partner_of_subscription: number
  partner_status: string
  partner_scopes: string[]
  client_id: number
  client_public_id: string
  client_status: string
  client_scopes: string[]
}

/**
 * Leases due deliveries: at most so many per subscription, so that a dead endpoint with a long backlog does not starve
 * the others. A worker that dies leaves a lease that ends.
 */
export async function claimDeliveries(
  sql: Queries,
  communityId: number,
  room: { subscriptionId: number; free: number }[],
  now: Date,
  leaseMs: number,
): Promise<ClaimedDelivery[]> {
  return sql<ClaimedDelivery[]>`
    with due as materialized (
      select d.id from unnest(${room.map((one) => one.subscriptionId)}::int8[], ${room.map((one) => one.free)}::int4[])
        as s(id, free), lateral (
        select id from deliveries
        where community_id = ${communityId} and subscription_id = s.id and status = 'pending' and next_attempt_at <= ${now}
        order by next_attempt_at, id limit s.free for update skip locked) d
    ), claimed as (
      update deliveries set claims = claims + 1, next_attempt_at = ${new Date(now.getTime() + leaseMs)}
      where community_id = ${communityId} and id = any (array(select id from due))
      returning id, subscription_id, event_id, event_created_at, claims, attempts
    )
    select d.id, d.subscription_id, d.claims, d.attempts, e.uuid as event_uuid, e.type, e.partner_id, e.member_id, e.data,
      e.created_at as event_created_at, s.target_url, s.secret,
      case when s.previous_secret_until > ${now} then s.previous_secret end as previous_secret,
      s.partner_id as partner_of_subscription, p.status as partner_status, p.scopes as partner_scopes,
      c.id as client_id, c.public_id as client_public_id, c.status as client_status, c.scopes as client_scopes
    from claimed d
    join events e on e.community_id = ${communityId} and e.created_at = d.event_created_at and e.id = d.event_id
    join subscriptions s on s.community_id = ${communityId} and s.id = d.subscription_id
    join partners p on p.community_id = ${communityId} and p.id = s.partner_id
    join clients c on c.community_id = ${communityId} and c.id = s.client_id
    order by d.id`
}

export interface Completion {
  id: number
  /** Only whoever still holds the last claim completes. */
  claims: number
  status: 'pending' | 'held' | 'delivered' | 'failed'
  heldReason?: string | undefined
  nextAttemptAt?: Date | undefined
  /** Absent when nothing was sent. */
  attempt?:
    | {
        durationMs: number
        status: number | undefined
        errorKind: string | undefined
        error: string | undefined
        response: string | undefined
      }
    | undefined
}

/** Delivery, attempt log and the subscription's health in one statement. */
export async function completeDeliveries(
  sql: Queries,
  communityId: number,
  completions: Completion[],
  now: Date,
): Promise<void> {
  const column = <T>(pick: (completion: Completion) => T | undefined) => completions.map((one) => pick(one) ?? null)
  const time = (date: Date | undefined) => date?.toISOString()
  await sql`
    with input as materialized (
      select * from unnest(${column((one) => one.id)}::int8[], ${column((one) => one.claims)}::int4[],
        ${column((one) => one.status)}::text[], ${column((one) => one.heldReason)}::text[],
        ${column((one) => time(one.nextAttemptAt))}::timestamptz[], ${column((one) => `${one.attempt !== undefined}`)}::text[],
        ${column((one) => one.attempt?.durationMs)}::int4[], ${column((one) => one.attempt?.status)}::int4[],
        ${column((one) => one.attempt?.errorKind)}::text[], ${column((one) => one.attempt?.error)}::text[],
        ${column((one) => one.attempt?.response)}::text[]
      ) as i(id, claims, status, held_reason, next_attempt_at, was_sent, duration_ms, http_status, error_kind, error, response)
    ), completed as (
      update deliveries d set status = i.status, held_reason = i.held_reason,
        next_attempt_at = coalesce(i.next_attempt_at, d.next_attempt_at),
        attempts = d.attempts + case when i.was_sent = 'true' then 1 else 0 end,
        finished_at = case when i.status in ('delivered', 'failed') then ${now}::timestamptz end
      from input i
      where d.community_id = ${communityId} and d.id = i.id and d.claims = i.claims and d.status = 'pending'
      returning d.id, d.subscription_id, d.attempts, d.status
    ), logged as (
      insert into attempts (community_id, at, delivery_id, number, duration_ms, status, error_kind, error, response)
      select ${communityId}, ${now}, c.id, c.attempts, i.duration_ms, i.http_status, i.error_kind, i.error, i.response
      from completed c join input i using (id) where i.was_sent = 'true'
    )
    update subscriptions s set
      last_success_at = case when h.ok then ${now}::timestamptz else s.last_success_at end,
      failing_since = case when h.ok then null else coalesce(s.failing_since, ${now}::timestamptz) end
    from (
      select c.subscription_id, bool_or(c.status = 'delivered') as ok from completed c join input i using (id)
      where i.was_sent = 'true' group by 1
    ) h
    where s.community_id = ${communityId} and s.id = h.subscription_id
      and (h.ok is distinct from (s.failing_since is null) or s.last_success_at is null
        or h.ok and s.last_success_at < ${now}::timestamptz - interval '1 minute')`
}

/** Nothing but failures for too long. Returns those that were disabled. */
export async function disableFailing(
  sql: Queries,
  communityId: number,
  subscriptionIds: number[],
  failingSince: Date,
  now: Date,
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    update subscriptions set status = 'disabled', status_reason = 'Nothing but failures for five days',
      status_changed_at = ${now}, updated_at = ${now}
    where community_id = ${communityId} and id = any (${subscriptionIds}::int8[]) and status = 'active'
      and failing_since <= ${failingSince}
    returning id`
  return rows.map(({ id }) => id)
}

export async function disableSubscription(
  sql: Queries,
  communityId: number,
  id: number,
  reason: string,
  now: Date,
): Promise<void> {
  await sql`
    update subscriptions set status = 'disabled', status_reason = ${reason}, status_changed_at = ${now}, updated_at = ${now}
    where community_id = ${communityId} and id = ${id} and status <> 'disabled'`
}

/** Access was given back: what was held goes on. */
export async function releaseHeld(sql: Queries, communityId: number, partnerId: number): Promise<void> {
  await sql`
    update deliveries d set status = 'pending', held_reason = null, next_attempt_at = now() from subscriptions s
    where d.community_id = ${communityId} and d.status = 'held' and s.community_id = ${communityId}
      and s.id = d.subscription_id and s.partner_id = ${partnerId}`
}
