import type { Queries } from '../postgres/connect.ts'
import type { StoredEvent } from '../features/events/render.ts'
import type { Access } from './delivery-queries.ts'
import type { InHandPairs } from '../postgres/across-communities.ts'
import type { Reading } from './in-hand.ts'
import { isUntried } from '../features/subscriptions/untried.ts'

/** Of the events behind a cursor so many are gone through at once, for each delivery that may be read, and at least. */
const EVENTS_PER_PLACE = 4
const EVENTS_MIN = 100

/** To whom: all that is needed to judge, sign and send. As it is when its deliveries are read. */
export interface Recipient extends Access {
  target_url: string
  /** Encrypted, in base64: the present one, and during a rotation the one before. */
  secrets: string[]
  partner_id: number
  client_id: number
  client_public_id: string
  /** Up to which event this reading went, and up to which it is to be told. */
  seen_position: number
  wanted_position: number
}

/** Among what is due of a subscription and has a row, in the order in which it is sent. */
export interface DuePlace {
  /** As PostgreSQL writes it, to the microsecond. */
  nextAttemptAt: string
  id: number
}

/** How many more deliveries of a subscription may be read, and from where on. */
export interface Room {
  subscriptionId: number
  free: number
  /** Of those that have a row. */
  after: DuePlace | undefined
  /** Of those that nobody has tried yet. */
  reading: Reading
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
  subscription_id: number
  event_id: number
  recipient: Recipient
  /** Undefined when it has been pruned: there is nothing left to send. */
  event: DueEvent | undefined
  claims: number
  attempts: number
  /** Undefined as long as nobody has tried it. */
  row: DuePlace | undefined
  /** Of the event; for what has no row. */
  position: number | undefined
}

/**
 * Due deliveries of subscriptions that this worker has leased, but for those that it has in hand: at most so many per
 * subscription, so that a dead endpoint with a long backlog does not starve the others. First those that have a row: the
 * sum is that of their index (migration 0012). Then the events behind its cursor, each looked up whether it has a row
 * all the same: so many are gone through at most, because PostgreSQL would rather sort all there are than read them in
 * their order. Recipients and events are told once, however many deliveries share them. What is in hand is named in a
 * subselect because an array would be gone through for every row: only the former is hashed.
 */
export async function readDueDeliveries(
  sql: Queries,
  communityId: number,
  worker: string,
  room: Room[],
  inHand: InHandPairs,
  now: Date,
): Promise<{ recipients: Map<number, Recipient>; deliveries: DueDelivery[] }> {
  const [rows] = await sql<[DueRows]>`
    with in_hand as materialized (
      select * from unnest(${inHand.subscriptionIds}::int8[], ${inHand.eventIds}::int8[]) as i(subscription_id, event_id)
    ), recipient as materialized (
      select s.id, s.event_types, r.free, r.after_at, r.after_id, w.read_to, w.seen_to, jsonb_build_object('target_url', s.target_url,
        'secrets', array_remove(array[encode(s.secret, 'base64'),
          case when s.previous_secret_until > ${now} then encode(s.previous_secret, 'base64') end], null),
        'partner_id', s.partner_id, 'partner_status', p.status, 'partner_scopes', p.scopes, 'client_id', c.id,
        'client_public_id', c.public_id, 'client_status', c.status, 'client_scopes', c.scopes,
        'seen_position', w.seen_to, 'wanted_position', coalesce(k.wanted_position, 0)) as facts
      from unnest(${room.map((one) => one.subscriptionId)}::int8[], ${room.map((one) => one.free)}::int4[],
        ${room.map((one) => one.after?.nextAttemptAt ?? '-infinity')}::timestamptz[],
        ${room.map((one) => one.after?.id ?? 0)}::int8[], ${room.map((one) => one.reading.readTo ?? 0)}::int8[])
        as r(id, free, after_at, after_id, read_to)
      join subscriptions s on s.community_id = ${communityId} and s.id = r.id and s.status = 'active'
      join delivery_leases l on l.community_id = ${communityId} and l.subscription_id = s.id and l.worker = ${worker}
        and l.until > ${now}
      join communities m on m.id = ${communityId} and m.partner_api_enabled
      join partners p on p.community_id = ${communityId} and p.id = s.partner_id
      join clients c on c.community_id = ${communityId} and c.id = s.client_id
      left join delivery_cursors k on k.community_id = ${communityId} and k.subscription_id = s.id,
      lateral (select greatest(k.done_position, r.read_to, 0) as from_position) f,
      lateral (select f.from_position as read_to, least(coalesce(k.wanted_position, 0),
        f.from_position + greatest(${EVENTS_PER_PLACE} * r.free, ${EVENTS_MIN})) as seen_to) w
    ), due as materialized (
      select r.id as subscription_id, d.*
      from recipient r, lateral (
        select id, claims, attempts, next_attempt_at, event_id, event_created_at from deliveries
        where community_id = ${communityId} and subscription_id + 0 = r.id and status = 'pending'
          and next_attempt_at <= ${now} and (next_attempt_at, id) > (r.after_at, r.after_id)
          and (subscription_id, event_id) not in (select * from in_hand)
        order by next_attempt_at, id limit r.free) d
    ), untried as materialized (
      select s.id as subscription_id, u.*
      from recipient s, lateral (
        select e.id as event_id, e.created_at as event_created_at, e.position from (
          select id, created_at, type, subscription_id, position from events
          where community_id = ${communityId} and position > s.read_to and position <= s.seen_to
          order by position offset 0) e
        where (s.id, e.id) not in (select * from in_hand) and ${isUntried(sql, communityId)}
        order by e.position limit s.free - (select count(*) from due d where d.subscription_id = s.id)) u
    )
    select (select coalesce(json_object_agg(id, facts), '{}') from recipient) as recipients,
      (select coalesce(json_agg(json_build_object('id', e.id, 'uuid', e.uuid, 'type', e.type, 'partner_id', e.partner_id,
          'member_id', e.member_id, 'data', e.data, 'member_visible', coalesce(m.visible, true),
          'created_at', to_json(e.created_at))), '[]')
        from (select event_id, event_created_at from due union select event_id, event_created_at from untried) d
        join events e on e.community_id = ${communityId} and e.created_at = d.event_created_at and e.id = d.event_id
        left join members m on m.community_id = ${communityId} and m.id = e.member_id) as events,
      (select coalesce(json_agg(json_build_array(subscription_id, event_id, id, claims, attempts, next_attempt_at)
          order by subscription_id, next_attempt_at, id), '[]') from due) as due,
      (select coalesce(json_agg(json_build_array(subscription_id, event_id, position)
          order by subscription_id, position), '[]') from untried) as untried`
  return present(rows)
}

interface DueRows {
  recipients: Record<string, Recipient>
  events: DueEvent[]
  due: [subscriptionId: number, eventId: number, id: number, claims: number, attempts: number, nextAttemptAt: string][]
  untried: [subscriptionId: number, eventId: number, position: number][]
}

function present({ recipients, events, due, untried }: DueRows) {
  const eventsById = new Map(events.map((event) => [event.id, { ...event, created_at: inUtc(event.created_at) }]))
  const deliveries: DueDelivery[] = due.map(([subscription_id, event_id, id, claims, attempts, nextAttemptAt]) => ({
    subscription_id,
    event_id,
    recipient: recipients[subscription_id]!,
    event: eventsById.get(event_id),
    claims,
    attempts,
    row: { nextAttemptAt, id },
    position: undefined,
  }))
  for (const [subscription_id, event_id, position] of untried) {
    deliveries.push({
      subscription_id,
      event_id,
      recipient: recipients[subscription_id]!,
      event: eventsById.get(event_id),
      claims: 0,
      attempts: 0,
      row: undefined,
      position,
    })
  }
  return {
    recipients: new Map(Object.entries(recipients).map(([id, recipient]) => [Number(id), recipient])),
    deliveries,
  }
}

/** Within JSON PostgreSQL spells the zone its own way; on the wire all times end in Z. */
function inUtc(time: string): string {
  return time.replace('+00:00', 'Z')
}
