import type { Queries } from '../../postgres/connect.ts'
import type { EventType } from './event-types.ts'

/** An event for partners. Bodies are rendered per recipient when they are sent. */
export interface NewEvent {
  type: EventType
  memberId?: number
  listingId?: number
  transferId?: number
  /** The partner that caused it. */
  partnerId?: number
  /** Includes the resource's version after the change, so that receivers can detect stale events. */
  data: { version: number } & Record<string, string | number | null>
}

/** Call it in the transaction that makes the change. */
export async function recordEvents(sql: Queries, communityId: number, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const column = <T>(pick: (event: NewEvent) => T | undefined) => events.map((event) => pick(event) ?? null)
  await sql`
    insert into events (community_id, type, member_id, listing_id, transfer_id, partner_id, data)
    select ${communityId}, i.type, i.member_id, i.listing_id, i.transfer_id, i.partner_id, i.data::jsonb
    from unnest(${column((event) => event.type)}::text[], ${column((event) => event.memberId)}::int8[],
      ${column((event) => event.listingId)}::int8[], ${column((event) => event.transferId)}::int8[],
      ${column((event) => event.partnerId)}::int8[], ${column((event) => JSON.stringify(event.data))}::text[]
    ) as i(type, member_id, listing_id, transfer_id, partner_id, data)`
}
