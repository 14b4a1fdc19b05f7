import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { HourbankError } from '../../client/src/index.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { eventually, TESTER } from './bank.ts'
import { credentials } from './oauth.ts'
import { bank, hourbank, start, clientOf, join, refusalOf } from './client-calls.ts'

describe('a rejection', () => {
  test('names every invalid field, the required scopes and the request id, but no credentials', async () => {
    await start()
    const error = await refusalOf(hourbank.wallet.credit({ user_id: 1, hours: -1, reference: '' }))
    expect(error).toMatchObject({ name: 'ApiError', kind: 'api', status: 422, code: 'validation_failed' })
    expect(error.errors.map(({ field }) => field).toSorted()).toEqual(['hours', 'reference'])
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(error.message).toContain('POST /wallet/credit: 422 validation_failed')
    expect(error).toBeInstanceOf(HourbankError)

    const reader = clientOf(bank, { scope: ['users.read', 'listings.read'] })
    expect(await refusalOf(reader.wallet.credits())).toMatchObject({
      code: 'insufficient_scope',
      requiredScopes: ['wallet.read', 'wallet.write'],
      message: expect.stringContaining('Needs the scope wallet.read or wallet.write.'),
    })
    expect((await reader.users.list()).data).toEqual([])

    const wrong = clientOf(bank, { retries: 5 }, { ...bank.partner, clientSecret: 'not-the-right-secret' })
    const refusal = await refusalOf(wrong.users.list())
    expect(refusal).toMatchObject({ status: 401, code: 'invalid_client' })
    expect(inspect([refusal, wrong], { depth: 10, showHidden: true })).not.toContain('not-the-right-secret')
  })

  test('because an administrator switched the API off is reported immediately, with the reason', async () => {
    await start()
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Closed over Easter' })
    const waits: number[] = []
    const patient = clientOf(bank, { retries: 5, wait: async (ms) => void waits.push(ms) })
    const error = await eventually(() => refusalOf(patient.users.list()))
    expect(error).toMatchObject({ status: 503, code: 'partner_api_disabled', retryAfterSeconds: 5 })
    expect(error.description).toContain('Closed over Easter')
    expect(waits).toEqual([])
  })

  test('for too many requests is reported with the time to wait if that exceeds the time left for the call', async () => {
    await start()
    await bank.sql`update partners set rate_limit_per_minute = 2`
    const waits: number[] = []
    const hasty = clientOf(bank, { retries: 5, totalTimeoutMs: 1_000, wait: async (ms) => void waits.push(ms) })
    await hasty.users.list()
    const error = await refusalOf(hasty.users.list())
    expect(error).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(error.retryAfterSeconds).toBeGreaterThan(1)
    expect(waits).toEqual([])
  })
})

/** A client that tells what it sent. */
function counting() {
  const paths: string[] = []
  let authorization = ''
  const client = clientOf(bank, {
    fetch: (url, init) => {
      paths.push(new URL(url).pathname.replace(API_PREFIX, ''))
      authorization = init.headers.authorization ?? authorization
      return fetch(url, init)
    },
  })
  const tokens = () => paths.filter((path) => path === '/oauth/token').length
  return { client, paths, tokens, held: () => authorization.replace('Bearer ', '') }
}

async function liveTokens(): Promise<number> {
  const [row] = await bank.sql`select count(*)::int4 as live from tokens where revoked_at is null`
  return row!.live
}

describe('the token', () => {
  test('is requested once for a hundred concurrent calls, cached, and replaced when it was revoked', async () => {
    await start()
    const { client, tokens, held } = counting()
    const [ada] = await join('Ada')
    await Promise.all(Array.from({ length: 100 }, () => client.users.list()))
    expect(tokens()).toBe(1)
    await bank.call('/oauth/revoke', { body: { ...credentials(bank.partner), token: held() } })
    await client.wallet.credit({ user_id: ada!.id, hours: 1, reference: 'tx-1' })
    expect(tokens()).toBe(2)
    expect(await client.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 1 })
  })

  test('is revoked on request, after which a new one is requested, and on close, after which none is', async () => {
    await start()
    const { client, tokens, paths } = counting()
    await client.revokeToken()
    expect(paths).toEqual([])
    await client.users.list()
    await client.revokeToken()
    expect(await liveTokens()).toBe(0)
    await client.users.list()
    expect({ live: await liveTokens(), tokens: tokens() }).toEqual({ live: 1, tokens: 2 })

    await client.close()
    expect(await liveTokens()).toBe(0)
    const sent = paths.length
    await expect(client.users.list()).rejects.toMatchObject({ name: 'HourbankError', kind: 'closed' })
    await client.close()
    expect(paths.length).toBe(sent)
  })
})

test('baseUrl works with or without the API prefix and a trailing slash; invalid addresses and limits are rejected', async () => {
  await start()
  for (const baseUrl of [bank.url, `${bank.url}/`, `${bank.url}/api/partner/v1`, `${bank.url}/api/partner/v1/`]) {
    expect((await clientOf({ url: baseUrl }).users.list()).data).toEqual([])
  }
  for (const baseUrl of ['', 'hours.example.org', 'ftp://a', 'https://a:b@c', 'https://a?b', 'https://a#b']) {
    expect(() => clientOf({ url: baseUrl })).toThrow(TypeError)
  }
  expect(() => clientOf(bank, { clientId: '' })).toThrow(TypeError)
  expect(() => clientOf(bank, { clientSecret: undefined as never })).toThrow(TypeError)
  for (const wrong of [{ timeoutMs: 0 }, { timeoutMs: Number.NaN }, { totalTimeoutMs: Infinity }, { retries: 1000 }]) {
    expect(() => clientOf(bank, wrong)).toThrow(RangeError)
    await expect(hourbank.users.list({}, wrong)).rejects.toBeInstanceOf(RangeError)
  }
  // Nor does a client that is printed tell what it was given.
  const printed = inspect(hourbank, { depth: 10, showHidden: true }) + JSON.stringify(hourbank)
  expect(printed).not.toContain(bank.partner.clientSecret)
  expect(printed).not.toContain(bank.partner.clientId)
})
