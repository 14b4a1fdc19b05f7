import type { Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import { transaction, type Queries, type Sql } from '../db/connect.ts'
import type { StoredEvent } from '../events/render.ts'
import type { Outcome } from './send.ts'

const WORKER: Actor = { kind: 'system', name: 'deliveries' }

/** Whether whoever subscribed may have it, as far as client and partner go. */
export interface Access {
  partner_status: string
  partner_scopes: string[]
  client_status: string
  client_scopes: string[]
}

/**
 * Leases subscriptions that no other worker has, and renews this one's. Returns which. Waits for nobody: while one is
 * deleted, with all its deliveries, the others go on.
 */
export async function takeLeases(
  sql: Queries,
  communityId: number,
  worker: string,
  subscriptionIds: number[],
  now: Date,
  until: Date,
): Promise<number[]> {
  const rows = await sql<{ subscription_id: number }[]>`
    with free as materialized (
      select subscription_id from delivery_leases
      where community_id = ${communityId} and subscription_id = any (${subscriptionIds}::int8[])
        and (worker = ${worker} or until <= ${now})
      order by subscription_id for no key update skip locked
    ), renewed as (
      update delivery_leases l set worker = ${worker}, until = ${until} from free f
      where l.community_id = ${communityId} and l.subscription_id = f.subscription_id
      returning l.subscription_id
    ), made as (
      insert into delivery_leases (community_id, subscription_id, worker, until)
      select ${communityId}, s.id, ${worker}, ${until} from subscriptions s
      where s.community_id = ${communityId} and s.id = any (${subscriptionIds}::int8[])
        and not exists (
          select from delivery_leases l where l.community_id = ${communityId} and l.subscription_id = s.id)
      order by s.id
      on conflict (community_id, subscription_id) do nothing
      returning subscription_id
    )
    select subscription_id from renewed union all select subscription_id from made`
  return rows.map((row) => row.subscription_id)
}

export async function giveUpLeases(sql: Queries, communityId: number, worker: string): Promise<void> {
  await sql`delete from delivery_leases where community_id = ${communityId} and worker = ${worker}`
}

/** To whom: all that is needed to judge, sign and send. As it is when its deliveries are read. */
export interface Recipient extends Access {
  target_url: string
  /** Encrypted, in base64: the present one, and during a rotation the one before. */
  secrets: string[]
  partner_id: number
  client_id: number
  client_public_id: string
}

/** Among what is due of a subscription, in the order in which it is sent. */
export interface DuePlace {
  /** As PostgreSQL writes it, to the microsecond. */
  nextAttemptAt: string
  id: number
}

/** How many more deliveries of a subscription may be read, and from where on. */
export interface Room {
  subscriptionId: number
  free: number
  after: DuePlace | undefined
}

/** As it is when its deliveries are read. */
export interface DueEvent extends StoredEvent {
  id: number
  uuid: string
  created_at: string
  member_id: number | null
}

/** A delivery that is due. */
export interface DueDelivery {
  id: number
  subscription_id: number
  claims: number
  attempts: number
  next_attempt_at: string
  recipient: Recipient
  /** Undefined when it has been pruned: there is nothing left to send. */
  event: DueEvent | undefined
}

/**
 * Due deliveries of subscriptions that this worker has leased, but for those that it has already: at most so many per
 * subscription, so that a dead endpoint with a long backlog does not starve the others. The sum is that of the index of
 * what is due (migration 0012). Recipients and events are told once, however many deliveries share them. Those that it
 * has are named in a subselect because an array would be gone through for every row: only the former is hashed.
 */
export async function readDueDeliveries(
  sql: Queries,
  communityId: number,
  worker: string,
  room: Room[],
  exceptIds: number[],
  now: Date,
): Promise<DueDelivery[]> {
  const [{ recipients, events, deliveries }] = await sql<[DueRows]>`
    with recipient as materialized (
      select s.id, r.free, r.after_at, r.after_id, jsonb_build_object('target_url', s.target_url,
        'secrets', array_remove(array[encode(s.secret, 'base64'),
          case when s.previous_secret_until > ${now} then encode(s.previous_secret, 'base64') end], null),
        'partner_id', s.partner_id, 'partner_status', p.status, 'partner_scopes', p.scopes, 'client_id', c.id,
        'client_public_id', c.public_id, 'client_status', c.status, 'client_scopes', c.scopes) as facts
      from unnest(${room.map((one) => one.subscriptionId)}::int8[], ${room.map((one) => one.free)}::int4[],
        ${room.map((one) => one.after?.nextAttemptAt ?? '-infinity')}::timestamptz[],
        ${room.map((one) => one.after?.id ?? 0)}::int8[]) as r(id, free, after_at, after_id)
      join subscriptions s on s.community_id = ${communityId} and s.id = r.id and s.status = 'active'
      join delivery_leases l on l.community_id = ${communityId} and l.subscription_id = s.id and l.worker = ${worker}
        and l.until > ${now}
      join communities m on m.id = ${communityId} and m.partner_api_enabled
      join partners p on p.community_id = ${communityId} and p.id = s.partner_id
      join clients c on c.community_id = ${communityId} and c.id = s.client_id
    ), due as materialized (
      select r.id as subscription_id, d.*
      from recipient r, lateral (
        select id, claims, attempts, next_attempt_at, event_id, event_created_at from deliveries
        where community_id = ${communityId} and subscription_id + 0 = r.id and status = 'pending'
          and next_attempt_at <= ${now} and (next_attempt_at, id) > (r.after_at, r.after_id)
          and id not in (select unnest(${exceptIds}::int8[]))
        order by next_attempt_at, id limit r.free) d
    )
    select (select coalesce(json_object_agg(id, facts), '{}') from recipient) as recipients,
      (select coalesce(json_agg(json_build_object('id', e.id, 'uuid', e.uuid, 'type', e.type, 'partner_id', e.partner_id,
          'member_id', e.member_id, 'data', e.data, 'member_visible', coalesce(m.visible, true),
          'created_at', to_json(e.created_at))), '[]')
        from (select distinct event_id, event_created_at from due) d
        join events e on e.community_id = ${communityId} and e.created_at = d.event_created_at and e.id = d.event_id
        left join members m on m.community_id = ${communityId} and m.id = e.member_id) as events,
      (select coalesce(json_agg(json_build_array(id, subscription_id, claims, attempts, next_attempt_at, event_id)
          order by subscription_id, next_attempt_at, id), '[]') from due) as deliveries`
  const eventsById = new Map(events.map((event) => [event.id, { ...event, created_at: inUtc(event.created_at) }]))
  return deliveries.map(([id, subscription_id, claims, attempts, next_attempt_at, eventId]) => ({
    id,
    subscription_id,
    claims,
    attempts,
    next_attempt_at,
    recipient: recipients[subscription_id]!,
    event: eventsById.get(eventId),
  }))
}

interface DueRows {
  recipients: Record<string, Recipient>
  events: DueEvent[]
  deliveries: [
    id: number,
    subscriptionId: number,
    claims: number,
    attempts: number,
    nextAttemptAt: string,
    eventId: number,
  ][]
}

/** Within JSON PostgreSQL spells the zone its own way; on the wire all times end in Z. */
function inUtc(time: string): string {
  return time.replace('+00:00', 'Z')
}

export interface Completion {
  id: number
  subscriptionId: number
  /** As they were when it was read: a word that comes later than another one, or than a new start, does not count. */
  claims: number
  attempts: number
  status: 'pending' | 'held' | 'delivered' | 'failed'
  heldReason?: string | undefined
  nextAttemptAt?: Date | undefined
  /** Absent when nothing was sent. */
  attempt?: { at: Date; outcome: Outcome } | undefined
}

/**
 * Deliveries and attempt log in one statement: a success stands in the delivery's row, and makes the one before it, if
 * there was any, a row like those of failures. Rows are locked in the order of their ids, as everywhere; whether a word
 * still counts is judged on what was locked, and what is left is looked up one by one.
 */
export async function completeDeliveries(
  sql: Queries,
  communityId: number,
  completions: Completion[],
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
    with input as materialized (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as i(id int8, claims int4, attempts int4,
        status text, held_reason text, next_attempt_at timestamptz, sent_at timestamptz, duration_ms int4,
        http_status int4, error_kind text, error text, response text)
    ), locked as materialized (
      select id, claims, attempts, status, success_at, success_number, success_duration_ms, success_status,
        success_response
      from deliveries
      where community_id = ${communityId} and id = any (${completions.map(({ id }) => id)}::int8[])
      order by id for no key update
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

/**
 * Since when nothing but failures came back. Apart from the completions, so that neither waits for the other's locks
 * while somebody deletes the subscription with all its deliveries.
 */
export async function noteHealth(
  sql: Queries,
  communityId: number,
  health: { subscriptionId: number; ok: boolean }[],
  now: Date,
): Promise<void> {
  await sql`
    with input as materialized (
      select * from unnest(${health.map((one) => one.subscriptionId)}::int8[], ${health.map((one) => `${one.ok}`)}::text[])
        as i(id, ok)
    ), locked as materialized (
      select id from subscriptions
      where community_id = ${communityId} and id = any (${health.map((one) => one.subscriptionId)}::int8[])
      order by id for no key update
    )
    update subscriptions s set
      last_success_at = case when i.ok = 'true' then ${now}::timestamptz else s.last_success_at end,
      failing_since = case when i.ok = 'true' then null else coalesce(s.failing_since, ${now}::timestamptz) end
    from input i join locked l using (id)
    where s.community_id = ${communityId} and s.id = i.id
      and case when i.ok = 'true'
        then s.failing_since is not null or s.last_success_at is null
          or s.last_success_at < ${now}::timestamptz - interval '1 minute'
        else s.failing_since is null end`
}

/**
 * Holds a delivery back for lack of access, judged once more under a lock that whoever changes the access waits for:
 * else it could be given back, and what is held released, just before this one is held for good.
 */
export async function holdDelivery(
  sql: Sql,
  communityId: number,
  { id, claims, recipient: { partner_id: partnerId, client_id: clientId } }: DueDelivery,
  judge: (access: Access) => string | undefined,
  now: Date,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const [access] = await tx<[Access]>`
      select p.status as partner_status, p.scopes as partner_scopes, c.status as client_status, c.scopes as client_scopes
      from partners p join clients c on c.community_id = ${communityId} and c.id = ${clientId}
      where p.community_id = ${communityId} and p.id = ${partnerId} for share of p, c`
    const reason = judge(access)
    await tx`
      update deliveries set status = ${reason === undefined ? 'pending' : 'held'}, held_reason = ${reason ?? null},
        next_attempt_at = ${now}
      where community_id = ${communityId} and id = ${id} and claims = ${claims} and status = 'pending'`
  })
}

/** Nothing but failures for too long. Returns those that were disabled. */
export async function disableFailing(
  sql: Queries,
  communityId: number,
  subscriptionIds: number[],
  failingSince: Date,
  now: Date,
): Promise<number[]> {
  return disable(sql, communityId, 'Nothing but failures for five days', now, (tx) => {
    return tx`id = any (${subscriptionIds}::int8[]) and status = 'active' and failing_since <= ${failingSince}`
  })
}

export async function disableSubscription(
  sql: Queries,
  communityId: number,
  id: number,
  reason: string,
  now: Date,
): Promise<void> {
  await disable(sql, communityId, reason, now, (tx) => tx`id = ${id} and status <> 'disabled'`)
}

async function disable(
  sql: Queries,
  communityId: number,
  reason: string,
  now: Date,
  which: (tx: Queries) => ReturnType<Queries>,
): Promise<number[]> {
  return transaction(sql, async (tx) => {
    const rows = await tx<{ id: number }[]>`
      update subscriptions set status = 'disabled', status_reason = ${reason}, status_changed_at = ${now}, updated_at = ${now}
      where community_id = ${communityId} and ${which(tx)} returning id`
    await recordAudits(
      tx,
      communityId,
      WORKER,
      rows.map(({ id }) => ({
        action: 'subscription.disabled',
        subject: { kind: 'subscription', id },
        detail: { reason },
      })),
    )
    return rows.map(({ id }) => id)
  })
}

/** Access was given back: what was held for want of it is judged anew. Call it under the lock of the partner's row. */
export async function releaseHeld(sql: Queries, communityId: number, partnerId: number): Promise<void> {
  await sql`
    update deliveries d set status = 'pending', held_reason = null, next_attempt_at = now()
    where d.community_id = ${communityId} and d.id = any (array(
      select h.id from deliveries h join subscriptions s on s.community_id = ${communityId} and s.id = h.subscription_id
      where h.community_id = ${communityId} and h.status = 'held' and s.partner_id = ${partnerId}
      order by h.id for no key update of h))`
}
