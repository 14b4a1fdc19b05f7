import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import type { Actor } from '../audit/record.ts'
import type { Queries, Sql } from '../../postgres/connect.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { once } from '../../http/console/request-once.ts'
import { IfMatch, requireVersion, VERSION_ERRORS, versionOf } from '../../http/console/versions.ts'
import { describeTotal, OfficePageMeta, OfficePageQuery } from '../../http/console/office-lists.ts'
import type { Deps } from '../../http/deps.ts'
import { requireCentihours, toHours } from '../../core/hours.ts'
import { requireId } from '../../http/shared/ids.ts'
import { finishList, readSortedListRequest } from '../../http/shared/paging.ts'
import { isStorableText } from '../../core/texts.ts'
import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'
import { findOfficeListing, type OfficeListingRow } from './admin-queries.ts'
import { listOfficeListings } from './listing-list-queries.ts'
import {
  ListingFilters,
  ListingForm,
  ListingSorts,
  NewListingForm,
  OfficeListing,
  ListingParams,
} from './admin-schema.ts'
import { changeListing, closeListing, publishListing, reopenListing } from './change-listing.ts'
import type { ListingRecord } from './queries.ts'

const TAGS = ['Listings']
const LIST = '/communities/:slug/listings'
const ONE = `${LIST}/:id`

/** Listing management for administrators. Import and export are in spreadsheets/admin-routes.ts. */
export function listingAdminRoutes(api: AdminApi, deps: Deps): void {
  registerReadRoutes(api, deps)
  registerChangeRoutes(api, deps)
}

function registerReadRoutes(api: AdminApi, { sql, reads, epoch, config }: Deps): void {
  api.get(LIST, {
    config: { role: 'viewer' },
    schema: {
      summary: 'Listings, the closed ones too, the newest first or by title',
      tags: TAGS,
      querystring: Type.Object({ ...OfficePageQuery, ...ListingFilters, sort: ListingSorts }),
      response: { 200: Type.Object({ data: Type.Array(OfficeListing), meta: OfficePageMeta }) },
    },
    handler: async (request, reply) => {
      const { limit: _limit, cursor: _cursor, sort, with_total: withTotal = false, q, ...filters } = request.query
      const list = readSortedListRequest(await epoch(), 'office listings', request.query, sort && isStorableText)
      const usedFilters = { ...filters, ...(q?.trim() && { q }) }
      const { rows: found, total } = await reads.run(request, sql, (reader) =>
        listOfficeListings(reader, request.community.id, list, usedFilters, { sort, withTotal }),
      )
      const positionOf = ({ id, sort_key }: OfficeListingRow) => ({ id, ...(sort && { key: sort_key }) })
      const { rows, meta } = finishList(list, found, positionOf, request, reply, config.publicUrl)
      return { data: rows.map(presentOfficeListing), meta: { ...meta, ...describeTotal(total) } }
    },
  })

  api.get(ONE, {
    config: { role: 'viewer' },
    schema: {
      summary: 'One listing',
      tags: TAGS,
      params: ListingParams,
      response: { 200: Type.Object({ data: OfficeListing }) },
    },
    handler: async ({ community, params }) => ({
      data: await requireOfficeListing(sql, community.id, requireId(params.id, 'listing')),
    }),
  })
}

function registerChangeRoutes(api: AdminApi, { sql }: Deps): void {
  api.post(LIST, {
    config: { role: 'manager' },
    schema: {
      summary: 'Publish a listing for a member',
      description: 'A category that is not there yet is made.',
      tags: TAGS,
      body: NewListingForm,
      response: { 200: Type.Object({ data: OfficeListing }), 201: Type.Object({ data: OfficeListing }) },
    },
    handler: async (request, reply) => {
      const { key, ...form } = request.body
      const { member_id, type, description = '' } = form
      const { title, category, centihours = null } = readForm(form)
      const input = { member_id, type, title: title!, description, category: category!, centihours, external_id: null }
      const { id: communityId } = request.community
      const keyed = { adminId: request.session.admin.id, key, input: { listing: form } }
      const { made, replayed } = await once(sql, communityId, keyed, {
        make: async (tx) => {
          const { id } = await publishListing(tx, adminActor(request), communityId, input)
          return requireOfficeListing(tx, communityId, id)
        },
        idsOf: ({ id }) => [id],
        find: (tx, [id]) => requireOfficeListing(tx, communityId, id!),
      })
      return reply.code(replayed ? 200 : 201).send({ data: made })
    },
  })

  api.patch(ONE, {
    config: { role: 'manager', errors: VERSION_ERRORS },
    schema: {
      summary: 'Change a listing',
      tags: TAGS,
      params: ListingParams,
      headers: IfMatch,
      body: ListingForm,
      response: { 200: Type.Object({ data: OfficeListing }) },
    },
    handler: async (request) => {
      const id = requireId(request.params.id, 'listing')
      await changeListing(sql, adminActor(request), request.community.id, id, readForm(request.body), (before) =>
        requireVersion(request, listingVersion(before)),
      )
      return { data: await requireOfficeListing(sql, request.community.id, id) }
    },
  })

  const statusChanges: [name: string, summary: string, change: Change][] = [
    ['close', 'Close a listing', closeListing],
    ['reopen', 'Publish a closed listing again', reopenListing],
  ]
  for (const [name, summary, change] of statusChanges) {
    api.post(`${ONE}/${name}`, {
      config: { role: 'manager' },
      schema: { summary, tags: TAGS, params: ListingParams, response: { 200: Type.Object({ data: OfficeListing }) } },
      handler: async (request) => {
        const id = requireId(request.params.id, 'listing')
        await change(sql, adminActor(request), request.community.id, id)
        return { data: await requireOfficeListing(sql, request.community.id, id) }
      },
    })
  }
}

type Change = (sql: Sql, actor: Actor, communityId: number, id: number) => Promise<unknown>

function readForm({ type, title, description, category, hours }: ListingForm) {
  return {
    ...(type !== undefined && { type }),
    ...(title !== undefined && { title: title.trim() }),
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category: category.trim() }),
    ...(hours !== undefined && { centihours: hours === null ? null : requireCentihours(hours) }),
  }
}

async function requireOfficeListing(sql: Queries, communityId: number, id: number): Promise<OfficeListing> {
  const listing = await findOfficeListing(sql, communityId, id)
  if (!listing) throw new NotFound(because('no_such_listing'))
  return presentOfficeListing(listing)
}

function presentOfficeListing(row: OfficeListingRow): OfficeListing {
  const {
    member_id,
    member_name,
    member_status,
    member_hidden,
    centihours,
    version: _version,
    sort_key: _key,
    ...listing
  } = row
  return {
    ...listing,
    hours: centihours === null ? null : toHours(centihours),
    member: { id: member_id, name: member_name, status: member_status, hidden: member_hidden },
    version: listingVersion(row),
  }
}

function listingVersion({ type, title, description, category, centihours }: ListingRecord): string {
  return versionOf([type, title, description, category, centihours])
}
