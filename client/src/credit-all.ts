import { ApiError, HourbankError } from './errors.ts'
import type { CallOptions, Send } from './transport.ts'
import type { BatchedCredit, CreditBatch, CreditRequest } from './types.ts'

const PATH = '/wallet/credits/batch'
const BATCH_SIZE_MAX = 1000
/** Below the service's limit of 512 KiB for a body, with room for what surrounds the credits. */
const BATCH_BYTES_MAX = 500 * 1024

/** How far `creditAll` has come. */
export interface CreditProgress {
  /** Credits with a result: the sum of the other three. */
  done: number
  created: number
  replayed: number
  rejected: number
}

export interface CreditAllOptions extends CallOptions {
  /** Credits per call, up to 1,000, which is also the default. Each 20 count as one call against the rate limit. */
  batchSize?: number | undefined
  /** Called after each batch. */
  onProgress?: ((progress: CreditProgress) => void) | undefined
}

/** Sends batch after batch as results are asked for, and holds one batch in memory. The limits are for each batch. */
export async function* creditAll(
  send: Send,
  credits: Iterable<CreditRequest> | AsyncIterable<CreditRequest>,
  { batchSize = BATCH_SIZE_MAX, onProgress, ...options }: CreditAllOptions = {},
): AsyncGenerator<BatchedCredit, void, undefined> {
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > BATCH_SIZE_MAX) {
    throw new RangeError(`batchSize must be an integer between 1 and ${BATCH_SIZE_MAX}.`)
  }
  const progress: CreditProgress = { done: 0, created: 0, replayed: 0, rejected: 0 }
  for await (const batch of splitIntoBatches(credits, batchSize)) {
    const results = await creditBatch(send, batch, options)
    for (const { result } of results) {
      progress[result === 'created' || result === 'replayed' ? result : 'rejected'] += 1
      progress.done += 1
    }
    onProgress?.({ ...progress })
    yield* results
  }
}

async function* splitIntoBatches(
  credits: Iterable<CreditRequest> | AsyncIterable<CreditRequest>,
  batchSize: number,
): AsyncGenerator<CreditRequest[]> {
  const encoder = new TextEncoder()
  let batch: CreditRequest[] = []
  let bytes = 0
  for await (const credit of credits) {
    // A copy, because a reader of files may use one object for all its rows.
    const copy = { ...credit }
    const size = encoder.encode(JSON.stringify(copy)).length + 1
    if (batch.length >= batchSize || (batch.length > 0 && bytes + size > BATCH_BYTES_MAX)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(copy)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** The service rejects a batch as a whole if an item is malformed. Such items are taken out, and the others sent again. */
async function creditBatch(send: Send, batch: CreditRequest[], options: CallOptions): Promise<BatchedCredit[]> {
  const results: BatchedCredit[] = []
  let pending = batch.map((credit, index) => ({ credit, index }))
  // Each round takes out at least one item.
  while (pending.length > 0) {
    try {
      const answers = await sendBatch(
        send,
        pending.map(({ credit }) => credit),
        options,
      )
      for (const [n, { index }] of pending.entries()) results[index] = answers[n]!
      break
    } catch (error) {
      const problems = problemsByItem(error)
      const wellFormed = pending.filter((_, n) => !problems.has(n))
      if (wellFormed.length === pending.length) throw error
      for (const [n, { credit, index }] of pending.entries()) {
        const problem = problems.get(n)
        if (problem === undefined) continue
        results[index] = {
          reference: credit.reference,
          result: 'validation_failed',
          error_description: problem.join('; '),
        }
      }
      pending = wellFormed
    }
  }
  return results
}

async function sendBatch(send: Send, credits: CreditRequest[], options: CallOptions): Promise<BatchedCredit[]> {
  const answer = await send({ method: 'POST', path: PATH, body: { credits }, repeatable: true }, options)
  const { data } = answer as unknown as CreditBatch
  if (!Array.isArray(data) || data.length !== credits.length) {
    throw new HourbankError('invalid_response', `POST ${PATH}: the response does not have a result for each credit`)
  }
  return data
}

/** What is wrong with items of the batch, by their position: `credits.17.hours` is about the hours of the eighteenth. */
function problemsByItem(error: unknown): Map<number, string[]> {
  const problems = new Map<number, string[]>()
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') return problems
  for (const { field, message } of error.errors) {
    const [, position, name] = /^credits\.(\d+)(?:\.(.+))?$/.exec(field) ?? []
    if (position === undefined) continue
    const known = problems.get(Number(position)) ?? []
    problems.set(Number(position), [...known, `${name ?? 'the credit'} ${message}`])
  }
  return problems
}
