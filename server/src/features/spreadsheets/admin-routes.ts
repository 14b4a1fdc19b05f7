import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import { findCommunity, type CommunityRow } from '../communities/queries.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import { requireUtf8Charset } from '../../http/shared/read-body.ts'
import { listingsExport } from '../listings/export-listings.ts'
import { importListings } from '../listings/import-listings.ts'
import { membersExport } from '../members/export-members.ts'
import { importMembers } from '../members/import-members.ts'
import { NotFound } from '../../core/refusal.ts'
import { ImportQuery, ImportResult } from './admin-schema.ts'
import type { Export } from '../../csv/export-rows.ts'
import { answerImport, receiveImport } from './receive-import.ts'
import { sendCsv } from './send-csv.ts'

/** The largest file takes minutes on a busy machine. */
const IMPORT_ANSWER_MS = 15 * 60_000

/** The spreadsheets that members and listings come from and go to. Register in a scope of its own: it reads text/csv. */
export function csvRoutes(api: AdminApi, deps: Deps): void {
  api.removeAllContentTypeParsers()
  // Passed on as a stream: receiveImport counts its bytes, and readCsv rejects what is not UTF-8.
  api.addContentTypeParser('text/csv', (request, body, done) => {
    requireUtf8Charset(request)
    done(null, body)
  })
  importRoute(api, deps, 'members', importMembers)
  importRoute(api, deps, 'listings', importListings)
  exportRoute(api, deps, 'members', membersExport)
  exportRoute(api, deps, 'listings', listingsExport)
}

function importRoute(api: AdminApi, { sql, files }: Deps, what: string, importFile: typeof importMembers): void {
  api.post(`/communities/:slug/${what}/import`, {
    config: { role: 'manager', answerWithinMs: IMPORT_ANSWER_MS },
    // Progress is told line by line; a compressor would hold the lines back.
    compress: false,
    schema: {
      summary: `Add and change ${what} by a CSV file`,
      description:
        'The body is the file, as text/csv. All rows or none, unless skip_bad. With the header Accept: application/x-ndjson the progress is told line by line, and the last line is the answer.',
      tags: [capitalised(what)],
      consumes: ['text/csv'],
      querystring: ImportQuery,
      response: { 200: Type.Object({ data: ImportResult }) },
    },
    handler: async (request, reply) => {
      const community = await requireCommunityRow(sql, request)
      const { dry_run: dryRun = false, skip_bad: skipBad = false } = request.query
      return answerImport(request, reply, (onProgress) =>
        receiveImport(
          request,
          { dryRun, skipBad },
          (file, options) =>
            files.run(reply, (fileSql) => importFile(fileSql, adminActor(request), community, file, options)),
          onProgress,
        ),
      )
    },
  })
}

function exportRoute<Row extends object>(
  api: AdminApi,
  deps: Deps,
  what: string,
  describe: (community: CommunityRow) => Export<Row>,
): void {
  api.get(`/communities/:slug/${what}/export`, {
    config: { role: 'viewer' },
    schema: {
      summary: `All ${what} as a CSV file, which an import reads`,
      tags: [capitalised(what)],
      produces: ['text/csv'],
    },
    handler: async (request, reply) => {
      const community = await requireCommunityRow(deps.sql, request)
      return sendCsv(request, reply, deps, { what, rows: describe(community) })
    },
  })
}

async function requireCommunityRow(sql: Sql, { community }: FastifyRequest): Promise<CommunityRow> {
  const row = await findCommunity(sql, community.slug)
  if (!row) throw new NotFound('There is no such community.')
  return row
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
