import type { Queries } from '../postgres/connect.ts'
import type { Outcome } from './send.ts'

/** What became of a delivery. */
export interface Completion {
  id: number
  subscriptionId: number
  /** As they were when it was read: the result is ignored if another was recorded or the delivery was queued again. */
  claims: number
  attempts: number
  status: 'pending' | 'held' | 'delivered' | 'failed'
  heldReason?: string | undefined
  nextAttemptAt?: Date | undefined
  /** Absent if nothing was sent. */
  attempt?: { at: Date; outcome: Outcome } | undefined
}

/**
 * Updates deliveries and inserts attempts in one statement. A success is stored in the delivery's row (migration 0016)
 * and moves an earlier success to the attempts, without its response: a replay would store all of them again.
 * Subscriptions are locked first, as deleting them does; deliveries of deleted subscriptions are skipped. One JSON
 * parameter, because the driver escapes each element of an array.
 *
 * Returns the ids of deliveries that someone else has locked, which are left as they are: a replay locks those of one
 * subscription for seconds, and those of all others would wait.
 */
export async function recordCompletions(
  sql: Queries,
  communityId: number,
  completions: Completion[],
  now: Date,
): Promise<Set<number>> {
  const subscriptionIds = [...new Set(completions.map(({ subscriptionId }) => subscriptionId))]
  const input = completions.map(({ id, claims, attempts, status, heldReason, nextAttemptAt, attempt }) => ({
    id,
    claims,
    attempts,
    status,
    held_reason: heldReason,
    next_attempt_at: nextAttemptAt,
    sent_at: attempt?.at,
    duration_ms: attempt?.outcome.durationMs,
    http_status: attempt?.outcome.status,
    error_kind: attempt?.outcome.errorKind,
    error: attempt?.outcome.error,
    response: attempt?.outcome.response,
  }))
  const locked = await sql<{ id: number }[]>`
    with kept as materialized (
      select id from subscriptions where community_id = ${communityId} and id = any (${subscriptionIds}::int8[])
      order by id for key share
    ), input as materialized (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as i(id int8, claims int4, attempts int4,
        status text, held_reason text, next_attempt_at timestamptz, sent_at timestamptz, duration_ms int4,
        http_status int4, error_kind text, error text, response text)
    ), locked as materialized (
      select id, claims, attempts, status, success_at, success_number, success_duration_ms, success_status
      from deliveries
      where community_id = ${communityId} and id = any (${completions.map(({ id }) => id)}::int8[])
        and subscription_id = any (array(select id from kept))
      order by subscription_id, event_id for no key update skip locked
    ), valid as materialized (
      select i.*, l.success_at, l.success_number, l.success_duration_ms, l.success_status,
        i.status = 'delivered' as is_success
      from input i join locked l using (id, claims, attempts) where l.status = 'pending'
    ), completed as (
      update deliveries d set status = v.status, held_reason = v.held_reason,
        next_attempt_at = coalesce(v.next_attempt_at, d.next_attempt_at),
        attempts = v.attempts + case when v.sent_at is null then 0 else 1 end,
        finished_at = case when v.status in ('delivered', 'failed') then ${now}::timestamptz end,
        success_at = case when v.is_success then v.sent_at else d.success_at end,
        success_number = case when v.is_success then v.attempts + 1 else d.success_number end,
        success_duration_ms = case when v.is_success then v.duration_ms else d.success_duration_ms end,
        success_status = case when v.is_success then v.http_status else d.success_status end,
        success_response = case when v.is_success then v.response else d.success_response end
      from valid v
      where d.community_id = ${communityId} and d.id = v.id
    ), attempted as (
      insert into attempts (community_id, at, delivery_id, number, duration_ms, status, error_kind, error, response)
      select ${communityId}, r.* from (
        select sent_at, id, attempts + 1, duration_ms, http_status, error_kind, error, response
        from valid where sent_at is not null and not is_success
        union all
        select success_at, id, success_number, success_duration_ms, success_status, null, null, null
        from valid where is_success and success_at is not null
      ) r
    )
    select id from deliveries
    where community_id = ${communityId} and id = any (${completions.map(({ id }) => id)}::int8[])
      and subscription_id = any (array(select id from kept)) and id <> all (array(select id from locked))`
  return new Set(locked.map(({ id }) => id))
}
