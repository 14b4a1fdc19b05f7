import type { FastifyReply, FastifyRequest } from 'fastify'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { adminActor } from '../audit/admin-actor.ts'
import { recordAudit, type AuditEntry } from '../audit/record.ts'
import type { Deps } from '../../http/deps.ts'
import { exportRows, type Export } from '../../csv/export-rows.ts'

/** Without it, spreadsheet programs mistake UTF-8 for a legacy encoding. */
const BYTE_ORDER_MARK = '\uFEFF'
/** A client that stops reading its download would block others. */
const STALL_TIMEOUT_MS = 2 * 60 * 1000

export interface Download<Row extends object> {
  /** What is exported: members, calls, … Names the audit action and the file. */
  what: string
  rows: Export<Row>
  /** The filters, for the audit log. */
  detail?: AuditEntry['detail']
}

/** Streams an export as a download with one batch of rows in memory. */
export async function sendCsv<Row extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, files }: Pick<Deps, 'sql' | 'files'>,
  { what, rows, detail }: Download<Row>,
): Promise<FastifyReply> {
  const { id, slug } = request.community
  const body = new PassThrough()
  // Prevents an uncaught error if the export fails before the response is piped.
  body.on('error', () => {})
  reply.raw.setTimeout(STALL_TIMEOUT_MS, () => reply.raw.destroy())
  await new Promise<void>((resolve, reject) => {
    const done = files.run(reply, async (fileSql) => {
      // Audit before the first row is sent.
      await recordAudit(sql, id, adminActor(request), {
        action: `${what}.exported`,
        subject: { kind: 'community', id },
        ...(detail && { detail }),
      })
      await exportRows(fileSql, rows, async (text) => {
        resolve()
        body.write(BYTE_ORDER_MARK)
        await pipeline(text, body)
      })
    })
    done.catch((error: Error) => {
      reject(error)
      // Abort the download, so that a partial file is not mistaken for a complete one.
      body.destroy(error)
    })
  })
  return reply
    .header('content-disposition', `attachment; filename="${slug}-${what}.csv"`)
    .type('text/csv; charset=utf-8')
    .send(body)
}
