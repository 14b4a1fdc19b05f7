import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeText, type WrittenEncoding } from '../csv/encode-text.ts'
import { exportRows, type Export } from '../csv/export-rows.ts'
import type { Delimiter } from '../csv/file-format.ts'
import type { FileWork } from './console/file-work.ts'
import { readWeights, weightOf } from './shared/weights.ts'

/** A client that stops reading its download would block others. */
const STALL_TIMEOUT_MS = 2 * 60 * 1000

/** JSON is the default, also for a client that accepts neither: responses are never 406. */
export function prefersCsv({ headers: { accept } }: FastifyRequest): boolean {
  if (accept === undefined) return false
  const weights = readWeights(accept)
  const csv = weightOf(weights, 'text/csv', 'text/*', '*/*')
  return csv > weightOf(weights, 'application/json', 'application/*', '*/*')
}

export interface CsvStream<Row extends object> {
  rows: Export<Row>
  /** A byte order mark comes first. */
  isMarked?: boolean
  encoding?: WrittenEncoding
  delimiter?: Delimiter
  /** Runs before the first row is read. */
  onStart?: () => Promise<void>
}

/**
 * Streams an export with one batch of rows in memory. Resolves when it has begun; until then, errors are thrown. HEAD
 * exports nothing.
 */
export async function streamCsv<Row extends object>(
  reply: FastifyReply,
  files: FileWork,
  owner: string,
  { rows, isMarked = false, encoding = 'utf-8', delimiter = 'comma', onStart = async () => {} }: CsvStream<Row>,
): Promise<FastifyReply> {
  const type = `text/csv; charset=${encoding}`
  // An empty text would get the header content-length: 0.
  if (reply.request.method === 'HEAD') return reply.type(type).send(Readable.from([]))
  const body = new PassThrough()
  // Prevents an uncaught error if the export fails before the response is piped.
  body.on('error', () => {})
  reply.raw.setTimeout(STALL_TIMEOUT_MS, () => reply.raw.destroy())
  await new Promise<void>((resolve, reject) => {
    const send = async (text: AsyncIterable<string>) => {
      resolve()
      await pipeline(encodeText(text, encoding, isMarked), body)
    }
    const done = files.run(reply, owner, async (fileSql) => {
      await onStart()
      await exportRows(fileSql, rows, send, undefined, delimiter)
    })
    done.catch((error: Error) => {
      reject(error)
      // Abort the download, so that a partial file is not mistaken for a complete one.
      body.destroy(error)
    })
  })
  return reply.type(type).send(body)
}
