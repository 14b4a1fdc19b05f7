import * as fc from 'fast-check'
import { METHODS } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { QueueFull } from '../src/core/work-queue.ts'
import { type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { API_PREFIX, BODY_BYTES_MAX } from '../src/http/partner/frame.ts'
import { toApiError } from '../src/http/shared/send-error.ts'
import { newToken } from '../src/crypto/secrets.ts'
import { eventually, startBank, TESTER, type Bank, type CallOptions } from './bank.ts'
import { sendBytes, sendPlain } from './raw-http.ts'
import { expectHeaders, expectError } from './frame-answers.ts'

const JSON_BODY = { 'content-type': 'application/json' }

/** The partner API's addresses and methods, from its own description, with 1 for every parameter. */
async function offeredMethods(bank: Bank): Promise<Map<string, string[]>> {
  const { body } = await bank.call('/openapi.json')
  return new Map(
    Object.entries<object>(body.paths)
      .filter(([path]) => path.startsWith(API_PREFIX))
      .map(([path, operations]) => {
        const methods = Object.keys(operations).map((method) => method.toUpperCase())
        return [path.replaceAll(/\{\w+\}/g, '1'), methods.includes('GET') ? [...methods, 'HEAD'] : methods]
      }),
  )
}

test('a success has the common headers, and the caller cannot choose its request id', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const answer = await bank.call('/users', { token, headers: { 'request-id': 'mine', 'x-request-id': 'mine' } })
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200, body: { data: [] } })
  expectHeaders(answer, 'users')
  const other = await bank.call('/users', { token })
  expect(other.headers.get('request-id')).not.toBe(answer.headers.get('request-id'))
})

test('every invalid request gets an error in the common format', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const busyToken = await bank.token(undefined, await bank.addPartner({ rateLimitPerMinute: 1 }))
  const elsewhere = await bank.addPartner({ allowedNetworks: ['192.0.2.0/24'] })
  const elsewhereCredentials = { client_id: elsewhere.clientId, client_secret: elsewhere.clientSecret }
  const cases: [name: string, code: PartnerErrorCode, path: string, options?: CallOptions][] = [
    ['too many calls', 'rate_limited', '/users', { token: busyToken }],
    [
      'another address',
      'ip_not_allowed',
      '/oauth/token',
      { body: { grant_type: 'client_credentials', ...elsewhereCredentials } },
    ],
    ['unknown path', 'not_found', '/nope'],
    ['unknown path with a token', 'not_found', '/nope', { token }],
    [
      'unknown path with a body of an unknown type',
      'not_found',
      '/nope',
      { body: '<a/>', headers: { 'content-type': 'text/xml' } },
    ],
    ['the prefix itself', 'not_found', API_PREFIX],
    ['the prefix with a slash', 'not_found', `${API_PREFIX}/`],
    ['a doubled slash', 'not_found', `${API_PREFIX}//users`, { token }],
    ['a trailing slash', 'not_found', `${API_PREFIX}/users//`, { token }],
    ['another case', 'not_found', `${API_PREFIX}/Users`, { token }],
    ['dots', 'not_found', `${API_PREFIX}/%2e%2e/%2e%2e/etc/passwd`, { token }],
    ['wrong method', 'method_not_allowed', '/users', { method: 'DELETE', token }],
    ['wrong method without a token', 'method_not_allowed', '/users', { method: 'DELETE' }],
    ['wrong method with an escaped letter', 'method_not_allowed', '/%75sers', { method: 'DELETE', token }],
    ['an id that is too long', 'not_found', `/users/${'1'.repeat(1001)}`, { token }],
    [
      'wrong method with malformed JSON',
      'method_not_allowed',
      '/users',
      { method: 'PUT', body: '{', headers: JSON_BODY },
    ],
    ['wrong method with a body of an unknown type', 'method_not_allowed', '/users', { method: 'PUT', body: '<a/>' }],
    ['malformed JSON', 'invalid_request', '/oauth/token', { body: '{"grant_type":', headers: JSON_BODY }],
    ['empty JSON body', 'invalid_request', '/oauth/token', { body: '', method: 'POST', headers: JSON_BODY }],
    ['no body', 'invalid_request', '/oauth/token', { method: 'POST' }],
    [
      '__proto__ in JSON',
      'invalid_request',
      '/oauth/token',
      { body: '{"__proto__":{"grant_type":"x"}}', headers: JSON_BODY },
    ],
    [
      'constructor in JSON',
      'invalid_request',
      '/oauth/token',
      { body: '{"constructor":{"prototype":{"a":1}}}', headers: JSON_BODY },
    ],
    ['JSON that is no object', 'invalid_request', '/oauth/token', { body: '[]', headers: JSON_BODY }],
    ['JSON null', 'invalid_request', '/oauth/token', { body: 'null', headers: JSON_BODY }],
    ['bytes that are no UTF-8 JSON', 'invalid_request', '/oauth/token', { body: '\ufffd', headers: JSON_BODY }],
    [
      'text',
      'unsupported_media_type',
      '/oauth/token',
      { body: 'grant_type=x', headers: { 'content-type': 'text/plain' } },
    ],
    ['XML', 'unsupported_media_type', '/oauth/token', { body: '<a/>', headers: { 'content-type': 'application/xml' } }],
    [
      'a malformed type',
      'unsupported_media_type',
      '/oauth/token',
      { body: '{}', headers: { 'content-type': 'json;;' } },
    ],
    [
      'an unknown encoding',
      'unsupported_media_type',
      '/oauth/token',
      { body: '{}', headers: { ...JSON_BODY, 'content-encoding': 'lzw' } },
    ],
    [
      'broken gzip',
      'invalid_request',
      '/oauth/token',
      { body: '{}', headers: { ...JSON_BODY, 'content-encoding': 'gzip' } },
    ],
    ['malformed percent in the path', 'invalid_request', '/users/%zz', { token }],
    ['malformed percent in the query', 'invalid_request', '/users?limit=%zz', { token }],
    ['percent-encoded bytes that are no UTF-8', 'invalid_request', '/users?limit=%ff', { token }],
    ['repeated parameter', 'invalid_request', '/users?limit=1&limit=2', { token }],
    ['repeated parameter, encoded', 'invalid_request', '/users?limit=1&%6cimit=2', { token }],
    ['no token', 'authentication_required', '/users'],
    ['unknown token', 'invalid_token', '/users', { token: newToken(bank.communityId) }],
    [
      'wrong secret',
      'invalid_client',
      '/oauth/token',
      { body: { grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' } },
    ],
    ['no grant type', 'invalid_request', '/oauth/token', { body: {} }],
  ]
  for (const [name, code, path, options] of cases) expectError(await bank.call(path, options), code, name)
})

test('a call that has no body may name the type that the client names with every call', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const call = (method: string, path: string) => bank.call(path, { method, token, headers: JSON_BODY })
  expectError(await call('DELETE', '/webhooks/subscriptions/7'), 'subscription_not_found')
  expectError(await call('POST', '/webhooks/subscriptions/7/test'), 'subscription_not_found')
  expectError(await call('POST', '/wallet/credit'), 'invalid_request')
})

test('an unreadable body is rejected with the reason', async () => {
  const bank = await startBank()
  const describe = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await bank.call('/oauth/token', { method: 'POST', body, headers: { ...JSON_BODY, ...headers } })
    return answer.body.error_description
  }
  expect(await describe('')).toBe('The body is empty, but its Content-Type is application/json.')
  for (const body of ['{"user_id":01}', '{} x', '{']) {
    expect(await describe(body), body).toBe('The body is not well-formed JSON.')
  }
  expect(await describe('{}', { 'content-encoding': 'zstd' })).toMatch(/^Send the body uncompressed/)
  expect(await describe('{}', { 'content-encoding': 'gzip' })).toBe('The request is malformed.')
})

test('internal errors get the common error format', async () => {
  const bank = await startBank()
  const token = await bank.token()
  await bank.sql`alter table members rename to gone`
  expectError(await bank.call('/users', { token }), 'internal_error')

  await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Stocktaking until noon' })
  const off = await eventually(async () => {
    const answer = await bank.call('/users', { token })
    return answer.status === 503 && answer
  })
  expectError(off, 'partner_api_disabled')
  expect(off.body.error_description).toContain('Stocktaking until noon')

  expect(toApiError(new QueueFull())).toMatchObject({ code: 'overloaded', headers: { 'retry-after': '5' } })
})

test('malformed and incomplete HTTP requests get the common error format', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const { port } = bank.config
  const head = (line: string, ...headers: string[]) =>
    [
      `${line} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Connection: close',
      ...headers,
      '',
      '',
    ].join('\r\n')
  const post = (body: string, ...headers: string[]) =>
    head(`POST ${API_PREFIX}/oauth/token`, 'Content-Type: application/json', ...headers) + body
  const get = `GET ${API_PREFIX}/users`

  const cases: [name: string, code: PartnerErrorCode, bytes: string][] = [
    ['no HTTP at all', 'invalid_request', 'hello\r\n\r\n'],
    ['TLS to a plain port', 'invalid_request', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a method that HTTP does not have', 'invalid_request', head(`FETCH ${API_PREFIX}/users`)],
    ['a control character in the path', 'invalid_request', head(`GET ${API_PREFIX}/us\x01ers`)],
    ['a header without a colon', 'invalid_request', head(get, 'nonsense')],
    ['a control character in a header', 'invalid_request', head(get, 'X-A: \x01')],
    ['no Host', 'invalid_request', `${get} HTTP/1.1\r\nConnection: close\r\n\r\n`],
    ['a huge header', 'headers_too_large', head(get, `X-Large: ${'x'.repeat(20_000)}`)],
    ['a huge address', 'headers_too_large', head(`${get}?q=${'x'.repeat(20_000)}`)],
    ['two lengths', 'invalid_request', post('{}', 'Content-Length: 2', 'Content-Length: 3')],
    ['a length and chunks', 'invalid_request', post('0\r\n\r\n', 'Content-Length: 2', 'Transfer-Encoding: chunked')],
    ['a length that is no number', 'invalid_request', post('{}', 'Content-Length: two')],
    ['a malformed chunk', 'invalid_request', post('zz\r\n', 'Transfer-Encoding: chunked')],
    ['a body that ends early', 'invalid_request', post('{"grant_type"', 'Content-Length: 200')],
    ['a body longer than it says', 'invalid_request', post('{}{}', 'Content-Length: 2')],
    [
      'a body without a type',
      'unsupported_media_type',
      head(`POST ${API_PREFIX}/oauth/token`, 'Content-Length: 2') + '{}',
    ],
  ]
  for (const [name, code, bytes] of cases) expectError(await sendBytes(port, bytes, { thenEnd: true }), code, name)

  const expectation = await sendBytes(port, head(get, 'Expect: the-unexpected'))
  expect(expectation).toMatchObject({ status: 200 })
  const upgrade = await sendBytes(
    port,
    head(get, 'Upgrade: websocket').replace('Connection: close', 'Connection: close, upgrade'),
  )
  expect(upgrade).toMatchObject({ status: 200 })
  expect(await sendBytes(port, `${get} HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`)).toMatchObject({
    status: 200,
  })
  expect(await sendBytes(port, head('CONNECT example.org:443'))).toBeUndefined()
  expect((await bank.call('/users', { token })).status).toBe(200)
})

test('random bytes never crash the service, and every response has the error format', async () => {
  const bank = await startBank()
  const line = fc.constantFrom(
    `GET ${API_PREFIX}/users HTTP/1.1\r\nHost: localhost\r\n`,
    `POST ${API_PREFIX}/oauth/token HTTP/1.1\r\n`,
    '',
  )
  const noise = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  )
  await fc.assert(
    fc.asyncProperty(line, noise, async (start, end) => {
      const answer = await sendBytes(bank.config.port, `${start}${end}\r\n\r\n`, { thenEnd: true })
      if (answer) expectHeaders(answer, JSON.stringify(start + end))
    }),
    { numRuns: 100 },
  )
  expect((await bank.call('/healthz')).status).toBe(200)
})

test('every path answers 405 to unsupported methods, and lists the supported ones', async () => {
  const bank = await startBank()
  const offered = await offeredMethods(bank)
  expect([...offered.keys()]).toEqual(expect.arrayContaining([`${API_PREFIX}/users`, `${API_PREFIX}/oauth/token`]))
  // Node itself hangs up on CONNECT, which asks for a tunnel.
  const others = METHODS.filter((method) => method !== 'CONNECT')
  for (const [path, methods] of offered) {
    const allow = methods.toSorted().join(', ')
    for (const method of others.filter((name) => !methods.includes(name))) {
      const answer = await sendPlain(`${bank.url}${path}`, { method })
      expect.soft(answer.headers.get('allow'), `${method} ${path}`).toBe(allow)
      if (method !== 'HEAD') expectError(answer, 'method_not_allowed', `${method} ${path}`)
    }
  }
})

test('HEAD gets the headers of GET without the body', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const headers = { authorization: `Bearer ${token}` }
  for (const path of ['/users', '/users?limit=0', '/nope']) {
    const url = `${bank.url}${API_PREFIX}${path}`
    const [get, head] = [await sendPlain(url, { headers }), await sendPlain(url, { method: 'HEAD', headers })]
    expect({ status: head.status, bytes: head.bytes.length }).toEqual({ status: get.status, bytes: 0 })
    for (const name of ['content-type', 'content-length', 'api-version', 'etag', 'cache-control']) {
      expect(head.headers.get(name), `${name} of ${path}`).toBe(get.headers.get(name))
    }
  }
})

test('a body may have 64 KiB and not a byte more, however it is sent', async () => {
  const bank = await startBank()
  const { clientId, clientSecret } = bank.partner
  const url = `${bank.url}${API_PREFIX}/oauth/token`
  const fields = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    unknown_field: '',
  }
  const bodyOf = (bytes: number) => {
    const padding = bytes - JSON.stringify(fields).length
    return JSON.stringify({ ...fields, unknown_field: 'x'.repeat(padding) })
  }
  expect(bodyOf(BODY_BYTES_MAX)).toHaveLength(65_536)
  const chunked = { ...JSON_BODY, 'transfer-encoding': 'chunked' }

  expect((await bank.call('/oauth/token', { body: bodyOf(65_536), headers: JSON_BODY })).status).toBe(200)
  expect((await sendPlain(url, { method: 'POST', headers: chunked, body: bodyOf(65_536) })).status).toBe(200)
  expectError(await bank.call('/oauth/token', { body: bodyOf(65_537), headers: JSON_BODY }), 'payload_too_large')
  expectError(
    await sendPlain(url, { method: 'POST', headers: chunked, body: bodyOf(65_537) }),
    'payload_too_large',
    'chunked',
  )

  const bomb = gzipSync(bodyOf(5_000_000))
  expect(bomb.length).toBeLessThan(65_536)
  const inflated = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_BODY, 'content-encoding': 'gzip' },
    body: bomb,
  })
  expect({ status: inflated.status, body: await inflated.json() }).toMatchObject({
    status: 413,
    body: { error: 'payload_too_large' },
  })

  const zipped = gzipSync(bodyOf(1000))
  const taken = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_BODY, 'content-encoding': 'gzip' },
    body: zipped,
  })
  expect(taken.status).toBe(200)
})

test('a request that does not arrive in time gets 408, and its connection is closed', async () => {
  const slowHead = `POST ${API_PREFIX}/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  const slowBody = `${slowHead}Content-Length: 100\r\n\r\n{`
  const byConnection = await startBank({ timeouts: { handlerMs: 60_000, requestMs: 200 } })
  expectError(await sendBytes(byConnection.config.port, slowBody), 'request_timeout', 'body')
  expectError(await sendBytes(byConnection.config.port, slowHead), 'request_timeout', 'head')
  const byAnswer = await startBank({ timeouts: { handlerMs: 200, requestMs: 60_000 } })
  expectError(await sendBytes(byAnswer.config.port, slowBody), 'request_timeout', 'answer')
})
