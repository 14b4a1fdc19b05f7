import { assignments, columnsAndValues, Json, type Queries, transaction } from '../../postgres/connect.ts'
import { deleteLockedDeliveries } from '../../postgres/delete-deliveries.ts'
import type { Scope } from '../../core/scopes.ts'
import { lookUpSubject, mayRead, type Reader } from '../events/queries.ts'
import { hideFromPlanner, limitRows } from '../../http/shared/page-queries.ts'
import { markDue, resetBreaker } from './mark-due.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { LISTED_ATTEMPTS_MAX, LISTED_RESPONSE_LENGTH_MAX, type Delivery, type Subscription } from './schema.ts'

const columns = (sql: Queries) => sql`
  id, event_types, target_url, scopes, status, status_reason, status_changed_at, failing_since, last_success_at, created_at,
  updated_at`

/**
 * One call of a partner counts at a time, so that concurrent ones cannot exceed the limit. They do not lock the partner's
 * row, because all would wait while deliveries that were held are released.
 */
export async function countSubscriptions(sql: Queries, communityId: number, partnerId: number): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`subscriptions ${communityId} ${partnerId}`}::text, 0))`
  const [row] = await sql<[{ count: number }]>`
    select count(*) from subscriptions where community_id = ${communityId} and partner_id = ${partnerId}`
  return row.count
}

export async function insertSubscription(
  sql: Queries,
  communityId: number,
  subscription: {
    partner_id: number
    client_id: number
    event_types: string[]
    target_url: string
    scopes: Scope[]
    secret: Buffer
  },
): Promise<Subscription> {
  const id = sql`take_ids(${communityId}, 'subscriptions', 0, 1)`
  const [row] = await sql<[Subscription]>`
    insert into subscriptions ${columnsAndValues({ community_id: communityId, id, ...subscription })} returning ${columns(sql)}`
  return row
}

export async function listSubscriptions(
  sql: Queries,
  communityId: number,
  partnerId: number,
  { limit, after }: ListRequest,
): Promise<Subscription[]> {
  return sql<Subscription[]>`
    select ${columns(sql)} from subscriptions
    where community_id = ${communityId} and partner_id = ${partnerId} and id > ${after?.id ?? 0}
    order by id limit ${limit + 1}`
}

export async function findSubscription(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
): Promise<Subscription | undefined> {
  const [row] = await sql<Subscription[]>`
    select ${columns(sql)} from subscriptions
    where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id}`
  return row
}

/** Locks its row until the transaction ends. */
export async function findSubscriptionForChange(
  tx: Queries,
  communityId: number,
  partnerId: number,
  id: number,
): Promise<Subscription | undefined> {
  const [row] = await tx<Subscription[]>`
    select ${columns(tx)} from subscriptions
    where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id} for no key update`
  return row
}

/** Setting a status or another address resets the failure record. */
export async function updateSubscription(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
  {
    status,
    reason = null,
    ...change
  }: { event_types?: string[]; target_url?: string; status?: 'active' | 'paused'; reason?: string | null },
): Promise<Subscription | undefined> {
  const [row] = await sql<Subscription[]>`
    update subscriptions set ${assignments({ ...change, updated_at: new Date() })}
      ${
        status === undefined
          ? sql``
          : sql`, status = ${status}, status_reason = ${reason},
              status_changed_at = case when status = ${status} then status_changed_at else ${new Date()}::timestamptz end`
      }
      ${status === undefined && change.target_url === undefined ? sql`` : sql`, failing_since = null`}
    where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id}
    returning ${columns(sql)}`
  if (row) await resetBreaker(sql, communityId, id)
  return row
}

/**
 * Deletes up to `batchMax` deliveries of a subscription that is about to be deleted, and returns the count. Deleting
 * many together with the subscription would keep its row locked, and the fan-out of the community waits for it.
 */
export async function deleteDeliveries(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  batchMax: number,
): Promise<number> {
  return transaction(sql, async (tx) => {
    const locked = await tx<{ id: number }[]>`
      select id from deliveries where community_id = ${communityId} and subscription_id = ${subscriptionId}
      order by event_id limit ${batchMax} for update`
    return deleteLockedDeliveries(
      tx,
      communityId,
      locked.map(({ id }) => id),
    )
  })
}

/** Deletes its deliveries and their attempts as well. */
export async function deleteSubscription(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
): Promise<Subscription | undefined> {
  return transaction(sql, async (tx) => {
    // Nothing more is recorded from here on: that locks the subscription as well.
    await tx`
      select 1 from subscriptions
      where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id} for update`
    await tx`
      delete from attempts where community_id = ${communityId} and delivery_id = any (array(
        select d.id from deliveries d
        join subscriptions s on s.community_id = ${communityId} and s.id = d.subscription_id
        where d.community_id = ${communityId} and d.subscription_id = ${id} and s.partner_id = ${partnerId}))`
    const [row] = await tx<Subscription[]>`
      delete from subscriptions where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id}
      returning ${columns(tx)}`
    return row
  })
}

/** Keeps the previous secret for the overlap period. */
export async function rotateSubscriptionSecret(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
  secret: Buffer,
  overlapSeconds: number,
): Promise<Subscription | undefined> {
  const [row] = await sql<Subscription[]>`
    update subscriptions set previous_secret = secret, secret = ${secret}, updated_at = now(),
      previous_secret_until = now() + make_interval(secs => ${overlapSeconds})
    where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id}
    returning ${columns(sql)}`
  if (row) await resetBreaker(sql, communityId, id)
  return row
}

/** Inserts an event that is delivered only to this subscription. */
export async function insertTestEvent(sql: Queries, communityId: number, subscriptionId: number): Promise<string> {
  return transaction(sql, async (tx) => {
    await resetBreaker(tx, communityId, subscriptionId)
    const [row] = await tx<[{ uuid: string }]>`
      insert into events (community_id, type, subscription_id, data)
      values (${communityId}, 'webhook.test', ${subscriptionId}, ${new Json({ subscription_id: subscriptionId })})
      returning uuid`
    return row.uuid
  })
}

export interface DeliveryRow extends Omit<Delivery, 'event_id'> {
  event_uuid: string
  /** Position in the list. */
  cursor_id: number
}

/** Lists deliveries in the order of their events, without those that the reader may not read. */
export async function listDeliveries(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  { limit, afterEventId, status }: { limit: number; afterEventId: number; status: string | undefined },
  reader: Reader,
): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    ${selectDeliveries(sql, communityId, reader)} and d.subscription_id = ${subscriptionId}
      and d.event_id > ${hideFromPlanner(sql, afterEventId)}
      ${ofStatus(sql, status)}
    order by d.event_id ${limitRows(sql, limit)}`
}

export async function findDelivery(
  sql: Queries,
  communityId: number,
  id: number,
  reader: Reader,
): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`${selectDeliveries(sql, communityId, reader)} and d.id = ${id}`
  return row
}

function selectDeliveries(sql: Queries, communityId: number, reader: Reader) {
  // In JSON, PostgreSQL writes the time zone as +00:00, but all times in responses end in Z.
  const at = sql`to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  return sql`
    select d.id, d.event_id as cursor_id, d.subscription_id, e.uuid as event_uuid, e.type as event_type, d.status, d.held_reason,
      case when d.status = 'pending' then d.next_attempt_at end as next_attempt_at, d.created_at, d.finished_at,
      coalesce((
        select json_agg(json_build_object('number', a.number, 'at', ${at}, 'duration_ms', a.duration_ms,
          'status', a.status, 'error_kind', a.error_kind, 'error', a.error,
          'response', left(a.response, ${LISTED_RESPONSE_LENGTH_MAX}::int4)) order by a.at, a.id)
        from (
          select * from delivery_attempts where community_id = ${communityId} and delivery_id = d.id
          order by at desc, id desc limit ${LISTED_ATTEMPTS_MAX}
        ) a), '[]') as attempts
    from deliveries d ${lookUpEvent(sql, communityId)} ${lookUpSubject(sql, communityId)}
    where d.community_id = ${communityId} and ${mayRead(sql, reader)}`
}

/** What failed has a partial index, which PostgreSQL uses for a constant only. */
export function ofStatus(sql: Queries, status: string | undefined) {
  if (status === undefined) return sql``
  return status === 'failed' ? sql`and d.status = 'failed'` : sql`and d.status = ${status}`
}

/**
 * The event `e` of each delivery `d`, by an index lookup each. As a join it read all deliveries of the subscription before
 * the first was returned.
 */
export function lookUpEvent(sql: Queries, communityId: number) {
  return sql`
    cross join lateral (
      select uuid, type, partner_id, member_id, listing_id from events
      where community_id = ${communityId} and created_at = d.event_created_at and id = d.event_id limit 1
    ) e`
}

/** Queues a delivery of the partner again, from the start of the retry schedule. */
export async function redeliver(sql: Queries, communityId: number, partnerId: number, id: number): Promise<boolean> {
  return transaction(sql, async (tx) => {
    const [owned] = await tx<{ subscription_id: number }[]>`
      select d.subscription_id from deliveries d
      join subscriptions s on s.community_id = ${communityId} and s.id = d.subscription_id
      where d.community_id = ${communityId} and d.id = ${id} and s.partner_id = ${partnerId} for key share of s`
    if (!owned) return false
    await tx`
      update deliveries set status = 'pending', held_reason = null, attempts = 0, claims = claims + 1,
        next_attempt_at = now(), finished_at = null
      where community_id = ${communityId} and id = ${id}`
    await resetBreaker(tx, communityId, owned.subscription_id)
    await markDue(tx, communityId, [owned.subscription_id])
    return true
  })
}

export interface ResetSubscription {
  community: string
  partner: string
  subscription_id: number
  target_url: string
}

/** A disabled subscription stays disabled. */
export async function pauseForNewSecret(
  sql: Queries,
  communityId: number,
  id: number,
  reason: string,
): Promise<ResetSubscription> {
  const [row] = await sql<[ResetSubscription]>`
    update subscriptions s set status = case when s.status = 'disabled' then 'disabled' else 'paused' end,
      status_reason = ${reason}, status_changed_at = now(), updated_at = now()
    from partners p, communities c
    where s.community_id = ${communityId} and s.id = ${id} and p.community_id = ${communityId} and p.id = s.partner_id
      and c.id = ${communityId}
    returning c.slug as community, p.name as partner, s.id as subscription_id, s.target_url`
  return row
}

/**
 * Queues deliveries held for lack of access, which is checked again: those of the partner, or only of one client. Call it
 * with the lock of replays and the partner's row locked.
 */
export async function releaseHeld(
  sql: Queries,
  communityId: number,
  partnerId: number,
  clientId?: number,
): Promise<void> {
  await sql`
    select 1 from subscriptions where community_id = ${communityId} and partner_id = ${partnerId}
    order by id for key share`
  const released = await sql<{ subscription_id: number }[]>`
    with released as (
      update deliveries d set status = 'pending', held_reason = null, next_attempt_at = now()
      where d.community_id = ${communityId} and d.id = any (array(
        select h.id from deliveries h join subscriptions s on s.community_id = ${communityId} and s.id = h.subscription_id
        where h.community_id = ${communityId} and h.status = 'held' and s.partner_id = ${partnerId}
          ${clientId === undefined ? sql`` : sql`and s.client_id = ${clientId}`}
        order by h.subscription_id, h.event_id for no key update of h))
      returning d.subscription_id
    )
    select distinct subscription_id from released`
  const ids = released.map((row) => row.subscription_id)
  if (ids.length > 0) await markDue(sql, communityId, ids)
}
