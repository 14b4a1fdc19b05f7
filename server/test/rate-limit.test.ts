import { expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { newToken } from '../src/crypto/secrets.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { createClient } from '../src/features/partners/create-client.ts'
import { eventually, startBank, TESTER, type Answer } from './bank.ts'

/** The two headers, read as a partner's client would read them. */
function limitOf({ headers }: Answer) {
  const policy = /^"default";q=(\d+);w=(\d+)$/.exec(headers.get('ratelimit-policy') ?? '')
  const state = /^"default";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '')
  return (
    policy &&
    state && {
      quota: Number(policy[1]),
      windowSeconds: Number(policy[2]),
      remaining: Number(state[1]),
      resetSeconds: Number(state[2]),
    }
  )
}

test("calls over the partner's limit get 429 with Retry-After", async () => {
  const bank = await startBank()
  const partner = await bank.addPartner({ rateLimitPerMinute: 4 })
  const token = await bank.token(undefined, partner)
  // The call for the token was the first of the four.
  for (const remaining of [2, 1, 0]) {
    const answer = await bank.call('/users', { token })
    expect(answer.status).toBe(200)
    expect(limitOf(answer)).toMatchObject({ quota: 4, windowSeconds: 60, remaining })
  }
  for (let n = 0; n < 3; n++) {
    const refused = await bank.call('/users', { token })
    expect({ status: refused.status, error: refused.body.error }).toEqual({ status: 429, error: 'rate_limited' })
    const { remaining, resetSeconds } = limitOf(refused)!
    expect(remaining).toBe(0)
    expect(resetSeconds).toBeGreaterThanOrEqual(1)
    expect(resetSeconds).toBeLessThanOrEqual(60)
    expect(refused.headers.get('retry-after')).toBe(`${resetSeconds}`)
  }
  const credentials = { client_id: partner.clientId, client_secret: partner.clientSecret }
  const noToken = await bank.call('/oauth/token', { body: { grant_type: 'client_credentials', ...credentials } })
  expect(noToken.status).toBe(429)
})

test('every authenticated response has the state of the limit, and every rejected call counts', async () => {
  const bank = await startBank()
  const { sql, communityId, partner } = bank
  const token = await bank.token('users.read')
  const narrow = await bank.token('listings.read')
  const credentials = { client_id: partner.clientId, client_secret: partner.clientSecret }
  const calls: [status: number, call: () => Promise<Answer>][] = [
    [200, () => bank.call('/users', { token })],
    [403, () => bank.call('/users', { token: narrow })],
    [404, () => bank.call('/nope', { token })],
    [405, () => bank.call('/users', { token, method: 'DELETE' })],
    [422, () => bank.call('/users?limit=0', { token })],
    [400, () => bank.call('/users?limit=1&limit=2', { token })],
    [304, () => bank.call('/users', { token, headers: { 'if-none-match': '*' } })],
    [200, () => bank.call('/oauth/token', { body: { grant_type: 'client_credentials', ...credentials } })],
    [400, () => bank.call('/oauth/token', { body: { grant_type: 'password', ...credentials } })],
    [200, () => bank.call('/oauth/revoke', { body: { token: 'unknown', ...credentials } })],
  ]
  let before = limitOf(await bank.call('/users', { token }))!.remaining
  for (const [status, call] of calls) {
    const answer = await call()
    expect({ status: answer.status, ...limitOf(answer) }).toMatchObject({ status, quota: 600, remaining: before - 1 })
    before -= 1
  }

  await switchPartnerApi(sql, TESTER, communityId, { enabled: false, reason: 'test' })
  const off = await eventually(async () => {
    const answer = await bank.call('/users', { token })
    return answer.status === 503 && answer
  })
  expect(limitOf(off)!.remaining).toBeLessThan(before)
  await switchPartnerApi(sql, TESTER, communityId, { enabled: true })
  await changePartner(sql, TESTER, communityId, partner.partnerId, { allowed_networks: ['192.0.2.1'] })
  const elsewhere = await eventually(async () => {
    const answer = await bank.call('/users', { token })
    return answer.status === 403 && answer
  })
  expect(limitOf(elsewhere)!.remaining).toBeLessThan(limitOf(off)!.remaining)
})

test('a caller without authentication learns nothing about limits and uses up none', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const before = limitOf(await bank.call('/users', { token }))!.remaining
  const wrong = { grant_type: 'client_credentials', client_id: bank.partner.clientId, client_secret: 'wrong' }
  for (const answer of [
    await bank.call('/users'),
    await bank.call('/users', { token: newToken(bank.communityId) }),
    await bank.call('/nope', { token: newToken(bank.communityId) }),
    await bank.call('/oauth/token', { body: wrong }),
  ]) {
    expect(answer.headers.get('ratelimit')).toBeNull()
    expect(answer.headers.get('ratelimit-policy')).toBeNull()
  }
  expect(limitOf(await bank.call('/users', { token }))!.remaining).toBe(before - 1)
})

test('each partner has its own count, shared by its clients', async () => {
  const bank = await startBank()
  const [one, other] = [
    await bank.addPartner({ rateLimitPerMinute: 3 }),
    await bank.addPartner({ rateLimitPerMinute: 3 }),
  ]
  const second = await createClient(bank.sql, TESTER, bank.communityId, one.partnerId, { name: 'second' })
  const [oneToken, secondToken] = [await bank.token(undefined, one), await bank.token(undefined, { ...one, ...second })]
  expect((await bank.call('/users', { token: oneToken })).status).toBe(200)
  expect((await bank.call('/users', { token: secondToken })).status).toBe(429)
  expect((await bank.call('/users', { token: oneToken })).status).toBe(429)

  const otherToken = await bank.token(undefined, other)
  expect((await bank.call('/users', { token: otherToken })).status).toBe(200)
})

test('two hundred concurrent calls are all counted', async () => {
  const bank = await startBank()
  const token = await bank.token(undefined, await bank.addPartner({ rateLimitPerMinute: 101 }))
  const answers = await Promise.all(Array.from({ length: 200 }, () => bank.call('/users', { token })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(100)
  const remaining = answers.filter(({ status }) => status === 200).map((answer) => limitOf(answer)!.remaining)
  expect(new Set(remaining).size).toBe(100)
})

test('a new limit applies to live tokens', async () => {
  const bank = await startBank()
  const token = await bank.token()
  expect(limitOf(await bank.call('/users', { token }))!.quota).toBe(600)
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { rate_limit_per_minute: 2 })
  await eventually(async () => limitOf(await bank.call('/users', { token }))!.quota === 2)
  expect((await bank.call('/users', { token })).status).toBe(429)
})

test('one of several processes grants its share of the limit, and reports the whole limit', async () => {
  const bank = await startBank({ config: { webConcurrency: 4 } })
  const token = await bank.token(undefined, await bank.addPartner({ rateLimitPerMinute: 8 }))
  const answer = await bank.call('/users', { token })
  expect(limitOf(answer)).toMatchObject({ quota: 8, remaining: 0 })
  expect((await bank.call('/users', { token })).status).toBe(429)
})

test('calls with a dead token to unknown addresses are logged no more often than others', async () => {
  const bank = await startBank()
  const token = await bank.token()
  await bank.sql`update tokens set expires_at = now()`
  const LOGGED_MAX = 100
  for (let n = 0; n < 3; n++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => bank.call('/nope', { token })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
  }
  const logged = async () => (await bank.sql`select from call_log where status = 404`).length
  await eventually(async () => (await logged()) >= LOGGED_MAX)
  // A live call is written after all of them.
  const answer = await bank.call('/users', { token: await bank.token() })
  const id = answer.headers.get('request-id')!
  await eventually(async () => (await bank.sql`select from call_log where request_id = ${id}`).length === 1)
  expect(await logged()).toBe(LOGGED_MAX)
})

test('calls beyond the limit share a row, even with different user agents', async () => {
  const bank = await startBank()
  const partner = await bank.addPartner({ rateLimitPerMinute: 1 })
  const token = await bank.token(undefined, partner)
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => bank.call('/users', { token, headers: { 'user-agent': `agent ${n}` } })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]))
  await eventually(async () => (await bank.sql`select from call_log where status = 429`).length === 40)
  const agents = await bank.sql`select distinct user_agent from call_groups where status = 429`
  expect(agents).toEqual([{ user_agent: null }])
})
