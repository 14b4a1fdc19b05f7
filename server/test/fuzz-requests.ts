import type { Random } from '../src/demo/random.ts'
import { pathFor, queryFor, requestFor, type Operation } from './matrix-operations.ts'
import type { Community } from './matrix-world.ts'

/** These would end the access that the other calls need. */
export const LEFT_OUT =
  /^DELETE|\/(erase|leave|revoke|reverse|end-others|partner-api|password|test-communities)$|keys|jwks/

/** What breaks careless readers of text, JSON, CSV and headers. */
const BITS = [
  ['\0', '\r', '\n', '\r\n\r\n', '"', "'", '\\', '\\u0000', '\\ud800', ',', ';', ':', '{', '}', '[', ']', '=', '%00'],
  ['%', '&', '#', '?', '/', '..', '-1', '0', '1e400', '9007199254740993', 'null', 'true', '[]', '{}', '__proto__'],
  ['\u00ff', '\u00c0\u0080', '\u00ed\u00a0\u0080', '\u00ef\u00bb\u00bf', ' ', '\t', 'a'.repeat(5000), '[['.repeat(300)],
].flat()
/** In place of an id: what looks like a number, and is no id. */
const IDS = ['0', '-1', '1.5', '1e3', '0x10', '01', '9007199254740993', '9223372036854775808', '9'.repeat(30), '%31']
const EDITS_MAX = 4
/** Most requests are changed in one place only, so that they get past the first check. */
const PLAIN_SHARE = 0.15

/** The bytes of a request that the service accepts, with a few of them changed. */
export function fuzzedRequest(
  random: Random,
  operation: Operation,
  own: Community,
  host: string,
): { bytes: Buffer; isPathChanged: boolean } {
  const isPartners = operation.path.startsWith('/api/partner')
  const ids = isPartners ? own.partnerIds : own.ids
  const { method, body, headers } = requestFor(operation, ids)
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const query = random.chance(0.5) ? (queryFor(operation, ids) ?? '') : ''
  const content = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
  const access = isPartners
    ? { authorization: `Bearer ${own.token}` }
    : { cookie: own.owner.cookie()!, origin: `http://${host}` }
  const fields: Record<string, string> = { host, ...access, ...content, ...headers }
  // Failed sign-ins and unknown tokens are limited by address.
  fields['x-forwarded-for'] = `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`

  let path = `${pathFor(operation, ids)}${query}`
  let bytes: Buffer = Buffer.from(text)
  const place = random.chance(PLAIN_SHARE) ? -1 : random.below(4)
  if (place === 0 && bytes.length > 0) bytes = edit(random, bytes)
  else if (place === 1 && random.chance(0.4)) path = path.replaceAll(/\/\d+(?=[/?]|$)/g, () => `/${random.pick(IDS)}`)
  else if (place === 1)
    path = edit(random, Buffer.from(path))
      .toString('latin1')
      .replaceAll(/[\0\s]/g, '+')
  else if (place === 2) {
    const name = random.pick(Object.keys(fields))
    // A line end would begin another header or the body; then both sides could wait for the rest of the request.
    fields[name] = edit(random, Buffer.from(fields[name]!))
      .toString('latin1')
      .replaceAll(/[\r\n]/g, ' ')
  } else if (place === 3) bytes = Buffer.from(random.pick(BITS), 'latin1')
  if (bytes.length > 0 || method !== 'GET') fields['content-length'] = `${bytes.length}`
  fields.connection = 'close'
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return { bytes: Buffer.concat([head, bytes]), isPathChanged: place === 1 }
}

function edit(random: Random, bytes: Buffer): Buffer {
  let edited = bytes
  for (let n = random.below(EDITS_MAX) + 1; n > 0; n--) {
    const at = random.below(edited.length + 1)
    const [before, after] = [edited.subarray(0, at), edited.subarray(at)]
    edited = random.pick([
      () => Buffer.concat([before, Buffer.from(random.pick(BITS), 'latin1'), after]),
      () => Buffer.concat([before, Buffer.from([random.below(256)]), after.subarray(1)]),
      () => Buffer.concat([before, after.subarray(random.below(8))]),
      () => Buffer.concat([before, after.subarray(0, random.below(20)), after]),
      () => before,
    ])()
  }
  return edited
}
