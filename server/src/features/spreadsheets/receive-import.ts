import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../http/shared/errors.ts'
import { toApiError } from '../../http/shared/send-error.ts'
import type { Progress } from '../../core/progress.ts'
import { Refusal } from '../../core/refusal.ts'
import type { ImportResult } from './admin-schema.ts'
import type { ImportOptions, ImportSummary, Outcome } from './import-rows.ts'
import { BrokenCsv } from '../../csv/read-csv.ts'

/** Some hundred thousand rows. What is larger is a matter for the command line, on the machine itself. */
export const IMPORT_BYTES_MAX = 20 * 1024 * 1024
/** Of each outcome. A person reads a few dozen, and the totals tell the rest. */
const FATES_LISTED_MAX = 1_000
const LINES = 'application/x-ndjson'

type ImportFile = (file: AsyncIterable<Uint8Array>, options: ImportOptions) => Promise<ImportSummary>

/** Receives the whole file, imports it, and lists the outcome of every row. */
export async function receiveImport(
  request: FastifyRequest,
  changes: { dryRun: boolean; skipBad: boolean },
  importFile: ImportFile,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ImportResult> {
  const listed = fateList()
  if (!(request.body instanceof Readable)) throw new Refusal('There is no file.', { field: 'file' })
  if (Number(request.headers['content-length']) > IMPORT_BYTES_MAX) throw tooLarge()
  try {
    const summary = await withUpload(request.body, (file, bytes) =>
      importFile(file, { ...changes, bytes, onFate: listed.add, onProgress }),
    )
    return { dry_run: changes.dryRun, ...summary, ...listed.result() }
  } catch (error) {
    throw error instanceof BrokenCsv ? new Refusal(error.message, { field: 'file', cause: error }) : error
  }
}

/** Whoever asks for lines is told the progress while it is written: one JSON object a line, the last one the answer. */
export async function answerImport(
  request: FastifyRequest,
  reply: FastifyReply,
  run: (onProgress: (progress: Progress) => void) => Promise<ImportResult>,
): Promise<FastifyReply> {
  if (request.headers.accept !== LINES) return reply.send({ data: await run(() => {}) })
  const lines = new PassThrough()
  const write = (line: object) => lines.write(`${JSON.stringify(line)}\n`)
  let begun: (() => void) | undefined
  const beginning = new Promise<void>((resolve) => (begun = resolve))
  const done = run(({ done: rows, total, label }) => {
    // While the file is still being read a refusal has a status of its own.
    if (label !== 'writing') return
    begun?.()
    write({ progress: { done: rows, total } })
  })
  await Promise.race([beginning, done])
  done
    .then(
      (data) => write({ data }),
      (error: unknown) => {
        request.log.warn({ reqId: request.id, err: error }, 'import failed while it was written')
        write(toApiError(error).body(request.id))
      },
    )
    .finally(() => lines.end())
  return reply.type(LINES).send(lines)
}

/**
 * Keeps the upload in a temporary file until it is complete: a slow sender must not occupy a connection to the database,
 * and files in memory would add up.
 */
async function withUpload<T>(
  body: Readable,
  use: (file: AsyncIterable<Uint8Array>, bytes: number) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-upload-'))
  const path = join(folder, 'upload.csv')
  try {
    const upload = createWriteStream(path, { mode: 0o600 })
    await pipeline(bounded(body), upload)
    return await use(createReadStream(path), upload.bytesWritten)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function* bounded(body: Readable): AsyncGenerator<Uint8Array> {
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
    description: `The file is larger than ${megabytes} MB. Split it, and import the parts one after the other.`,
    // What is still on its way is not read.
    headers: { connection: 'close' },
  })
}

function fateList() {
  const fates: ImportResult['fates'] = []
  const counts: Record<Outcome, number> = { added: 0, changed: 0, unchanged: 0, refused: 0 }
  const add: NonNullable<ImportOptions['onFate']> = (fate, row) => {
    if (++counts[fate.outcome] <= FATES_LISTED_MAX) fates.push({ ...fate, ...row })
  }
  const result = () => {
    const told = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return { fates, fates_left_out: told - fates.length }
  }
  return { add, result }
}
