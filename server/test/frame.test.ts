import * as fc from 'fast-check'
import fastify from 'fastify'
import { METHODS } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { QueueFull } from '../src/postgres/coalesce.ts'
import type { Deps } from '../src/http/deps.ts'
import { ERRORS, type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { API_PREFIX, BODY_BYTES_MAX, framePartnerApi } from '../src/http/partner/frame.ts'
import { toApiError } from '../src/http/shared/send-error.ts'
import { newToken } from '../src/crypto/secrets.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { eventually, startBank, TESTER, type Answer, type Bank, type CallOptions } from './bank.ts'
import { newDatabase } from './database.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { sendBytes, sendPlain, UNPACKERS } from './raw-http.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const JSON_BODY = { 'content-type': 'application/json' }

/** What every answer has, whatever its kind. */
function expectHeaders({ headers }: Answer, name: string): void {
  expect.soft(headers.get('content-type'), name).toBe('application/json; charset=utf-8')
  expect.soft(headers.get('api-version'), name).toBe('2.0')
  expect.soft(headers.get('request-id'), name).toMatch(UUID)
}

/** What every error has besides. */
function expectError(answer: Answer | undefined, code: PartnerErrorCode, name: string = code): void {
  expect(answer, `${name}: there is an answer`).toBeDefined()
  const { status, headers, body } = answer!
  expectHeaders(answer!, name)
  expect.soft({ status, ...body }, name).toEqual({
    status: ERRORS[code][0],
    error: code,
    error_description: expect.stringMatching(/^[^"\\]+$/),
    ...(code === 'validation_failed' && { errors: expect.any(Array) }),
    request_id: headers.get('request-id'),
  })
  if (status === 401) expect.soft(headers.get('www-authenticate'), name).toMatch(/^(Bearer|Basic) realm="hourbank"/)
  if (status === 429 || status === 503) expect.soft(headers.get('retry-after'), name).toMatch(/^[1-9]\d*$/)
}

async function addMembers({ sql, communityId }: Bank, count: number): Promise<void> {
  await sql`
    insert into members (community_id, name, email)
    select ${communityId}, 'Member ' || n, 'member' || n || '@example.org' from generate_series(1, ${count}::int) n`
}

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

test('a success has the headers of every answer, and its request id is not chosen by the caller', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const answer = await bank.call('/users', { token, headers: { 'request-id': 'mine', 'x-request-id': 'mine' } })
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200, body: { data: [] } })
  expectHeaders(answer, 'users')
  const other = await bank.call('/users', { token })
  expect(other.headers.get('request-id')).not.toBe(answer.headers.get('request-id'))
})

test('whatever is wrong with a request is answered in one shape', async () => {
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

test('what is wrong on our side is answered in the same shape', async () => {
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

test('what is no HTTP, or only a part of it, is answered in the same shape', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const { port } = bank.config
  const head = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, 'Host: test', `Authorization: Bearer ${token}`, 'Connection: close', ...headers, '', ''].join(
      '\r\n',
    )
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

test('no bytes whatever bring the service down, or get an answer of another shape', async () => {
  const bank = await startBank()
  const line = fc.constantFrom(
    `GET ${API_PREFIX}/users HTTP/1.1\r\nHost: a\r\n`,
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

test('every address answers 405 to every method it lacks, and names those it has', async () => {
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

test('HEAD answers as GET does, without the body', async () => {
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

test('a request that does not arrive in time is told so, and does not keep its connection', async () => {
  const slowHead = `POST ${API_PREFIX}/oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
  const slowBody = `${slowHead}Content-Length: 100\r\n\r\n{`
  const byConnection = await startBank({ timeouts: { handlerMs: 60_000, requestMs: 200 } })
  expectError(await sendBytes(byConnection.config.port, slowBody), 'request_timeout', 'body')
  expectError(await sendBytes(byConnection.config.port, slowHead), 'request_timeout', 'head')
  const byAnswer = await startBank({ timeouts: { handlerMs: 200, requestMs: 60_000 } })
  expectError(await sendBytes(byAnswer.config.port, slowBody), 'request_timeout', 'answer')
})

test('without credentials the challenge has no error code; with bad ones it says what is wrong', async () => {
  const bank = await startBank()
  const challenge = async (authorization?: string) => {
    const answer = await bank.call('/users', authorization === undefined ? {} : { headers: { authorization } })
    return { error: answer.body.error, challenge: answer.headers.get('www-authenticate') }
  }
  const required = { error: 'authentication_required', challenge: 'Bearer realm="hourbank"' }
  expect(await challenge()).toEqual(required)
  expect(await challenge('Basic YTpi')).toEqual(required)
  expect(await challenge('Bearerx')).toEqual(required)

  for (const malformed of ['Bearer', 'Bearer a b', 'Bearer a,b', 'Bearer "a"', 'Bearer tök', 'bearer =']) {
    expect(await challenge(malformed), malformed).toEqual({
      error: 'invalid_request',
      challenge: 'Bearer realm="hourbank", error="invalid_request"',
    })
  }
  const token = await bank.token()
  const damaged = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  for (const unknown of ['x', damaged, newToken(bank.communityId), newToken(999_999), `${token}=`]) {
    expect(await challenge(`Bearer ${unknown}`), unknown).toEqual({
      error: 'invalid_token',
      challenge: 'Bearer realm="hourbank", error="invalid_token"',
    })
  }
  expect((await bank.call('/users', { headers: { authorization: `bEARER ${token}` } })).status).toBe(200)
})

test('a token without the scope is told which one is needed', async () => {
  const bank = await startBank()
  const answer = await bank.call('/users', { token: await bank.token('users.pii listings.read') })
  expectError(answer, 'insufficient_scope')
  expect(answer.headers.get('www-authenticate')).toBe(
    'Bearer realm="hourbank", error="insufficient_scope", scope="users.read"',
  )
})

async function startWithRoute(config: object): Promise<void> {
  const app = fastify()
  framePartnerApi(app, {} as Deps)
  app.get('/secrets', { config }, async () => ({}))
  await app.ready()
}

test('a route that declares no scope fails at start', async () => {
  await expect(startWithRoute({})).rejects.toThrow('GET /secrets declares no scope')
  await expect(startWithRoute({ scope: 'users.read' })).resolves.toBeUndefined()
  await expect(startWithRoute({ public: true })).resolves.toBeUndefined()
})

test('checks come in this order: token, rate limit, switch, address, scope, content', async () => {
  const bank = await startBank()
  const { sql, communityId, partner } = bank
  const change = (wish: Parameters<typeof changePartner>[4]) =>
    changePartner(sql, TESTER, communityId, partner.partnerId, wish)
  const tokens = {
    narrow: await bank.token('listings.read'),
    wide: await bank.token('users.read'),
    dead: newToken(communityId),
  }
  const refusal = async (token: string) => (await bank.call('/users?limit=0', { token })).body.error
  const eventuallyRefused = (token: string, code: PartnerErrorCode) =>
    eventually(async () => (await refusal(token)) === code)

  // All is wrong at first; then one thing after the other is mended.
  await change({ rate_limit_per_minute: 1, allowed_networks: ['192.0.2.0/24'] })
  await switchPartnerApi(sql, TESTER, communityId, { enabled: false, reason: 'test' })
  await eventuallyRefused(tokens.narrow, 'rate_limited')
  expect(await refusal(tokens.dead)).toBe('invalid_token')
  await change({ rate_limit_per_minute: 100_000 })
  await eventuallyRefused(tokens.narrow, 'partner_api_disabled')
  await switchPartnerApi(sql, TESTER, communityId, { enabled: true })
  await eventuallyRefused(tokens.narrow, 'ip_not_allowed')
  await change({ allowed_networks: [] })
  await eventuallyRefused(tokens.narrow, 'insufficient_scope')
  expect(await refusal(tokens.wide)).toBe('validation_failed')
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('every invalid parameter is named, all at once; unknown ones do not matter', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const invalid = async (query: string) => {
    const answer = await bank.call(`/users?${query}`, { token })
    expectError(answer, 'validation_failed', query)
    return answer.body
  }
  for (const limit of ['0', '101', 'abc', '1.5', '-1', '', 'NaN', '99999999999999999999', 'null', 'true', '1,2']) {
    const { errors, error_description } = await invalid(`limit=${limit}`)
    expect(errors, limit).toEqual([
      { code: expect.any(String), field: 'limit', message: expect.stringMatching(/^must/) },
    ])
    expect(error_description).toBe(`limit ${errors[0].message}`)
  }
  for (const cursor of [
    'x',
    encode([-1]),
    encode({}),
    encode(null),
    encode([1.5]),
    encode([1e300]),
    'x'.repeat(1001),
  ]) {
    expect((await invalid(`cursor=${cursor}`)).errors, cursor).toMatchObject([{ field: 'cursor' }])
  }
  const both = await invalid(`limit=0&cursor=${'x'.repeat(1001)}`)
  expect(both.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual(['cursor', 'limit'])

  for (const query of ['limit=1', 'limit=100', 'colour=blue', '__proto__=1&constructor=2', '&&', 'limit=%31']) {
    expect((await bank.call(`/users?${query}`, { token })).status, query).toBe(200)
  }
})

test('while the database is away every call is told 503 at once, and all is well when it is back', async () => {
  const proxy = await startFlakyProxy(await newDatabase())
  const bank = await startBank({ databaseUrl: proxy.url })
  const token = await bank.token()
  const { clientId, clientSecret } = bank.partner
  const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  expect((await bank.call('/users', { token })).status).toBe(200)

  proxy.cut()
  const startedAtMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 ? bank.call('/users', { token }) : bank.call('/oauth/token', { body: credentials }),
    ),
  )
  expect(performance.now() - startedAtMs).toBeLessThan(5000)
  for (const answer of answers) expectError(answer, 'unavailable')

  proxy.mend()
  await eventually(async () => (await bank.call('/users', { token })).status === 200)
  await eventually(async () => (await bank.call('/oauth/token', { body: credentials })).status === 200)
})

test('a database that keeps silent is 503 within the limit too, whatever the method', async () => {
  const proxy = await startFlakyProxy(await newDatabase())
  const bank = await startBank({ databaseUrl: proxy.url, timeouts: { handlerMs: 1000, requestMs: 30_000 } })
  const [token, given] = [await bank.token(), await bank.token()]
  const { clientId, clientSecret } = bank.partner
  const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  expect((await bank.call('/users', { token })).status).toBe(200)

  proxy.freeze()
  const startedAtMs = performance.now()
  const answers = await Promise.all([
    bank.call('/users', { token }),
    bank.call('/users', { token: newToken(bank.communityId) }),
    bank.call('/nope', { token: newToken(bank.communityId) }),
    bank.call('/oauth/token', { body: credentials }),
    // A token of its own: what was sent into the silence may still be done when it ends.
    bank.call('/oauth/revoke', { body: { ...credentials, token: given } }),
  ])
  // Well before the driver gives a new connection up.
  expect(performance.now() - startedAtMs).toBeLessThan(4000)
  answers.forEach((answer, n) => expectError(answer, 'unavailable', `call ${n}`))

  proxy.mend()
  await eventually(async () => (await bank.call('/users', { token })).status === 200)
})

test('a page that has not changed is 304, in every way If-None-Match can say it', async () => {
  const bank = await startBank()
  await addMembers(bank, 50)
  const token = await bank.token('users.read')
  const url = `${bank.url}${API_PREFIX}/users?limit=50`
  const get = (headers: Record<string, string> = {}) =>
    sendPlain(url, { headers: { authorization: `Bearer ${token}`, ...headers } })

  const first = await get()
  const tag = first.headers.get('etag')!
  expect(tag).toMatch(/^W\/"[\w-]+"$/)
  expect(first.headers.get('cache-control')).toBe('private, no-cache')
  const opaque = tag.slice(2)
  for (const match of [tag, opaque, '*', ` ${tag} `, `"a", ${tag}`, `W/"a",${opaque} , "b"`]) {
    const answer = await get({ 'if-none-match': match })
    expect({ status: answer.status, bytes: answer.bytes.length }, match).toEqual({ status: 304, bytes: 0 })
    expect(answer.headers.get('etag'), match).toBe(tag)
    expect(answer.headers.get('api-version'), match).toBe('2.0')
    expect(answer.headers.get('content-type'), match).toBeNull()
  }
  for (const other of ['"a"', 'W/"a"', opaque.slice(1, -1), `"x${opaque.slice(1)}`]) {
    expect((await get({ 'if-none-match': other })).status, other).toBe(200)
  }

  for (const encoding of ['gzip', 'br']) {
    const packed = await get({ 'accept-encoding': encoding })
    expect(packed.headers.get('etag'), encoding).toBe(tag)
    expect((await get({ 'accept-encoding': encoding, 'if-none-match': tag })).status).toBe(304)
  }

  await bank.sql`update members set name = 'Renamed' where community_id = ${bank.communityId} and name = 'Member 7'`
  const changed = await get({ 'if-none-match': tag })
  expect(changed.status).toBe(200)
  expect(changed.headers.get('etag')).not.toBe(tag)
})

test('an error has no ETag, and is never 304', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const answer = await bank.call('/users?limit=0', { token, headers: { 'if-none-match': '*' } })
  expectError(answer, 'validation_failed')
  expect(answer.headers.get('etag')).toBeNull()
})

test('an answer is compressed when the caller accepts it, and is the same underneath', async () => {
  const bank = await startBank()
  const token = await bank.token('users.read')
  const url = `${bank.url}${API_PREFIX}/users?limit=100`
  const get = (encoding?: string) =>
    sendPlain(url, { headers: { authorization: `Bearer ${token}`, ...(encoding && { 'accept-encoding': encoding }) } })

  expect((await get('gzip')).headers.get('content-encoding')).toBeNull()
  await addMembers(bank, 100)
  const plain = await get()
  expect(plain.headers.get('content-encoding')).toBeNull()
  for (const [encoding, unpack] of Object.entries(UNPACKERS)) {
    const packed = await get(encoding)
    expect(packed.headers.get('content-encoding')).toBe(encoding)
    expect(packed.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(packed.headers.get('vary')).toMatch(/accept-encoding/i)
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length)
    expect(unpack(packed.bytes)).toEqual(plain.bytes)
  }
  expect((await get('lzw')).body).toEqual(plain.body)
})
