import type { FastifyReply, FastifyRequest } from 'fastify'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { adminActor } from '../audit/admin-actor.ts'
import { recordAudit, type AuditEntry } from '../audit/record.ts'
import type { Deps } from '../../http/deps.ts'
import { exportRows, type Export } from '../../csv/export-rows.ts'

/** The office opens it in a spreadsheet, which without this takes UTF-8 for an older encoding. */
const BYTE_ORDER_MARK = '\uFEFF'
/** A caller that asks for a download and does not read it would keep others from theirs. */
const STALLED_MAX_MS = 2 * 60 * 1000

export interface Download<Row extends object> {
  /** What is exported, as the audit log and the file are named after it: members, calls, … */
  what: string
  rows: Export<Row>
  /** For the audit log: what was asked for. */
  detail?: AuditEntry['detail']
}

/** Streams an export as a download, one batch of rows in memory at a time. */
export async function sendCsv<Row extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  { sql, files }: Pick<Deps, 'sql' | 'files'>,
  { what, rows, detail }: Download<Row>,
): Promise<FastifyReply> {
  const { id, slug } = request.community
  const body = new PassThrough()
  // It may fail before anybody reads it.
  body.on('error', () => {})
  reply.raw.setTimeout(STALLED_MAX_MS, () => reply.raw.destroy())
  await new Promise<void>((resolve, reject) => {
    const done = files.run(reply, async (fileSql) => {
      // Before the first row leaves: what is not recorded did not happen.
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
      // Breaks the download off, so that half a file does not pass for a whole one.
      body.destroy(error)
    })
  })
  return reply
    .header('content-disposition', `attachment; filename="${slug}-${what}.csv"`)
    .type('text/csv; charset=utf-8')
    .send(body)
}
