import { Type } from 'typebox'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { PageMeta, PageQuery, finishList, readSealedListRequest } from '../../http/shared/paging.ts'
import { openPosition, sealPosition } from '../../http/shared/sealed-position.ts'
import { entityTagOf } from '../../http/partner/etag.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { createEmailReadRecorder } from '../members/record-email-reads.ts'
import { EVENT_TYPES, readableTypes } from './event-types.ts'
import { findHead, listEvents, type FeedRow } from './queries.ts'
import { renderEvent } from './render.ts'

const Event = Type.Object(
  {
    id: Type.String({ description: 'The webhook-id' }),
    type: Type.String(),
    timestamp: Type.String({ format: 'date-time' }),
    data: Type.Unknown(),
  },
  {
    title: 'Event',
    examples: [
      {
        id: 'evt_0b0a2c7e-2c1f-4d53-9c0d-7f8f5a1e6b21',
        type: 'wallet.credited',
        timestamp: '2026-01-31T09:00:00.000000Z',
        data: EVENT_TYPES['wallet.credited'].example,
      },
    ],
  },
)

/** A page ends after so many events, readable or not, so that a reader of few types gets on. */
const POSITIONS_MAX = 200_000
/** A cursor is valid for at least a day, however old the events of its page are. */
const CURSOR_MS_MIN = 24 * 60 * 60 * 1000

/** The events of the webhooks, for clients that prefer polling. */
export function eventRoutes(api: PartnerApi, { sql, epoch, config, cursorBox }: Deps): void {
  const recordEmailRead = createEmailReadRecorder(sql)

  api.get('/events', {
    config: { scope: 'webhooks.manage', errors: ['cursor_expired'] },
    schema: {
      operationId: 'listEvents',
      summary: 'Read events as a feed, in order',
      description:
        'The events of the last 30 days that the scopes of the token cover. next_cursor is always present: store it and continue from it later.',
      tags: ['Webhooks'],
      querystring: Type.Object(PageQuery),
      response: { 200: Type.Object({ data: Type.Array(Event), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { caller } = request
      const { communityId, partnerId, scopes } = caller
      const place = { epoch: await epoch(), list: `events of community ${communityId}` }
      const list = readSealedListRequest(place.epoch, 'events', request.query)
      const after = list.after && openPosition(cursorBox, place, list.after.id)
      // From before cursors were sealed, or sealed with a key that was lost: the reader starts again.
      if (list.after && after?.at === undefined) throw new ApiError('cursor_expired')
      // Read the head first and use it as an upper bound: events positioned in the meantime belong to the next page.
      const head = await findHead(sql, communityId)
      const afterPosition = after?.id ?? head.pruned_position
      const untilPosition = Math.min(head.position, afterPosition + POSITIONS_MAX)
      const found = await listEvents(sql, communityId, {
        afterPosition,
        untilPosition,
        limit: list.limit,
        types: readableTypes(scopes),
        partnerId,
      })
      // Check again, because events may have been pruned while they were read.
      const { pruned_position, retained_since } = await findHead(sql, communityId)
      // A cursor expires by its age, whether or not anything was pruned: otherwise old cursors would show when others'
      // events happened.
      const isTooOld = after !== undefined && Date.parse(after.at!) < Date.parse(retained_since)
      if (isTooOld || (after && afterPosition < pruned_position)) throw new ApiError('cursor_expired')
      const seal = (id: number, at: string) => ({ id: sealPosition(cursorBox, place, { id, at }) })
      const end = {
        position: seal(Math.max(afterPosition, untilPosition), head.at),
        isFollowed: untilPosition < head.position,
      }
      // Events are pruned by the week, so the oldest are older than a cursor may be.
      const youngestMs = Date.parse(retained_since) + CURSOR_MS_MIN
      const positionOf = (row: FeedRow) =>
        seal(row.position, new Date(Math.max(Date.parse(row.created_at), youngestMs)).toISOString())
      const { rows, meta } = finishList(list, found, positionOf, request, reply, config.publicUrl, end)
      const data = rows.map((row) => ({
        id: `evt_${row.uuid}`,
        type: row.type,
        timestamp: row.created_at,
        data: renderEvent(row, caller),
      }))
      const withEmail = rows.filter((row, n) => row.member_id !== null && data[n]!.data.email)
      await recordEmailRead(
        caller,
        request.id,
        withEmail.map((row) => row.member_id!),
      )
      // The sealed cursor differs in every response, and its position grows with events that the reader may not read.
      // The day is included, so that a reader that is told 304 for weeks still gets a new cursor before its own expires.
      reply.entityTag = entityTagOf(JSON.stringify([data, meta.has_more, head.at.slice(0, 'YYYY-MM-DD'.length)]))
      return { data, meta }
    },
  })
}
