import type { Queries } from '../../postgres/connect.ts'
import { lookUpSubject } from '../events/queries.ts'
import type { StoredEvent } from '../events/render.ts'
import { hideFromPlanner, limitRows } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { lookUpEvent, ofStatus } from './queries.ts'
import type { Attempt, Delivery, Subscription } from './schema.ts'

/** Counts are exact up to this number. */
export const COUNT_MAX = 1000

/** A partner's subscription as administrators see it, without its secret. */
export interface SubscriptionRow extends Subscription {
  partner_id: number
  partner_name: string
  partner_status: string
  client_public_id: string
  client_status: string
  waiting: number
  held: number
  failures_in_a_row: number
}

export interface SubscriptionFilters {
  partner_id?: number
  status?: Subscription['status']
}

export async function listAllSubscriptions(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  { partner_id, status }: SubscriptionFilters,
): Promise<SubscriptionRow[]> {
  return sql<SubscriptionRow[]>`
    ${selectSubscriptions(sql, communityId)} ${after ? sql`and s.id < ${after.id}` : sql``}
      ${partner_id === undefined ? sql`` : sql`and s.partner_id = ${partner_id}`}
      ${status === undefined ? sql`` : sql`and s.status = ${status}`}
    order by s.id desc limit ${limit + 1}`
}

export async function findAnySubscription(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<SubscriptionRow | undefined> {
  const [row] = await sql<SubscriptionRow[]>`${selectSubscriptions(sql, communityId)} and s.id = ${id}`
  return row
}

/**
 * Counts stop at a limit, because a dead endpoint may have a hundred thousand deliveries waiting. The conditions spell
 * out the status, so that PostgreSQL uses the partial indexes of pending and held deliveries.
 */
function selectSubscriptions(sql: Queries, communityId: number) {
  return sql`
    select s.id, s.event_types, s.target_url, s.scopes, s.status, s.status_reason, s.status_changed_at, s.failing_since,
      s.last_success_at, s.created_at, s.updated_at, p.id as partner_id, p.name as partner_name,
      p.status as partner_status, c.public_id as client_public_id,
      case when c.status = 'active' and c.expires_at <= now() then 'expired' else c.status end as client_status,
      waiting.found as waiting, held.found as held, failures.found as failures_in_a_row
    from subscriptions s
    join partners p on p.community_id = ${communityId} and p.id = s.partner_id
    join clients c on c.community_id = ${communityId} and c.id = s.client_id,
    lateral (
      select count(*) as found from (
        select 1 from deliveries where community_id = ${communityId} and subscription_id + 0 = s.id and status = 'pending'
        limit ${COUNT_MAX + 1}) few
    ) waiting, lateral (
      select count(*) as found from (
        select 1 from deliveries where community_id = ${communityId} and subscription_id = s.id and status = 'held'
        limit ${COUNT_MAX + 1}) few
    ) held, lateral (
      select count(*) as found from (
        select 1 from attempts a
        join deliveries d on d.community_id = ${communityId} and d.id = a.delivery_id
        where a.community_id = ${communityId} and a.at >= s.failing_since and d.subscription_id = s.id
        limit ${COUNT_MAX + 1}) few
    ) failures
    where s.community_id = ${communityId}`
}

/** Why a pending delivery is not sent yet. */
export const WAITS = {
  paused: 'the subscription is paused',
  disabled: 'the subscription is disabled',
  partner_api: 'the partner API is switched off',
  receiver: 'several deliveries failed in a row, so the next is tried after a pause',
  retry: 'the last attempt failed, and the next is scheduled',
  turn: 'it is sent as soon as it is its turn',
} as const
export type WaitsFor = keyof typeof WAITS

/** A delivery in a list, with its last attempt. */
export interface DeliveryRow extends Omit<Delivery, 'event_id' | 'attempts'> {
  waits_for: WaitsFor | null
  event_uuid: string
  cursor_id: number
  attempts_count: number
  last_attempt: Omit<Attempt, 'response'> | null
}

export interface DeliveryFilters {
  status?: Delivery['status']
  event_type?: string
  from?: string
  until?: string
}

/** Lists the deliveries of the newest events first. */
export async function listDeliveriesOf(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  { status, event_type, from, until }: DeliveryFilters,
): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    with chosen as materialized (
      select ${deliveryColumns(sql)}, d.event_id as cursor_id
      from deliveries d ${lookUpEvent(sql, communityId)}
      join subscriptions s on s.community_id = ${communityId} and s.id = d.subscription_id
      ${joinWait(sql, communityId)}
      where d.community_id = ${communityId} and d.subscription_id = ${subscriptionId}
        ${after ? sql`and d.event_id < ${hideFromPlanner(sql, after.id)}` : sql``}
        ${ofStatus(sql, status)}
        ${event_type === undefined ? sql`` : sql`and e.type = ${event_type}`}
        ${from === undefined ? sql`` : sql`and d.created_at >= ${from}::timestamptz`}
        ${until === undefined ? sql`` : sql`and d.created_at < ${until}::timestamptz`}
      order by d.event_id desc ${limitRows(sql, limit)}
    )
    select d.*, tries.found as attempts_count, tries.last as last_attempt
    from chosen d, lateral (
      select count(*) as found, (array_agg(json_build_object('number', a.number, 'at', a.at, 'duration_ms', a.duration_ms,
        'status', a.status, 'error_kind', a.error_kind, 'error', a.error) order by a.at desc, a.id desc))[1] as last
      from delivery_attempts a where a.community_id = ${communityId} and a.delivery_id = d.id
    ) tries
    order by d.cursor_id desc`
}

/** Of the subscription `s`: its queue and the switch of its community. */
function joinWait(sql: Queries, communityId: number) {
  return sql`
    join communities switch on switch.id = ${communityId}
    left join delivery_queues q on q.community_id = ${communityId} and q.subscription_id = s.id`
}

/** The next attempt is never in the past: it waits for the end of a pause, or has no time while nothing is sent. */
function deliveryColumns(sql: Queries) {
  const next = sql`greatest(d.next_attempt_at, q.paused_until)`
  return sql`
    d.id, d.subscription_id, e.uuid as event_uuid, e.type as event_type, d.status, d.held_reason,
    case when d.status = 'pending' and s.status = 'active' and switch.partner_api_enabled and ${next} > now()
      then ${next} end as next_attempt_at,
    case when d.status <> 'pending' then null when s.status <> 'active' then s.status
      when not switch.partner_api_enabled then 'partner_api' when ${next} <= now() then 'turn'
      when q.paused_until >= d.next_attempt_at then 'receiver' else 'retry' end as waits_for,
    d.created_at, d.finished_at`
}

/** One delivery with its event and the recipient's scopes. */
export interface DeliveryDetailRow extends Omit<Delivery, 'event_id' | 'attempts'>, StoredEvent {
  waits_for: WaitsFor | null
  event_uuid: string
  event_created_at: string
  recipient_partner_id: number
  partner_scopes: string[]
  client_scopes: string[]
  subscription_scopes: string[]
}

export async function findDeliveryDetail(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<DeliveryDetailRow | undefined> {
  const [row] = await sql<DeliveryDetailRow[]>`
    select ${deliveryColumns(sql)}, e.type, e.partner_id, e.data, e.created_at as event_created_at,
      coalesce(m.visible, true) as subject_visible, s.partner_id as recipient_partner_id, p.scopes as partner_scopes,
      c.scopes as client_scopes, s.scopes as subscription_scopes
    from deliveries d
    join events e on e.community_id = ${communityId} and e.created_at = d.event_created_at and e.id = d.event_id
    join subscriptions s on s.community_id = ${communityId} and s.id = d.subscription_id
    join partners p on p.community_id = ${communityId} and p.id = s.partner_id
    join clients c on c.community_id = ${communityId} and c.id = s.client_id
    ${joinWait(sql, communityId)}
    ${lookUpSubject(sql, communityId)}
    where d.community_id = ${communityId} and d.id = ${id}`
  return row
}

/** Lists the newest attempts first, including those before a resend. */
export async function listAttempts(sql: Queries, communityId: number, deliveryId: number, limit: number) {
  return sql<Attempt[]>`
    select number, at, duration_ms, status, error_kind, error, response from delivery_attempts
    where community_id = ${communityId} and delivery_id = ${deliveryId}
    order by at desc, id desc limit ${limit}`
}
