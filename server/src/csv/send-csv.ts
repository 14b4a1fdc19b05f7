import type { FastifyReply } from 'fastify'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql } from '../db/connect.ts'
import { exportRows, type Export } from './export-rows.ts'

/** The office opens it in a spreadsheet, which without this takes UTF-8 for an older encoding. */
const BYTE_ORDER_MARK = '\uFEFF'
/** Whoever asks for a download and does not read it would hold one of the few connections for long work. */
const STALLED_MAX_MS = 2 * 60 * 1000

/** Streams an export as a download, one batch of rows in memory at a time. Give it the pool for long work. */
export async function sendCsv<Row extends object>(
  reply: FastifyReply,
  sql: Sql,
  what: Export<Row>,
  fileName: string,
): Promise<FastifyReply> {
  const body = new PassThrough()
  reply.raw.setTimeout(STALLED_MAX_MS, () => reply.raw.destroy())
  let began!: () => void
  const beginning = new Promise<void>((resolve) => (began = resolve))
  const written = exportRows(sql, what, async (text) => {
    began()
    body.write(BYTE_ORDER_MARK)
    await pipeline(text, body)
  })
  // Whoever closes the browser in the middle ends the export; nothing is left to be told.
  written.catch((error: Error) => body.destroy(error))
  // A database that is away is told as such, not as a broken download.
  await Promise.race([beginning, written])
  return reply
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .type('text/csv; charset=utf-8')
    .send(body)
}
