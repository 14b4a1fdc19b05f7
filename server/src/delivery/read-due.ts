import { fromJsonTime } from '../core/times.ts'
import { lookUpSubject } from '../features/events/queries.ts'
import type { StoredEvent } from '../features/events/render.ts'
import type { Queries } from '../postgres/connect.ts'
import { clientState, type Access } from './delivery-queries.ts'

/** Everything needed to check access, sign and send, as of the moment when the deliveries were read. */
export interface Recipient extends Access {
  target_url: string
  /** Encrypted, in base64: the current secret and, during a rotation, the previous one. */
  secrets: string[]
  partner_id: number
  client_id: number
  client_public_id: string
  /** Whether the community is for testing: only there do deliveries fail on demand. */
  is_test: boolean
}

export interface DueEvent extends StoredEvent {
  id: number
  uuid: string
  created_at: string
  member_id: number | null
}

export interface DueDelivery {
  id: number
  subscription_id: number
  claims: number
  attempts: number
  recipient: Recipient
  /** Undefined if it has been pruned: there is nothing left to send. */
  event: DueEvent | undefined
}

export interface DueRequest {
  subscriptionId: number
  limit: number
  /** Deliveries that the queue holds already; in the database they are still due. */
  exclude: number[]
}

/**
 * Reads due deliveries of several subscriptions of a community, if the worker holds their leases and they may be sent
 * now. Recipients and events are returned once, however many deliveries share them. Each subscription is one range of
 * the index of migration 0012. Excluded ids are a subselect, because only that is hashed; an array is compared one by
 * one with every row.
 */
export async function readDueDeliveries(
  sql: Queries,
  communityId: number,
  worker: string,
  requests: DueRequest[],
  now: Date,
): Promise<DueDelivery[][]> {
  const [rows] = await sql<[DueRows]>`
    with excluded as materialized (
      select * from unnest(${requests.flatMap(({ exclude }) => exclude)}::int8[]) as x(id)
    ), recipient as materialized (
      select s.id, r.limit_rows, jsonb_build_object('target_url', s.target_url,
        'secrets', array_remove(array[encode(s.secret, 'base64'),
          case when s.previous_secret_until > ${now} then encode(s.previous_secret, 'base64') end], null),
        'partner_id', s.partner_id, 'partner_status', p.status, 'partner_scopes', p.scopes, 'client_id', c.id,
        'client_public_id', c.public_id, 'client_status', ${clientState(sql)}, 'client_scopes', c.scopes,
        'subscription_scopes', s.scopes, 'is_test', m.test) as facts
      from unnest(${requests.map(({ subscriptionId }) => subscriptionId)}::int8[],
        ${requests.map(({ limit }) => limit)}::int4[]) as r(id, limit_rows)
      join subscriptions s on s.community_id = ${communityId} and s.id = r.id and s.status = 'active'
      join delivery_queues q on q.community_id = ${communityId} and q.subscription_id = s.id and q.worker = ${worker}
        and q.leased_until > ${now}
      join communities m on m.id = ${communityId} and m.partner_api_enabled
      join partners p on p.community_id = ${communityId} and p.id = s.partner_id
      join clients c on c.community_id = ${communityId} and c.id = s.client_id
    ), due as materialized (
      select r.id as subscription_id, d.*
      from recipient r, lateral (
        select id, claims, attempts, next_attempt_at, event_id, event_created_at from deliveries
        where community_id = ${communityId} and subscription_id + 0 = r.id and status = 'pending'
          and next_attempt_at <= ${now} and id not in (select id from excluded)
        order by next_attempt_at, id limit r.limit_rows) d
    )
    select (select coalesce(json_object_agg(id, facts), '{}') from recipient) as recipients,
      (select coalesce(json_agg(json_build_object('id', e.id, 'uuid', e.uuid, 'type', e.type, 'partner_id', e.partner_id,
          'member_id', e.member_id, 'data', e.data, 'subject_visible', coalesce(m.visible, true),
          'created_at', to_json(e.created_at))), '[]')
        from (select distinct event_id, event_created_at from due) d
        join events e on e.community_id = ${communityId} and e.created_at = d.event_created_at and e.id = d.event_id
        ${lookUpSubject(sql, communityId)}) as events,
      (select coalesce(json_agg(json_build_array(id, subscription_id, claims, attempts, event_id)
          order by next_attempt_at, id), '[]') from due) as due`
  const events = new Map(
    rows.events.map((event) => [event.id, { ...event, created_at: fromJsonTime(event.created_at) }]),
  )
  const bySubscription = new Map<number, DueDelivery[]>(requests.map(({ subscriptionId }) => [subscriptionId, []]))
  for (const [id, subscription_id, claims, attempts, eventId] of rows.due) {
    const recipient = rows.recipients[subscription_id]!
    bySubscription
      .get(subscription_id)!
      .push({ id, subscription_id, claims, attempts, recipient, event: events.get(eventId) })
  }
  return requests.map(({ subscriptionId }) => bySubscription.get(subscriptionId)!)
}

interface DueRows {
  recipients: Record<string, Recipient>
  events: DueEvent[]
  due: [id: number, subscriptionId: number, claims: number, attempts: number, eventId: number][]
}
