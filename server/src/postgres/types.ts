import { types } from 'pg'
import { toResponseTime } from '../core/times.ts'

/** PostgreSQL's format is 2026-01-31 09:00:00.123456+00; the session's time zone is UTC. */
const UTC_OFFSET = '+00'

/** A value that JavaScript cannot represent. The statement itself succeeded. */
export class UnreadableValue extends RangeError {}

type Parser = (text: string) => unknown

const asText: Parser = (text) => text

/** Keyed by type OID. The driver parses the rest: integers, floats, booleans, bytea, json, arrays of text. */
const PARSERS = new Map<number, Parser>([
  [20, safeInteger], // int8
  [1016, arrayOf(safeInteger)], // int8[]
  [1082, asText], // date
  [1182, arrayOf(asText)], // date[]
  [1114, asText], // timestamp
  [1184, rfc3339], // timestamptz
  [1185, arrayOf(rfc3339)], // timestamptz[]
  [1186, asText], // interval
])

export function parserFor(oid: number, format?: 'text' | 'binary'): Parser {
  return PARSERS.get(oid) ?? types.getTypeParser(oid, format)
}

/** The driver's types describe another version of this function. */
const { create: readArray } = types.arrayParser as unknown as {
  create(text: string, parse: Parser): { parse(): unknown[] }
}

function arrayOf(parse: Parser): Parser {
  return (text) => readArray(text, parse).parse()
}

/** Ids and centihours stay far below 2^53; a larger value is a defect and must not be silently rounded. */
function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new UnreadableValue(`${text} does not fit a JavaScript number`)
  return value
}

/** Times stay text, with microseconds: a Date would round them, and a reader that follows changes would miss rows. */
function rfc3339(text: string): string {
  // Hot path: a page of 100 members has 200 times, and a regular expression took 170 µs more for them.
  if (!text.endsWith(UTC_OFFSET)) return text
  const space = text.indexOf(' ')
  return toResponseTime(`${text.slice(0, space)}T${text.slice(space + 1, -UTC_OFFSET.length)}`)
}
