import type { Queries } from '../postgres/connect.ts'
import type { Outcome } from './send.ts'

export interface Completion {
  subscriptionId: number
  eventId: number
  /** Known of whatever has no row. */
  eventCreatedAt: string | undefined
  /** Undefined as long as nobody has tried it. */
  id: number | undefined
  /** As they were when it was read: a word that comes later than another one, or than a new start, does not count. */
  claims: number
  attempts: number
  status: 'pending' | 'held' | 'delivered' | 'failed'
  heldReason?: string | undefined
  nextAttemptAt?: Date | undefined
  /** Absent when nothing was sent. */
  attempt?: { at: Date; outcome: Outcome } | undefined
}

/** Most are delivered at the first attempt: those get their row with it. Whatever else has no row yet is given one. */
export async function completeDeliveries(
  sql: Queries,
  communityId: number,
  completions: Completion[],
  now: Date,
): Promise<void> {
  const [first, others] = [completions.filter(isFirstAndLast), completions.filter((one) => !isFirstAndLast(one))]
  if (first.length > 0) await insertDelivered(sql, communityId, first, now)
  const tried = await withRows(sql, communityId, others, now)
  if (tried.length > 0) await updateDeliveries(sql, communityId, tried, now)
}

function isFirstAndLast({ id, status }: Completion): boolean {
  return id === undefined && status === 'delivered'
}

/**
 * A row may have been made meanwhile, since somebody asked for what is waiting: then it is that one's success, unless
 * somebody else has told of it. Rows are written in the order of subscriptions and events, as everywhere.
 */
async function insertDelivered(sql: Queries, communityId: number, completions: Completion[], now: Date): Promise<void> {
  const sent = completions.map(({ attempt }) => attempt!)
  await sql`
    with kept as materialized (
      ${lockSubscriptions(sql, communityId, completions)}
    )
    insert into deliveries as d (community_id, subscription_id, event_id, event_created_at, status, attempts,
      next_attempt_at, created_at, finished_at, success_at, success_number, success_duration_ms, success_status,
      success_response)
    select ${communityId}, i.subscription_id, i.event_id, i.event_created_at, 'delivered', 1,
      i.sent_at, i.event_created_at, ${now}, i.sent_at, 1, i.duration_ms, i.http_status, i.response
    from kept k join unnest(${arrayText(completions.map((one) => one.subscriptionId))}::text::int8[],
      ${arrayText(completions.map((one) => one.eventId))}::text::int8[],
      ${arrayText(completions.map((one) => one.eventCreatedAt!))}::text::timestamptz[],
      ${arrayText(sent.map(({ at }) => at.toISOString()))}::text::timestamptz[],
      ${arrayText(sent.map(({ outcome }) => outcome.durationMs))}::text::int4[],
      ${arrayText(sent.map(({ outcome }) => outcome.status!))}::text::int4[],
      ${sent.map(({ outcome }) => outcome.response!)}::text[])
      as i(subscription_id, event_id, event_created_at, sent_at, duration_ms, http_status, response)
      on i.subscription_id = k.id
    order by i.subscription_id, i.event_id
    on conflict (community_id, subscription_id, event_id) do update set status = excluded.status,
      attempts = excluded.attempts, finished_at = excluded.finished_at, success_at = excluded.success_at,
      success_number = excluded.success_number, success_duration_ms = excluded.success_duration_ms,
      success_status = excluded.success_status, success_response = excluded.success_response
    where d.status = 'pending' and d.claims = 0 and d.attempts = 0`
}

/** Gives those that have none a row, as if they had waited in it. Without those whose subscription is gone. */
export async function withRows<Tried extends Pick<Completion, 'id' | 'subscriptionId' | 'eventId' | 'eventCreatedAt'>>(
  sql: Queries,
  communityId: number,
  deliveries: Tried[],
  now: Date,
): Promise<(Tried & { id: number })[]> {
  const without = deliveries.filter(({ id }) => id === undefined)
  const ids = without.length > 0 ? await makeRows(sql, communityId, without, now) : new Map<string, number>()
  return deliveries.flatMap((one) => {
    const id = one.id ?? ids.get(`${one.subscriptionId}/${one.eventId}`)
    return id === undefined ? [] : [{ ...one, id }]
  })
}

/** Returns their ids by subscription and event. */
async function makeRows(
  sql: Queries,
  communityId: number,
  deliveries: Pick<Completion, 'subscriptionId' | 'eventId' | 'eventCreatedAt'>[],
  now: Date,
): Promise<Map<string, number>> {
  const pairs = sql`unnest(${deliveries.map((one) => one.subscriptionId)}::int8[],
    ${deliveries.map((one) => one.eventId)}::int8[], ${deliveries.map((one) => one.eventCreatedAt!)}::timestamptz[])
    as i(subscription_id, event_id, event_created_at)`
  await sql`
    with kept as materialized (
      ${lockSubscriptions(sql, communityId, deliveries)}
    )
    insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
    select ${communityId}, i.subscription_id, i.event_id, i.event_created_at, ${now}, i.event_created_at
    from kept k join ${pairs} on i.subscription_id = k.id
    order by i.subscription_id, i.event_id
    on conflict (community_id, subscription_id, event_id) do nothing`
  const rows = await sql<{ id: number; subscription_id: number; event_id: number }[]>`
    select d.id, i.subscription_id, i.event_id from ${pairs}, lateral (
      select id from deliveries
      where community_id = ${communityId} and subscription_id = i.subscription_id and event_id = i.event_id limit 1) d`
  return new Map(rows.map(({ id, subscription_id, event_id }) => [`${subscription_id}/${event_id}`, id]))
}

/** As PostgreSQL reads arrays, of what needs no quotes: the driver looks at each value by itself. */
function arrayText(values: (number | string)[]): string {
  return `{${values.join(',')}}`
}

/** Before anything of theirs, as whoever deletes them does. Not those that were deleted meanwhile. */
function lockSubscriptions(sql: Queries, communityId: number, deliveries: { subscriptionId: number }[]) {
  const ids = [...new Set(deliveries.map(({ subscriptionId }) => subscriptionId))]
  return sql`
    select id from subscriptions where community_id = ${communityId} and id = any (${ids}::int8[])
    order by id for key share`
}

/**
 * Deliveries and attempt log in one statement: a success stands in the delivery's row, and makes the one before it, if
 * there was any, a row like those of failures. Whether a word still counts is judged on what was locked, and what is left
 * is looked up one by one.
 */
async function updateDeliveries(
  sql: Queries,
  communityId: number,
  completions: (Completion & { id: number })[],
  now: Date,
): Promise<void> {
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
  await sql`
    with kept as materialized (
      ${lockSubscriptions(sql, communityId, completions)}
    ), input as materialized (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as i(id int8, claims int4, attempts int4,
        status text, held_reason text, next_attempt_at timestamptz, sent_at timestamptz, duration_ms int4,
        http_status int4, error_kind text, error text, response text)
    ), locked as materialized (
      select id, claims, attempts, status, success_at, success_number, success_duration_ms, success_status,
        success_response
      from deliveries
      where community_id = ${communityId} and id = any (${completions.map(({ id }) => id)}::int8[])
        and subscription_id = any (array(select id from kept))
      order by subscription_id, event_id for no key update
    ), valid as materialized (
      select i.*, l.success_at, l.success_number, l.success_duration_ms, l.success_status, l.success_response,
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
    )
    insert into attempts (community_id, at, delivery_id, number, duration_ms, status, error_kind, error, response)
    select ${communityId}, r.* from (
      select sent_at, id, attempts + 1, duration_ms, http_status, error_kind, error, response
      from valid where sent_at is not null and not is_success
      union all
      select success_at, id, success_number, success_duration_ms, success_status, null, null, success_response
      from valid where is_success and success_at is not null
    ) r`
}
