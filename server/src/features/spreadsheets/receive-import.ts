import { mkdtemp, open as openFile, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireAccessAgain } from '../../http/console/admin-frame.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { toApiError } from '../../http/shared/send-error.ts'
import type { Progress } from '../../core/progress.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { ImportResult } from './admin-schema.ts'
import type { ImportOptions, ImportSummary, OpeningSum, Outcome } from './import-rows.ts'
import { BrokenCsv } from '../../csv/broken-csv.ts'
import type { OpenFile } from '../../csv/detect-format.ts'
import { toHours } from '../../core/hours.ts'
import type { Sql } from '../../postgres/connect.ts'

/** Larger files are imported on the command line. */
export const IMPORT_BYTES_MAX = 20 * 1024 * 1024
/** Far more than a community has. Such a file can have ten million, of one letter each. */
export const IMPORT_ROWS_MAX = 500_000
/** Limit per outcome, and for noted rows. People read a few dozen rows, and the totals cover the rest. */
const ROWS_LISTED_MAX = 1_000
const CHUNK_BYTES = 64 * 1024
const NDJSON = 'application/x-ndjson'

type ImportFile = (open: OpenFile, options: ImportOptions) => Promise<ImportSummary>

/** Receives the whole file, imports it and lists the outcomes. */
export async function receiveImport(
  sql: Sql,
  request: FastifyRequest,
  options: ImportOptions & { dryRun: boolean },
  importFile: ImportFile,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ImportResult> {
  const outcomes = createOutcomeList()
  const { openings, ...summary } = await receiveFile(sql, request, (open, bytes) =>
    importFile(open, { ...options, bytes, rowsMax: IMPORT_ROWS_MAX, onRow: outcomes.add, onProgress }),
  )
  return {
    dry_run: options.dryRun,
    ...summary,
    ...(openings && { openings: describeOpenings(openings) }),
    ...outcomes.result(),
  }
}

function describeOpenings({ count, centihours, reason }: OpeningSum): NonNullable<ImportResult['openings']> {
  return { members: count, hours: toHours(centihours), reason }
}

/** Receives the whole file. What is wrong with it is reported as a problem of the field `file`. */
export async function receiveFile<T>(
  sql: Sql,
  request: FastifyRequest,
  use: (open: OpenFile, bytes: number) => Promise<T>,
): Promise<T> {
  if (!(request.body instanceof Readable)) throw new Refusal(because('file_missing'), { field: 'file' })
  if (Number(request.headers['content-length']) > IMPORT_BYTES_MAX) throw tooLarge()
  try {
    return await withUpload(request.body, async (open, bytes) => {
      await requireAccessAgain(sql, request)
      return use(open, bytes)
    })
  } catch (error) {
    throw error instanceof BrokenCsv ? new Refusal(error.reason!, { field: 'file', cause: error }) : error
  }
}

/** A client that accepts NDJSON receives progress while rows are written: one object per line, the result last. */
export async function sendImportResult(
  request: FastifyRequest,
  reply: FastifyReply,
  run: (onProgress: (progress: Progress) => void) => Promise<ImportResult>,
): Promise<FastifyReply> {
  if (request.headers.accept !== NDJSON) return reply.send({ data: await run(() => {}) })
  const lines = new PassThrough()
  const write = (line: object) => lines.write(`${JSON.stringify(line)}\n`)
  let onWriting: (() => void) | undefined
  const writing = new Promise<void>((resolve) => (onWriting = resolve))
  const done = run(({ done: rows, total, label }) => {
    // Until the first write, a rejected file is still answered with its own status code.
    if (label !== 'writing') return
    onWriting?.()
    write({ progress: { done: rows, total } })
  })
  await Promise.race([writing, done])
  done
    .then(
      (data) => write({ data }),
      (error: unknown) => {
        request.log.warn({ reqId: request.id, err: error }, 'import failed while it was written')
        write(toApiError(error).consoleBody(request.id))
      },
    )
    .finally(() => lines.end())
  return reply.type(NDJSON).send(lines)
}

/**
 * Buffers the upload in a temporary file, so that a slow client does not occupy a database connection and concurrent
 * uploads do not fill the memory.
 */
async function withUpload<T>(body: Readable, use: (open: OpenFile, bytes: number) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-upload-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const file = await openFile(join(folder, 'upload.csv'), 'wx+', 0o600)
    try {
      // The file has personal data. Without a name, it vanishes with this process even if that is killed. On NFS it cannot
      // be removed while it is open.
      await removeFolder().catch(() => {})
      for await (const chunk of limitBytes(body)) await file.appendFile(chunk)
      const { size } = await file.stat()
      return await use(() => Readable.from(readChunks(file)), size)
    } finally {
      await file.close()
    }
  } finally {
    await removeFolder()
  }
}

/** Not a stream of the file's own, which would close it at its end: it is read more than once. */
async function* readChunks(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), { position })
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function* limitBytes(body: Readable): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > IMPORT_BYTES_MAX) throw tooLarge()
    yield chunk
  }
}

function tooLarge(): ApiError {
  const megabytes = IMPORT_BYTES_MAX / 1024 / 1024
  return new ApiError('payload_too_large', {
    reason: because('file_too_large', { megabytes }),
    // The rest of the upload is not read.
    headers: { connection: 'close' },
  })
}

function createOutcomeList() {
  const fates: ImportResult['fates'] = []
  const counts: Record<Outcome | 'noted', number> = { added: 0, changed: 0, unchanged: 0, refused: 0, noted: 0 }
  const add: NonNullable<ImportOptions['onRow']> = (outcome, row) => {
    if (++counts[row.notes.length > 0 ? 'noted' : outcome.outcome] <= ROWS_LISTED_MAX)
      fates.push({ ...outcome, ...row })
  }
  const result = () => {
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return { fates, fates_left_out: total - fates.length }
  }
  return { add, result }
}
