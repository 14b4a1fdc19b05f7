import type { FastifyReply, FastifyRequest } from 'fastify'
import { adminActor } from '../audit/admin-actor.ts'
import { recordAudit, type AuditEntry } from '../audit/record.ts'
import type { Deps } from '../../http/deps.ts'
import type { Export } from '../../csv/export-rows.ts'
import { streamCsv } from '../../http/stream-csv.ts'
import type { CsvFormat } from './admin-schema.ts'

export interface Download<Row extends object> {
  /** What is exported: members, calls, … Names the audit action and the file. */
  what: string
  rows: Export<Row>
  /** The filters, for the audit log. */
  detail?: AuditEntry['detail']
  format?: CsvFormat
}

/** Streams an export as a download with one batch of rows in memory. */
export async function sendCsv<Row extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, reads }: Pick<Deps, 'sql' | 'reads'>,
  { what, rows, detail, format = {} }: Download<Row>,
): Promise<FastifyReply> {
  const { id, slug, capacity_of } = request.community
  reply.header('content-disposition', `attachment; filename="${slug}-${what}.csv"`)
  return streamCsv(reply, reads.files(request), `${capacity_of}`, {
    rows,
    ...format,
    // Without it, spreadsheet programs mistake UTF-8 for a legacy encoding.
    isMarked: true,
    // Audit before the first row is sent.
    onStart: () =>
      recordAudit(sql, id, adminActor(request), {
        action: `${what}.exported`,
        subject: { kind: 'community', id },
        ...(detail && { detail }),
      }),
  })
}
