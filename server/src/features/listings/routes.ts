import { Type } from 'typebox'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { Id, IdParameter, parseId } from '../../http/shared/ids.ts'
import { PageMeta, PageQuery, UpdatedSince, finishList, readListRequest } from '../../http/shared/paging.ts'
import { tagChanges } from '../../http/partner/etag.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { presentListing } from './present-listing.ts'
import { findListing, listListings, type ListingRow } from './queries.ts'
import { searchListings } from './search-listings.ts'
import { Listing, ListingType } from './schema.ts'

export function listingRoutes(api: PartnerApi, { sql, epoch, config }: Deps): void {
  api.get('/listings', {
    config: { scope: 'listings.read' },
    schema: {
      operationId: 'listListings',
      summary: 'List active listings: services and requests',
      description:
        'Ordered by id, or by time of change with updated_since. Contains only listings of members that partners can see.',
      tags: ['Listings'],
      querystring: Type.Object({
        ...PageQuery,
        updated_since: UpdatedSince,
        type: Type.Optional(ListingType),
        category: Type.Optional(Type.String({ format: 'text', maxLength: 100, description: 'Exact name' })),
        user_id: Type.Optional(Type.Integer({ ...Id, description: 'Only listings of this member' })),
        q: Type.Optional(Type.String({ format: 'text', maxLength: 200, description: 'Words in title or description' })),
      }),
      response: { 200: Type.Object({ data: Type.Array(Listing), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { communityId } = request.caller
      const { updated_since: since, ...filters } = request.query
      const list = await readListRequest(sql, await epoch(), 'listings', request.query, { communityId, since })
      const { q } = filters
      const found =
        q === undefined || since !== undefined
          ? await listListings(sql, communityId, list, filters)
          : await searchListings(sql, communityId, list, { ...filters, q })
      const toCursor = ({ id, updated_at }: ListingRow) => ({ id, ...(since !== undefined && { at: updated_at }) })
      const { rows, meta } = finishList(list, found, toCursor, request, reply, config.publicUrl)
      const data = rows.map(presentListing)
      if (since !== undefined) tagChanges(reply, data, meta)
      return { data, meta }
    },
  })

  api.get('/listings/:id', {
    config: { scope: 'listings.read', errors: ['listing_not_found'] },
    schema: {
      operationId: 'getListing',
      summary: 'Fetch one listing',
      description: 'A listing that was closed, or whose member left, is not found.',
      tags: ['Listings'],
      params: IdParameter,
      response: { 200: Type.Object({ data: Listing }) },
    },
    handler: async (request) => {
      const id = parseId(request.params.id)
      const row = id === undefined ? undefined : await findListing(sql, request.caller.communityId, id)
      if (!row) throw new ApiError('listing_not_found')
      return { data: presentListing(row) }
    },
  })
}
