import { beforeEach, describe, expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { createClient } from '../src/features/partners/create-client.ts'
import { newToken } from '../src/crypto/secrets.ts'
import { announceChange } from './announce.ts'
import { eventually, startBank, TESTER, type Answer, type Bank, type CallOptions, type TestPartner } from './bank.ts'
import { basic, BEHIND_PROXY, credentials, FORM, from } from './oauth.ts'

let bank: Bank
beforeEach(async () => {
  bank = await startBank(BEHIND_PROXY)
})

const revoke = (body: Record<string, unknown>, partner = bank.partner, headers = {}) =>
  bank.call('/oauth/revoke', { body: { ...credentials(partner), ...body }, headers })

const statusOf = async (token: string) => (await bank.call('/users', { token })).status

function expectFrame({ headers }: Answer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('api-version')).toBe('2.0')
  expect(headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
}

function expectRevoked(answer: Answer): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: {} })
  expectFrame(answer)
}

function expectRefused(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error })
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="hourbank"' : null)
  expectFrame(answer)
}

async function expectLeftAlone(token: string): Promise<void> {
  expectRefused(await revoke({ token }), 400, 'invalid_request')
  expect(await statusOf(token)).toBe(200)
  const [row] = await bank.sql`select count(*)::int4 as revoked from tokens where revoked_at is not null`
  expect(row!.revoked).toBe(0)
}

describe('a revoked token', () => {
  test('has ended when the response arrives, for every form of request', async () => {
    const { clientId, clientSecret } = bank.partner
    const ways: ((token: string) => CallOptions)[] = [
      (token) => ({ body: { token, ...credentials(bank.partner) } }),
      (token) => ({ body: `${new URLSearchParams({ token, ...credentials(bank.partner) })}`, headers: FORM }),
      (token) => ({ body: `token=${token}`, headers: { ...FORM, ...basic(clientId, clientSecret) } }),
      (token) => ({ body: { token }, headers: basic(clientId, clientSecret) }),
    ]
    for (const way of ways) {
      const token = await bank.token()
      expect(await statusOf(token)).toBe(200)
      expectRevoked(await bank.call('/oauth/revoke', way(token)))
      const { status, headers, body } = await bank.call('/users', { token })
      expect({ status, error: body.error }).toEqual({ status: 401, error: 'invalid_token' })
      expect(headers.get('www-authenticate')).toBe('Bearer realm="hourbank", error="invalid_token"')
    }
  })

  test('is rejected in every request sent after the response, even with many in flight', async () => {
    const partner = await bank.addPartner({ rateLimitPerMinute: 100_000 })
    const token = await bank.token(undefined, partner)
    const seen: { startedAtMs: number; status: number }[] = []
    const over = new AbortController()
    const callers = Array.from({ length: 20 }, async () => {
      while (!over.signal.aborted) {
        const startedAtMs = performance.now()
        seen.push({ startedAtMs, status: await statusOf(token) })
      }
    })
    await eventually(() => seen.length > 100)
    expectRevoked(await revoke({ token }, partner))
    const revokedAtMs = performance.now()
    const after = () => seen.filter(({ startedAtMs }) => startedAtMs > revokedAtMs)
    await eventually(() => after().length > 100)
    over.abort()
    await Promise.all(callers)
    expect(seen.filter(({ status }) => status === 200).length).toBeGreaterThan(50)
    expect(after().filter(({ status }) => status === 200)).toEqual([])
  })

  test('does not end other tokens', async () => {
    const [one, other] = [await bank.token(), await bank.token()]
    await statusOf(other)
    expectRevoked(await revoke({ token: one }))
    expect(await statusOf(other)).toBe(200)
  })

  test('may be revoked by another client of the same partner', async () => {
    const { partnerId } = bank.partner
    const client = await createClient(bank.sql, TESTER, bank.communityId, partnerId, { name: 'second' })
    const token = await bank.token()
    expectRevoked(await revoke({ token }, { partnerId, ...client }))
    expect(await statusOf(token)).toBe(401)
  })

  test('may be revoked while the partner API is switched off', async () => {
    const token = await bank.token()
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Moving house' })
    await eventually(async () => (await statusOf(token)) === 503)
    expectRevoked(await revoke({ token }))
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: true })
    await eventually(async () => (await statusOf(token)) === 401)
  })
})

describe('a revocation succeeds for a token that is', () => {
  test('unknown, malformed or issued by another service', async () => {
    const unknown = newToken(bank.communityId)
    for (const token of [
      unknown,
      newToken(999),
      'x',
      '\0',
      `${unknown}\0`,
      '🕰',
      'eyJhbGciOiJub25lIn0.e30.',
      'x'.repeat(5000),
    ]) {
      expectRevoked(await revoke({ token }))
    }
  })

  test('already revoked, itself or with its client', async () => {
    const token = await bank.token()
    expectRevoked(await revoke({ token }))
    expectRevoked(await revoke({ token }))

    const { partnerId } = bank.partner
    const gone = { partnerId, ...(await createClient(bank.sql, TESTER, bank.communityId, partnerId, { name: 'gone' })) }
    const itsToken = await bank.token(undefined, gone)
    await revokeClient(bank.sql, TESTER, gone.clientId)
    await eventually(async () => (await statusOf(itsToken)) === 401)
    expectRevoked(await revoke({ token: itsToken }))
  })

  test("expired, even if it was another partner's", async () => {
    const other = await bank.addPartner()
    const tokens = [await bank.token(), await bank.token(undefined, other)]
    await bank.sql`update tokens set expires_at = now() - interval '1 second'`
    await announceChange(bank.sql, { communityId: bank.communityId })
    for (const token of tokens) {
      await eventually(async () => (await statusOf(token)) === 401)
      expectRevoked(await revoke({ token }))
    }
  })
})

describe("another partner's token is left alone", () => {
  test('in the same community', async () => {
    await expectLeftAlone(await bank.token(undefined, await bank.addPartner()))
  })

  test('in another community', async () => {
    const villager = await bank.addPartner({}, await bank.addCommunity('village'))
    await expectLeftAlone(await bank.token(undefined, villager))
  })

  test('while that partner is suspended', async () => {
    const other = await bank.addPartner()
    const token = await bank.token(undefined, other)
    await changePartner(bank.sql, TESTER, bank.communityId, other.partnerId, { status: 'suspended' })
    await eventually(async () => (await statusOf(token)) === 401)
    expectRefused(await revoke({ token }), 400, 'invalid_request')
    await changePartner(bank.sql, TESTER, bank.communityId, other.partnerId, { status: 'active' })
    await eventually(async () => (await statusOf(token)) === 200)
  })
})

describe('the request', () => {
  test('ignores any hint', async () => {
    for (const token_type_hint of ['access_token', 'refresh_token', 'nonsense', '', '"\\']) {
      const token = await bank.token()
      expectRevoked(await revoke({ token, token_type_hint }))
      expect(await statusOf(token)).toBe(401)
    }
  })

  test('is invalid without a token', async () => {
    for (const body of [{}, { token: '' }, { token_type_hint: 'access_token' }]) {
      expectRefused(await revoke(body), 400, 'invalid_request')
    }
  })

  test('is invalid if malformed, never 422', async () => {
    const token = await bank.token()
    for (const change of [{ token: 1 }, { token: [token] }, { token: null }, { token, token_type_hint: 1 }]) {
      expectRefused(await revoke(change), 400, 'invalid_request')
    }
    const { clientId, clientSecret } = bank.partner
    const authorized = basic(clientId, clientSecret)
    const malformed: CallOptions[] = [
      { body: '[]', headers: { 'content-type': 'application/json' } },
      { body: 'null', headers: { 'content-type': 'application/json' } },
      { body: `{"token":"${token}"`, headers: { 'content-type': 'application/json' } },
      { body: `token=${token}&token=${token}`, headers: FORM },
      { body: `token=${token}&x=%`, headers: FORM },
      { body: `token=${token}&client_secret=${clientSecret}`, headers: FORM },
      {},
    ]
    for (const { body, headers } of malformed) {
      const answer = await bank.call('/oauth/revoke', { method: 'POST', body, headers: { ...headers, ...authorized } })
      expectRefused(answer, 400, 'invalid_request')
    }
    const other = await bank.call('/oauth/revoke', {
      body: token,
      headers: { 'content-type': 'text/plain', ...authorized },
    })
    expectRefused(other, 415, 'unsupported_media_type')
    expect(await statusOf(token)).toBe(200)
  })

  test('is rejected without the right secret, and the token stays valid', async () => {
    const token = await bank.token()
    const suspended = await bank.addPartner()
    await changePartner(bank.sql, TESTER, bank.communityId, suspended.partnerId, { status: 'suspended' })
    const refused: [Record<string, unknown>, TestPartner][] = [
      [{ client_secret: 'wrong' }, bank.partner],
      [{ client_secret: undefined }, bank.partner],
      [{ client_id: undefined }, bank.partner],
      [{ client_id: 'hbc_1_0123456789abcdef' }, bank.partner],
      [{}, suspended],
    ]
    for (const [change, partner] of refused) {
      expectRefused(await revoke({ token, ...change }, partner), 401, 'invalid_client')
    }
    // A token is no client authentication, not even for itself.
    expectRefused(await bank.call('/oauth/revoke', { token, body: { token } }), 401, 'invalid_client')
    expect(await statusOf(token)).toBe(200)
  })

  test('is rejected from outside the allowlist, and the token stays valid', async () => {
    const partner = await bank.addPartner({ allowedNetworks: ['192.0.2.7'] })
    const issued = await bank.call('/oauth/token', {
      body: { grant_type: 'client_credentials', ...credentials(partner) },
      headers: from('192.0.2.7'),
    })
    const token = issued.body.access_token
    expectRefused(await revoke({ token }, partner, from('192.0.2.8')), 403, 'ip_not_allowed')
    expect((await bank.call('/users', { token, headers: from('192.0.2.7') })).status).toBe(200)
    expectRevoked(await revoke({ token }, partner, from('192.0.2.7')))
  })

  test('counts against the rate limit of the partner', async () => {
    const partner = await bank.addPartner({ rateLimitPerMinute: 1 })
    expectRevoked(await revoke({ token: 'x' }, partner))
    const refused = await revoke({ token: 'x' }, partner)
    expectRefused(refused, 429, 'rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
