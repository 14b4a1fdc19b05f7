import fastify, { type FastifyBaseLogger } from 'fastify'
import { METHODS } from 'node:http'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { QueueFull } from '../src/core/work-queue.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { sendError } from '../src/http/shared/send-error.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { sendBytes, sendPlain } from './raw-http.ts'

const METADATA = '/.well-known/oauth-authorization-server'

const send = (bank: Bank, line: string, headers: string[], body = '') =>
  sendBytes(bank.config.port, [`${line} HTTP/1.1`, ...headers, 'Connection: close', '', body].join('\r\n'))

describe('a repeated header', () => {
  test('Authorization is answered with 400, whichever of the two is right', async () => {
    const bank = await startBank()
    const good = `Authorization: Bearer ${await bank.token()}`
    for (const other of [good, 'authorization: Bearer x', 'AUTHORIZATION: Basic YTpi', 'Authorization:']) {
      for (const pair of [
        [good, other],
        [other, good],
      ]) {
        const answer = await send(bank, `GET ${API_PREFIX}/users`, ['Host: localhost', ...pair])
        expect(answer, other).toMatchObject({
          status: 400,
          body: { error: 'invalid_request', error_description: 'The Authorization header is repeated.' },
        })
      }
    }
    expect(await send(bank, `GET ${API_PREFIX}/users`, ['Host: localhost', good])).toMatchObject({ status: 200 })
  })

  test('Authorization is answered with 400 at the token endpoint', async () => {
    const bank = await startBank()
    const { clientId, clientSecret } = bank.partner
    const basic = `Authorization: Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    const body = 'grant_type=client_credentials'
    const headers = [
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
    ]
    const line = `POST ${API_PREFIX}/oauth/token`
    expect(await send(bank, line, [...headers, basic], body)).toMatchObject({ status: 200 })
    expect(await send(bank, line, [...headers, basic, basic], body)).toMatchObject({ status: 400 })
  })

  test('Host and Content-Type are answered with 400 in both APIs', async () => {
    const bank = await startBank()
    for (const path of [`${API_PREFIX}/oauth/token`, `${ADMIN_PREFIX}/session`]) {
      const headers = ['Host: localhost', 'Content-Type: application/json', 'Content-Length: 2']
      for (const repeated of ['Host: b', 'content-type: application/json; charset=utf-16']) {
        const answer = await send(bank, `POST ${path}`, [...headers, repeated], '{}')
        expect(answer, `${path} ${repeated}`).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
      }
    }
  })
})

describe('a response that is not modified', () => {
  /** The headers that RFC 9110 section 15.4.5 wants in a 304 if the 200 has them. */
  const KEPT = ['vary', 'etag', 'cache-control']

  test.each(['br', 'identity', undefined])(
    'has Vary, ETag and Cache-Control as the 200 has them, with Accept-Encoding %s',
    async (accepted) => {
      const bank = await startBank()
      const rows = 100
      await bank.sql`
        insert into members (community_id, id, name)
        select ${bank.communityId}, n, 'M' from generate_series(1, ${rows}::int) n`
      const headers = {
        authorization: `Bearer ${await bank.token()}`,
        ...(accepted && { 'accept-encoding': accepted }),
      }
      for (const path of [`${API_PREFIX}/users?limit=100`, `${API_PREFIX}/users/1`, '/openapi.json', '/docs/']) {
        const full = await sendPlain(`${bank.url}${path}`, { headers })
        const etag = full.headers.get('etag')!
        const short = await sendPlain(`${bank.url}${path}`, { headers: { ...headers, 'if-none-match': etag } })
        expect([full.status, short.status], path).toEqual([200, 304])
        for (const name of KEPT) expect(short.headers.get(name), `${name} of ${path}`).toBe(full.headers.get(name))
      }
    },
  )

  test('has Vary wherever the answer depends on Accept-Encoding', async () => {
    const bank = await startBank()
    const vary = async (accepted: string) =>
      (await sendPlain(`${bank.url}/openapi.json`, { headers: { 'accept-encoding': accepted } })).headers.get('vary')
    expect([await vary('br'), await vary('identity')]).toEqual(['accept-encoding', 'accept-encoding'])
  })
})

test('the metadata document answers 405 to other methods, as the rest of the API does', async () => {
  const bank = await startBank()
  for (const method of METHODS.filter((name) => !['GET', 'HEAD', 'CONNECT'].includes(name))) {
    const { status, headers, body } = await sendPlain(`${bank.url}${METADATA}`, { method })
    expect({ status, error: body.error, allow: headers.get('allow') }, method).toEqual({
      status: 405,
      error: 'method_not_allowed',
      allow: 'GET, HEAD',
    })
    expect(headers.get('api-version'), method).toBe('2.0')
    expect(headers.get('request-id'), method).toBe(body.request_id)
  }
  expect((await bank.call(METADATA)).status).toBe(200)
})

function captureLog() {
  const lines: string[] = []
  const sink = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) })
  return { log: pino({ level: 'info' }, sink), text: () => lines.join('') }
}

test('calls rejected because the partner API is off are not in the log as errors', async () => {
  const { log, text } = captureLog()
  const bank = await startBank({ log })
  const token = await bank.token()
  await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Moving house' })
  await eventually(async () => (await bank.call('/users', { token })).body.error === 'partner_api_disabled')
  const credentials = { client_id: bank.partner.clientId, client_secret: bank.partner.clientSecret }
  const askToken = () => bank.call('/oauth/token', { body: { grant_type: 'client_credentials', ...credentials } })
  await eventually(async () => (await askToken()).body.error === 'partner_api_disabled')
  expect(text()).not.toMatch(/partner_api_disabled|Moving house|stack|"level":(40|50)/)
})

test('a call that is rejected because of overload is logged as a warning without a stack', async () => {
  const { log, text } = captureLog()
  const app = fastify({ loggerInstance: log as FastifyBaseLogger })
  app.decorateRequest('failure')
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply))
  app.get('/full', async () => {
    throw new QueueFull()
  })
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  expect((await app.inject('/full')).json()).toMatchObject({ error: 'overloaded' })
  expect(text()).toMatch(/"level":40.*"code":"overloaded"/)
  expect(text()).not.toContain('stack')
  expect((await app.inject('/broken')).json()).toMatchObject({ error: 'internal_error' })
  expect(text()).toMatch(/"level":50.*"code":"internal_error"/)
  expect(text()).toContain('stack')
})

test('an export that fails before its first row is an error that can be read', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  await bank.sql`alter view call_log rename to gone`
  const answer = await admin.call('/calls/export')
  expect(answer).toMatchObject({ status: 500, body: { error: 'internal_error' } })
  for (const name of ['content-encoding', 'content-disposition']) expect(answer.headers.get(name), name).toBeNull()
})
