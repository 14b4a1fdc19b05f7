import type { Queries } from '../db/connect.ts'
import type { ListRequest } from '../http/paging.ts'
import type { Delivery, Subscription } from './schema.ts'

const columns = (sql: Queries) => sql`
  id, event_types, target_url, status, status_reason, status_changed_at, failing_since, last_success_at, created_at,
  updated_at`

/** Locks the partner's row, so that two calls at once do not pass the limit together. */
export async function countSubscriptions(sql: Queries, communityId: number, partnerId: number): Promise<number> {
  await sql`select from partners where community_id = ${communityId} and id = ${partnerId} for no key update`
  const [row] = await sql<[{ count: number }]>`
    select count(*) from subscriptions where community_id = ${communityId} and partner_id = ${partnerId}`
  return row.count
}

export async function insertSubscription(
  sql: Queries,
  communityId: number,
  subscription: { partner_id: number; client_id: number; event_types: string[]; target_url: string; secret: Buffer },
): Promise<Subscription> {
  const [row] = await sql<[Subscription]>`
    insert into subscriptions ${sql({ community_id: communityId, ...subscription })} returning ${columns(sql)}`
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

/** Whoever is set active begins with a clean record. */
export async function updateSubscription(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
  { status, ...change }: { event_types?: string[]; target_url?: string; status?: 'active' | 'paused' },
): Promise<Subscription | undefined> {
  const [row] = await sql<Subscription[]>`
    update subscriptions set ${sql({ ...change, updated_at: new Date() })}
      ${
        status === undefined
          ? sql``
          : sql`, status = ${status}, status_reason = null, failing_since = null,
              status_changed_at = case when status = ${status} then status_changed_at else now() end`
      }
    where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id}
    returning ${columns(sql)}`
  return row
}

export async function deleteSubscription(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
): Promise<Subscription | undefined> {
  const [row] = await sql<Subscription[]>`
    delete from subscriptions where community_id = ${communityId} and partner_id = ${partnerId} and id = ${id}
    returning ${columns(sql)}`
  return row
}

/** The old secret signs along for a while. */
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
  return row
}

/** Only for this subscription. */
export async function insertTestEvent(sql: Queries, communityId: number, subscriptionId: number): Promise<string> {
  const [row] = await sql<[{ uuid: string }]>`
    insert into events (community_id, type, subscription_id, data)
    values (${communityId}, 'webhook.test', ${subscriptionId}, ${sql.json({ subscription_id: subscriptionId })})
    returning uuid`
  return row.uuid
}

type DeliveryRow = Omit<Delivery, 'event_id'> & { event_uuid: string }

export async function listDeliveries(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  { limit, after }: ListRequest,
  status: string | undefined,
): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    ${selectDeliveries(sql, communityId)} and d.subscription_id = ${subscriptionId} and d.id > ${after?.id ?? 0}
      ${status === undefined ? sql`` : sql`and d.status = ${status}`}
    order by d.id limit ${limit + 1}`
}

export async function findDelivery(sql: Queries, communityId: number, id: number): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`${selectDeliveries(sql, communityId)} and d.id = ${id}`
  return row
}

function selectDeliveries(sql: Queries, communityId: number) {
  return sql`
    select d.id, d.subscription_id, e.uuid as event_uuid, e.type as event_type, d.status, d.held_reason,
      case when d.status = 'pending' then d.next_attempt_at end as next_attempt_at, d.created_at, d.finished_at,
      coalesce((
        select json_agg(json_build_object('number', a.number, 'at', a.at, 'duration_ms', a.duration_ms,
          'status', a.status, 'error_kind', a.error_kind, 'error', a.error, 'response', a.response) order by a.at, a.id)
        from attempts a where a.community_id = ${communityId} and a.delivery_id = d.id), '[]') as attempts
    from deliveries d
    join events e on e.community_id = ${communityId} and e.created_at = d.event_created_at and e.id = d.event_id
    where d.community_id = ${communityId}`
}

/** Sets a delivery of the partner going again, from the start of the schedule. */
export async function redeliver(
  sql: Queries,
  communityId: number,
  partnerId: number,
  id: number,
): Promise<{ id: number } | undefined> {
  const [row] = await sql<{ id: number }[]>`
    update deliveries d set status = 'pending', held_reason = null, attempts = 0, claims = claims + 1,
      next_attempt_at = now(), finished_at = null
    from subscriptions s
    where d.community_id = ${communityId} and d.id = ${id} and s.community_id = ${communityId}
      and s.id = d.subscription_id and s.partner_id = ${partnerId}
    returning d.id`
  return row
}

/** All events since then that the subscription asks for, in their order; those delivered before too. */
export async function replaySince(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  since: string,
): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with replayed as (
      insert into deliveries (community_id, subscription_id, event_id, event_created_at)
      select ${communityId}, s.id, e.id, e.created_at
      from subscriptions s join events e on e.community_id = ${communityId} and e.created_at >= ${since}::timestamptz
        and e.position is not null and e.subscription_id is null
        and exists (select from unnest(s.event_types) as t(pattern) where t.pattern = '*' or t.pattern = e.type
          or (t.pattern like '%.*' and starts_with(e.type, left(t.pattern, -1))))
      where s.community_id = ${communityId} and s.id = ${subscriptionId}
      order by e.position
      on conflict (community_id, subscription_id, event_id) do update
        set status = 'pending', held_reason = null, attempts = 0, claims = deliveries.claims + 1, next_attempt_at = now(),
          finished_at = null
      returning 1
    )
    select count(*) from replayed`
  return row.count
}
