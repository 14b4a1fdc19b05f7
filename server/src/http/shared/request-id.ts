import { randomUUID } from 'node:crypto'

const MS_DIGITS = 12
const VERSION_AT = 14
const COUNTS = Array.from({ length: 4096 }, (_, count) => count.toString(16).padStart(3, '0'))

let last = { ms: -1, start: '', end: '', count: 0 }

/**
 * Returns a version 7 UUID (RFC 9562). Its timestamp lets the call log find a call by id quickly. Ids of the same
 * millisecond share their random part and differ by a counter: random bytes per id take as long as all other headers.
 */
export function newRequestId(): string {
  const ms = Date.now()
  if (ms !== last.ms || last.count === COUNTS.length) {
    const digits = ms.toString(16).padStart(MS_DIGITS, '0')
    const start = `${digits.slice(0, 8)}-${digits.slice(8)}-7`
    last = { ms, start, end: randomUUID().slice(VERSION_AT + COUNTS[0]!.length + 1), count: 0 }
  }
  return last.start + COUNTS[last.count++] + last.end
}

/** Returns the Unix time of the request, or undefined for the random ids of older versions. */
export function msOfRequestId(uuid: string): number | undefined {
  if (uuid[VERSION_AT] !== '7') return undefined
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}
