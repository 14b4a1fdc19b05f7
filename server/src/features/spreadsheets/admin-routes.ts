import type { FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import { findCommunity, type CommunityRow } from '../communities/queries.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import { requireUtf8Charset } from '../../http/shared/read-body.ts'
import { listingsExport } from '../listings/export-listings.ts'
import { importListings, LISTINGS } from '../listings/import-listings.ts'
import { membersExport } from '../members/export-members.ts'
import { importMembers, MEMBERS } from '../members/import-members.ts'
import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'
import { CsvFormat, FileQuery, ImportQuery, ImportResult, InspectedFile } from './admin-schema.ts'
import type { Export } from '../../csv/export-rows.ts'
import type { ImportOptions } from './import-rows.ts'
import { inspectFile } from './inspect-file.ts'
import { parseColumns, type ImportColumns } from './layout.ts'
import { receiveFile, receiveImport, sendImportResult } from './receive-import.ts'
import { sendCsv } from './send-csv.ts'

/** Importing the largest file takes minutes on a busy machine. */
const IMPORT_TIMEOUT_MS = 15 * 60_000

const CHOSEN_LENGTH_MAX = 8000
const ChosenIds = Type.Object({
  ids: Type.Optional(
    Type.String({
      pattern: String.raw`^\d{1,15}(,\d{1,15})*$`,
      maxLength: CHOSEN_LENGTH_MAX,
      description: 'Only these members: ids with commas between them',
    }),
  ),
})

/** Import and export of members and listings. Register in a separate scope, because it replaces the body parsers. */
export function csvRoutes(api: AdminApi, deps: Deps): void {
  api.removeAllContentTypeParsers()
  // The body stays a stream: receiveFile limits its size, and readCsv decodes it.
  api.addContentTypeParser('text/csv', (request, body, done) => {
    requireUtf8Charset(request)
    done(null, body)
  })
  registerImportRoute(api, deps, 'members', importMembers)
  registerImportRoute(api, deps, 'listings', importListings)
  registerInspectRoute(api, deps, 'members', MEMBERS)
  registerInspectRoute(api, deps, 'listings', LISTINGS)
  registerExportRoute(api, deps, 'members', membersExport)
  registerExportRoute(api, deps, 'listings', (community) => listingsExport(community))
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
        'The body is the file, as text/csv, in any of the encodings and delimiters below. All rows or none, unless skip_bad. With the header Accept: application/x-ndjson the progress is told line by line, and the last line is the answer.',
      tags: [capitalize(what)],
      consumes: ['text/csv'],
      querystring: ImportQuery,
      response: { 200: Type.Object({ data: ImportResult }) },
    },
    handler: async (request, reply) => {
      const community = await requireCommunityRow(sql, request)
      const options = readImportQuery(request.query)
      return sendImportResult(request, reply, (onProgress) =>
        receiveImport(
          sql,
          request,
          options,
          (open, all) =>
            files.run(reply, `${request.community.capacity_of}`, (fileSql) =>
              importFile(fileSql, adminActor(request), community, open, all),
            ),
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
  describe: (community: CommunityRow, ids?: number[]) => Export<Row>,
): void {
  api.get(`/communities/:slug/${what}/export`, {
    config: { role: 'viewer', ...(what === 'members' && { freshProof: true as const }) },
    schema: {
      summary: `All ${what} as a CSV file, which an import reads`,
      tags: [capitalize(what)],
      produces: ['text/csv'],
      querystring: what === 'members' ? Type.Object({ ...CsvFormat.properties, ...ChosenIds.properties }) : CsvFormat,
    },
    handler: async (request, reply) => {
      const community = await requireCommunityRow(deps.sql, request)
      const { ids: chosen, ...format } = request.query as Static<typeof ChosenIds> & Static<typeof CsvFormat>
      const ids = chosen?.split(',').map(Number)
      const detail = ids && { chosen: ids.length }
      return sendCsv(request, reply, deps, { what, rows: describe(community, ids), format, ...(detail && { detail }) })
    },
  })
}

function readImportQuery(query: Static<typeof ImportQuery>): ImportOptions & { dryRun: boolean } {
  const { encoding, delimiter, decimal, dates, columns, file_name, dry_run = false, skip_bad = false } = query
  return {
    dryRun: dry_run,
    skipBad: skip_bad,
    clearEmpty: query.empty_cells === 'clear',
    format: { ...(encoding && { encoding }), ...(delimiter && { delimiter }) },
    layout: {
      ...(decimal && { decimal }),
      ...(dates && { dates }),
      ...(columns && { columns: parseColumns(columns) }),
    },
    ...(file_name && { fileName: file_name }),
  }
}

function registerInspectRoute(api: AdminApi, { sql, files }: Deps, what: string, kind: ImportColumns): void {
  api.post(`/communities/:slug/${what}/import/inspect`, {
    config: { role: 'manager', answerWithinMs: IMPORT_TIMEOUT_MS },
    schema: {
      summary: `How a file of ${what} would be read`,
      description:
        'The body is the file, as text/csv. Says what was found out about it and which column may be which; writes nothing.',
      tags: [capitalize(what)],
      consumes: ['text/csv'],
      querystring: FileQuery,
      response: { 200: Type.Object({ data: InspectedFile }) },
    },
    handler: async (request, reply) => {
      const { id, capacity_of } = request.community
      return {
        data: await receiveFile(sql, request, (open) =>
          // All of the file is read, to find out its encoding.
          files.run(reply, `${capacity_of}`, (fileSql) => inspectFile(fileSql, id, kind, open, request.query)),
        ),
      }
    },
  })
}

async function requireCommunityRow(sql: Sql, { community }: FastifyRequest): Promise<CommunityRow> {
  const row = await findCommunity(sql, community.slug)
  if (!row) throw new NotFound(because('no_such_community'))
  return row
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
