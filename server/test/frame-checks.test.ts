import fastify from 'fastify'
import { expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import type { Deps } from '../src/http/deps.ts'
import { type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { framePartnerApi } from '../src/http/partner/frame.ts'
import { newToken } from '../src/crypto/secrets.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { expectError } from './frame-answers.ts'

test('the challenge has no error code without credentials, and one for invalid credentials', async () => {
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

test('a token without the scope is rejected with the required scope', async () => {
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
  const change = (input: Parameters<typeof changePartner>[4]) =>
    changePartner(sql, TESTER, communityId, partner.partnerId, input)
  const tokens = {
    narrow: await bank.token('listings.read'),
    wide: await bank.token('users.read'),
    dead: newToken(communityId),
  }
  const refusal = async (token: string) => (await bank.call('/users?limit=0', { token })).body.error
  const eventuallyRefused = (token: string, code: PartnerErrorCode) =>
    eventually(async () => (await refusal(token)) === code)

  // All is wrong at first; then one thing after the other is fixed.
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

test('all invalid parameters are reported together, and unknown ones are ignored', async () => {
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
