import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Queries } from '../../postgres/connect.ts'
import { ApiError } from './errors.ts'
import { syncHorizon, type Position } from './page-queries.ts'
import { toUtc } from '../../core/times.ts'
import { invalidField } from './validation.ts'
import { because } from '../../core/reasons.ts'

const LIMIT_DEFAULT = 25
const LIMIT_MAX = 100
const CURSOR_LENGTH_MAX = 1000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      default: LIMIT_DEFAULT,
      description: `Up to ${LIMIT_MAX}; ${LIMIT_DEFAULT} if omitted`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_LENGTH_MAX,
      description: 'Continues a list: meta.next_cursor of the previous page, with the same filters',
    }),
  ),
}

export const UpdatedSince = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'Only what changed since this time, ordered by time of change. Start with the synced_until of your last round.',
  }),
)

export const PageMeta = Type.Object(
  {
    limit: Type.Integer(),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    synced_until: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Use it as updated_since (or since) in the next round: no late commit is missed',
      }),
    ),
  },
  { title: 'PageMeta', examples: [{ limit: LIMIT_DEFAULT, has_more: false, next_cursor: null }] },
)

/** Whether PostgreSQL can read the key of a position: cursors are not signed. */
export type KeyCheck = (key: string) => boolean

/** What the positions of a list hold. */
interface PositionShape {
  /** The time of the row, beside its id. */
  isTimed: boolean
  /** Checks the key that a position has beside the id, if it has one. */
  isKey?: KeyCheck | undefined
  isId: (id: unknown) => boolean
}

export interface ListRequest<Id extends number | string = number> {
  /** The list and its filters: a cursor from another list or with other filters is rejected. */
  list: string
  filters: Record<string, unknown>
  limit: number
  after: Position<Id> | undefined
  /** Set for a list ordered by time of change, which runs from `since` to `horizon`. */
  since: string | undefined
  horizon: string | undefined
  epoch: string
}

interface ListQuery {
  limit?: number
  cursor?: string
  [filter: string]: unknown
}

/** Parses limit, cursor and filters. With `changes.since`, the list is ordered by time of change. */
export async function readListRequest<Id extends number | string = number>(
  sql: Queries,
  epoch: string,
  list: string,
  query: ListQuery,
  changes?: { communityId: number; since: string | undefined },
  isId: (id: unknown) => boolean = isNumber,
): Promise<ListRequest<Id>> {
  const since = changes?.since
  const request = parse<Id>(epoch, list, query, { isTimed: since !== undefined, isId })
  // Must run before the statement that reads the rows: see sync_horizon() in the migrations.
  return since === undefined ? request : { ...request, since, horizon: await syncHorizon(sql, changes!.communityId) }
}

/** The same for a list of rows with UUIDs, ordered by time, newest first. */
export function readTimedListRequest(epoch: string, list: string, query: ListQuery): ListRequest<string> {
  return parse(epoch, list, query, { isTimed: true, isId: isUuid })
}

/** The same for a list in an order that the caller chose; `isKey` checks the keys that its positions have beside the id. */
export function readSortedListRequest(
  epoch: string,
  list: string,
  query: ListQuery,
  isKey: KeyCheck | undefined,
): ListRequest {
  return parse(epoch, list, query, { isTimed: false, isKey, isId: isNumber })
}

/** The same for a list whose positions are sealed: see `sealPosition`. Cursors from before they were sealed have numbers. */
export function readSealedListRequest(epoch: string, list: string, query: ListQuery): ListRequest<number | string> {
  return parse(epoch, list, query, { isTimed: false, isId: isAnyId })
}

function parse<Id extends number | string>(
  epoch: string,
  list: string,
  query: ListQuery,
  shape: PositionShape,
): ListRequest<Id> {
  const { limit = LIMIT_DEFAULT, cursor, ...filters } = query
  const after = cursor === undefined ? undefined : readCursor<Id>(cursor, epoch, fingerprint(list, filters), shape)
  return { list, filters, limit, after, since: undefined, horizon: undefined, epoch }
}

/** Drops the extra row of `limitRows` and describes the page, with the next cursor in the body and in a Link header. */
export function finishList<Row, Id extends number | string = number>(
  list: ListRequest<Id>,
  found: Row[],
  positionOf: (row: Row) => Position<Id>,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
  /** For a feed: how far was read, which is where to continue if there were no more rows, and whether anything follows. */
  end?: { position: Position<Id>; isFollowed: boolean },
) {
  const rows = found.slice(0, list.limit)
  const isFull = found.length > list.limit
  const last = isFull ? positionOf(rows.at(-1)!) : end?.position
  const hasMore = isFull || (end?.isFollowed ?? false)
  return { rows, meta: describePage(list, hasMore, last, request, reply, publicUrl) }
}

/** Returns the page's meta and sets the Link header. `last` is the position to continue from. */
function describePage<Id extends number | string = number>(
  list: ListRequest<Id>,
  hasMore: boolean,
  last: Position<Id> | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): Static<typeof PageMeta> {
  const next = last ? writeCursor(last, list.epoch, fingerprint(list.list, list.filters)) : null
  if (next !== null && hasMore) {
    const address = new URL(request.url, publicUrl)
    address.searchParams.set('cursor', next)
    reply.header('link', `<${address.href}>; rel="next"`)
  }
  return {
    limit: list.limit,
    has_more: hasMore,
    next_cursor: next,
    ...(list.horizon !== undefined && { synced_until: last?.at ?? list.horizon }),
  }
}

function fingerprint(list: string, filters: Record<string, unknown>): string {
  const named = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return hash('sha1', JSON.stringify([list, named]), 'base64url').slice(0, 8)
}

function writeCursor({ id, at, key }: Position<number | string>, epoch: string, filters: string): string {
  const order = at ?? key
  return Buffer.from(JSON.stringify([epoch, filters, id, ...(order === undefined ? [] : [order])])).toString(
    'base64url',
  )
}

const isNumber = (id: unknown) => Number.isSafeInteger(id)
/** Positions that are sealed are text; before they were, they were numbers. */
export const isAnyId = (id: unknown) => isNumber(id) || typeof id === 'string'
const isUuid = (id: unknown) => typeof id === 'string' && UUID.test(id)

function readCursor<Id extends number | string>(
  cursor: string,
  epoch: string,
  filters: string,
  { isTimed, isKey, isId }: PositionShape,
): Position<Id> {
  const parts = decodeCursor(cursor)
  const [cursorEpoch, cursorFilters, id, order] = parts ?? []
  const at = isTimed && typeof order === 'string' ? toUtc(order) : undefined
  const key = typeof order === 'string' && isKey?.(order) ? order : undefined
  const isPosition = isId(id) && (isTimed || isKey ? (at ?? key) !== undefined : order === undefined)
  if (typeof cursorEpoch !== 'string') throw invalidField('cursor', 'invalid_cursor', because('cursor_foreign'))
  if (cursorEpoch !== epoch) throw new ApiError('resync_required')
  if (cursorFilters !== filters || !isPosition) {
    throw invalidField('cursor', 'invalid_cursor', because('cursor_of_other_list'))
  }
  return { id: id as Id, ...(at !== undefined && { at }), ...(key !== undefined && { key }) }
}

function decodeCursor(cursor: string): unknown[] | undefined {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}
