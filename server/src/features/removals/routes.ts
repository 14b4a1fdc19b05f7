import { Type } from 'typebox'
import type { Deps } from '../../http/deps.ts'
import { tagChanges } from '../../http/partner/etag.ts'
import { requireScope } from '../../http/partner/frame.ts'
import { PageMeta, PageQuery, finishList, isAnyId, readListRequest } from '../../http/shared/paging.ts'
import { openPosition, sealPosition } from '../../http/shared/sealed-position.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import type { Scope } from '../../core/scopes.ts'
import { listRemovals, type RemovalRow, type RemovalType } from './queries.ts'

const SCOPE_OF: Record<RemovalType, Scope> = { user: 'users.read', listing: 'listings.read' }
const EPOCH_START = '1970-01-01T00:00:00Z'

const Removal = Type.Object(
  {
    type: Type.Enum(['user', 'listing']),
    id: Type.Integer({ description: 'Id of the member or listing' }),
    removed_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Removal', examples: [{ type: 'user', id: 42, removed_at: '2026-02-28T17:30:00.000000Z' }] },
)

export function removalRoutes(api: PartnerApi, { sql, epoch, config, cursorBox }: Deps): void {
  api.get('/removals', {
    config: { scope: Object.values(SCOPE_OF) },
    schema: {
      operationId: 'listRemovals',
      summary: 'List members and listings that can no longer be seen',
      description:
        'Tells you what to delete from a copy. Needs the scope of the requested type; without a type, it lists those that the scopes of the token cover.',
      tags: ['Members'],
      querystring: Type.Object({
        ...PageQuery,
        since: Type.Optional(Type.String({ format: 'date-time', description: 'The synced_until of your last round' })),
        type: Type.Optional(Type.Enum(['user', 'listing'], { description: 'Only members, or only listings' })),
      }),
      response: { 200: Type.Object({ data: Type.Array(Removal), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { communityId, scopes } = request.caller
      const { type, since = EPOCH_START } = request.query
      if (type) requireScope(request.caller, SCOPE_OF[type])
      const types = type ? [type] : (['user', 'listing'] as const).filter((one) => scopes.includes(SCOPE_OF[one]))
      const place = { epoch: await epoch(), list: `removals of community ${communityId}` }
      const list = await readListRequest<number | string>(
        sql,
        place.epoch,
        'removals',
        request.query,
        { communityId, since },
        isAnyId,
      )
      // Sealed with a key that was lost, or by an older version: the removals of that moment are read again.
      const after = list.after && { ...list.after, id: openPosition(cursorBox, place, list.after.id)?.id ?? 0 }
      const toCursor = ({ id, removed_at: at }: RemovalRow) => ({ id: sealPosition(cursorBox, place, { id }), at })
      const found = await listRemovals(sql, communityId, { ...list, after }, types)
      const { rows, meta } = finishList(list, found, toCursor, request, reply, config.publicUrl)
      const data = rows.map(({ type: kind, resource_id: id, removed_at }) => ({ type: kind, id, removed_at }))
      tagChanges(reply, data, meta)
      return { data, meta }
    },
  })
}
