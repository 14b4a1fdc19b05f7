import type { FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'

const SINGLE_HEADERS = ['Authorization', 'Content-Type', 'Host']
const LOWER_CASE_NAMES = SINGLE_HEADERS.map((name) => name.toLowerCase())

/**
 * Rejects repeated headers. Node keeps the first of several, while a gateway in front may have checked another one. RFC
 * 9112 section 3.2 requires 400 for a repeated Host.
 */
export function requireSingleHeaders({ raw: { rawHeaders } }: FastifyRequest): void {
  let seen = 0
  // Names and values alternate.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const index = indexOfName(rawHeaders[at]!)
    if (index < 0) continue
    const bit = 1 << index
    if (seen & bit) {
      throw new ApiError('invalid_request', { description: `The ${SINGLE_HEADERS[index]} header is repeated.` })
    }
    seen |= bit
  }
}

/** Hot path, called for every header: compares the length first. */
function indexOfName(name: string): number {
  const isCandidate = LOWER_CASE_NAMES.some(({ length }) => length === name.length)
  return isCandidate ? LOWER_CASE_NAMES.indexOf(name.toLowerCase()) : -1
}
