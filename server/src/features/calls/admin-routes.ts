import { Type } from 'typebox'
import { sendCsv } from '../spreadsheets/send-csv.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import type { Sql } from '../../postgres/connect.ts'
import { finishList, PageMeta, PageQuery, readTimedListRequest } from '../../http/shared/paging.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { Call, CallDetail, CallFilters, CallPoint, ErrorGroup, PeriodQuery } from './admin-schema.ts'
import { readChartPeriod } from './chart-period.ts'
import { callsExport } from './export-calls.ts'
import { countOverTime, findCall, groupErrors, listCalls, type CallFilter, type CallRow } from './queries.ts'
import { searchInTime } from './search-in-time.ts'

const TAGS = ['Calls']
const GROUPS_MAX = 50
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function callAdminRoutes(api: AdminApi, deps: Deps): void {
  const { sql, reads, config, epoch } = deps
  api.get('/communities/:slug/calls', {
    config: { role: 'viewer' },
    schema: {
      summary: 'What partners called, the newest first',
      tags: TAGS,
      querystring: Type.Object({ ...PageQuery, ...CallFilters }),
      response: { 200: Type.Object({ data: Type.Array(Call), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { query, community } = request
      const list = readTimedListRequest(await epoch(), 'admin calls', query)
      const filter = readFilter(query)
      const page = { after: list.after, limit: list.limit + 1 }
      const search = (reader: Sql) =>
        filter ? searchInTime(reader, (tx) => listCalls(tx, community.id, filter, page)) : Promise.resolve([])
      const found = await reads.run(request, sql, search)
      const { rows, meta } = finishList(list, found, toCursor, request, reply, config.publicUrl)
      return { data: rows, meta }
    },
  })

  api.get('/communities/:slug/calls/errors', {
    config: { role: 'viewer' },
    schema: {
      summary: 'What went wrong: refused calls in groups, the most frequent first',
      tags: TAGS,
      querystring: Type.Object({ partner_id: CallFilters.partner_id, ...PeriodQuery }),
      response: { 200: Type.Object({ data: Type.Array(ErrorGroup) }) },
    },
    handler: async (request) => {
      const { community, query } = request
      const search = (reader: Sql) => searchInTime(reader, (tx) => groupErrors(tx, community.id, query, GROUPS_MAX))
      return { data: await reads.run(request, sql, search) }
    },
  })

  api.get('/communities/:slug/calls/chart', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Calls over time, by how they were answered',
      description: 'In steps of five minutes, an hour or a day, as the period allows. Without a period, the last day.',
      tags: TAGS,
      querystring: Type.Object({ partner_id: CallFilters.partner_id, ...PeriodQuery }),
      response: { 200: Type.Object({ data: Type.Array(CallPoint) }) },
    },
    handler: async (request) => {
      const { community, query } = request
      const { step, ...period } = readChartPeriod(query, Date.now())
      const chosen = { partner_id: query.partner_id, ...period }
      const clock = { timeZone: community.time_zone, step }
      const count = (reader: Sql) => searchInTime(reader, (tx) => countOverTime(tx, community.id, chosen, clock))
      return { data: await reads.run(request, sql, count) }
    },
  })

  api.get('/communities/:slug/calls/export', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Calls as CSV',
      tags: TAGS,
      querystring: Type.Object(CallFilters),
    },
    handler: async (request, reply) => {
      const communityId = request.community.id
      const filter = readFilter(request.query)
      if (!filter) throw new Refusal(because('not_a_request_id'), { field: 'request_id' })
      return sendCsv(request, reply, deps, { what: 'calls', rows: callsExport(communityId, filter), detail: filter })
    },
  })

  api.get('/communities/:slug/calls/:request_id', {
    config: { role: 'viewer' },
    schema: {
      summary: 'One call in detail',
      tags: TAGS,
      params: Type.Object({ slug: Type.String(), request_id: Type.String() }),
      response: { 200: Type.Object({ data: CallDetail }) },
    },
    handler: async (request) => {
      const requestId = readUuid(request.params.request_id)
      // Somebody may look for a call that has just been made.
      const find = (id: string) => searchInTime(sql, (tx) => findCall(tx, request.community.id, id))
      const call = requestId && (await reads.inTurn(request, () => find(requestId)))
      if (!call) throw new NotFound(because('no_such_call'))
      return { data: call }
    },
  })
}

const toCursor = ({ request_id: id, at }: CallRow) => ({ id, at })

/** Returns undefined if nothing can match because the request id is not a UUID. */
function readFilter({ limit: _limit, cursor: _cursor, ...filter }: CallFilter & { limit?: number; cursor?: string }) {
  if (filter.request_id === undefined) return filter
  const requestId = readUuid(filter.request_id)
  return requestId === undefined ? undefined : { ...filter, request_id: requestId }
}

/** Accepts surrounding spaces and upper case, as people paste ids. */
function readUuid(text: string): string | undefined {
  const uuid = text.trim().toLowerCase()
  return UUID.test(uuid) ? uuid : undefined
}
