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
import { sendImportResult, receiveImport } from './receive-import.ts'
import { sendCsv } from './send-csv.ts'

/** Importing the largest file takes minutes on a busy machine. */
const IMPORT_TIMEOUT_MS = 15 * 60_000

/** Import and export of members and listings. Register in a separate scope, because it replaces the body parsers. */
export function csvRoutes(api: AdminApi, deps: Deps): void {
  api.removeAllContentTypeParsers()
  // The body stays a stream: receiveImport limits its size, and readCsv rejects invalid UTF-8.
  api.addContentTypeParser('text/csv', (request, body, done) => {
    requireUtf8Charset(request)
    done(null, body)
  })
  registerImportRoute(api, deps, 'members', importMembers)
  registerImportRoute(api, deps, 'listings', importListings)
  registerExportRoute(api, deps, 'members', membersExport)
  registerExportRoute(api, deps, 'listings', listingsExport)
}

function registerImportRoute(
  api: AdminApi,
  { sql, files }: Deps,
  what: string,
  importFile: typeof importMembers,
): void {
  api.post(`/communities/:slug/${what}/import`, {
    config: { role: 'manager', answerWithinMs: IMPORT_TIMEOUT_MS },
    // Compression would buffer the progress lines.
    compress: false,
    schema: {
      summary: `Add and change ${what} by a CSV file`,
      description:
        'The body is the file, as text/csv. All rows or none, unless skip_bad. With the header Accept: application/x-ndjson the progress is told line by line, and the last line is the answer.',
      tags: [capitalize(what)],
      consumes: ['text/csv'],
      querystring: ImportQuery,
      response: { 200: Type.Object({ data: ImportResult }) },
    },
    handler: async (request, reply) => {
      const community = await requireCommunityRow(sql, request)
      const { dry_run: dryRun = false, skip_bad: skipBad = false } = request.query
      return sendImportResult(request, reply, (onProgress) =>
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

function registerExportRoute<Row extends object>(
  api: AdminApi,
  deps: Deps,
  what: string,
  describe: (community: CommunityRow) => Export<Row>,
): void {
  api.get(`/communities/:slug/${what}/export`, {
    config: { role: 'viewer', ...(what === 'members' && { freshProof: true as const }) },
    schema: {
      summary: `All ${what} as a CSV file, which an import reads`,
      tags: [capitalize(what)],
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

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
