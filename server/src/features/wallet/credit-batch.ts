import type { Caller } from '../../http/partner/access.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { QueueFull } from '../../core/work-queue.ts'
import type { CreditMember } from './credit-member.ts'
import { ITEM_ERRORS, type BatchedCredit, type Credit, type CreditRequest } from './schema.ts'

/** Fewer than a statement takes, so that other calls of the community find room in the same statement. */
const PART_MAX = 100
const ITEMS_PER_CALL = 20

/** The number of calls as which a batch counts against the rate limit. */
export function callsFor(items: number): number {
  return Math.ceil(items / ITEMS_PER_CALL)
}

/**
 * Credits one part after the other, with the outcomes of as many single calls in this order. Each part is committed on
 * its own: after a failure, some parts are credited and the others are not, and sending the batch again settles the
 * rest. Stops when nobody waits for the response any more.
 */
export async function creditBatch(
  creditMember: CreditMember,
  caller: Caller,
  requests: readonly CreditRequest[],
  isWanted: () => boolean,
): Promise<BatchedCredit[]> {
  const results: BatchedCredit[] = []
  for (const part of splitIntoParts(requests)) {
    if (!isWanted()) throw new QueueFull('nobody waits for the result')
    results.push(...(await Promise.all(part.map((request) => creditItem(creditMember, caller, request, part)))))
  }
  return results
}

/**
 * A part is never divided over two statements, which would run side by side. It holds each reference once: an item that lost
 * a race is executed again after the others, and of two items with the same reference the first one must win.
 */
function* splitIntoParts(requests: readonly CreditRequest[]): Generator<CreditRequest[]> {
  let part: CreditRequest[] = []
  let references = new Set<string>()
  for (const request of requests) {
    if (part.length >= PART_MAX || references.has(request.reference)) {
      yield part
      part = []
      references = new Set()
    }
    part.push(request)
    references.add(request.reference)
  }
  yield part
}

/** An item that is rejected is a result; a failure of the service fails the batch. */
async function creditItem(
  creditMember: CreditMember,
  caller: Caller,
  request: CreditRequest,
  part: readonly CreditRequest[],
): Promise<BatchedCredit> {
  const { reference } = request
  try {
    const { credit, replayed } = await creditMember(caller, request, part)
    return { reference, result: replayed ? 'replayed' : 'created', credit: { ...credit, replayed } }
  } catch (error) {
    const result = error instanceof ApiError && ITEM_ERRORS.find((code) => code === error.code)
    if (!result) throw error
    const { description, data } = error as ApiError
    return { reference, result, error_description: description, ...(data && { data: data as Credit }) }
  }
}

export function countResults(results: readonly BatchedCredit[]): {
  created: number
  replayed: number
  rejected: number
} {
  const counts = { created: 0, replayed: 0, rejected: 0 }
  for (const { result } of results) counts[result === 'created' || result === 'replayed' ? result : 'rejected'] += 1
  return counts
}
