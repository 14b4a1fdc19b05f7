import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { announceChange } from './announce.ts'
import { eventually, startBank, TESTER, type Bank, type CallOptions } from './bank.ts'
import { basic, BEHIND_PROXY, credentials, from, tokenRequest } from './oauth.ts'
import { expectRefusal } from './token-requests.ts'

describe('rejected token requests', () => {
  test('an unknown client, a wrong secret and a revoked client get the same body, headers and database work', async () => {
    const statements: string[] = []
    const bank = await startBank({ onStatement: (statement) => statements.push(statement) })
    const revoked = await bank.addPartner()
    await revokeClient(bank.sql, TESTER, revoked.clientId)
    // Known to the cache, the way a busy partner is.
    await bank.token()

    const guesses = {
      'wrong secret': { client_id: bank.partner.clientId, client_secret: revoked.clientSecret },
      'empty Basic secret': basic(bank.partner.clientId, ''),
      'unknown client': { client_id: `hbc_${bank.communityId}_0123456789abcdef`, client_secret: 'wrong' },
      'unknown community': { client_id: 'hbc_999_0123456789abcdef', client_secret: 'wrong' },
      'no client id at all': { client_id: 'bank', client_secret: 'wrong' },
      'revoked client, right secret': credentials(revoked),
      'revoked client, wrong secret': { client_id: revoked.clientId, client_secret: 'wrong' },
    }
    const seen = []
    for (const [guess, change] of Object.entries(guesses)) {
      const request: CallOptions =
        'authorization' in change
          ? { body: { grant_type: 'client_credentials' }, headers: change }
          : { body: { grant_type: 'client_credentials', ...change } }
      statements.length = 0
      const answer = await expectRefusal(bank, request, 401, 'invalid_client')
      const { request_id: _id, ...body } = answer.body
      const headers = Object.fromEntries([...answer.headers].filter(([name]) => !['date', 'request-id'].includes(name)))
      seen.push({ guess, body, headers, statements: [...statements] })
    }
    const [{ guess: _guess, ...pattern }] = seen as [(typeof seen)[0]]
    expect(pattern.statements).toHaveLength(1)
    for (const { guess, ...one } of seen) expect({ guess, ...one }).toEqual({ guess, ...pattern })
  })

  test('a suspended partner is told the reason only with the right secret', async () => {
    const bank = await startBank()
    await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
    const told = await expectRefusal(bank, tokenRequest(bank.partner), 401, 'invalid_client')
    expect(told.body.error_description).toContain('suspended')
    const guess = tokenRequest(bank.partner, { client_secret: 'wrong' })
    const notTold = await expectRefusal(bank, guess, 401, 'invalid_client')
    expect(notTold.body.error_description).not.toContain('suspended')
    const unknown = tokenRequest(bank.partner, { client_id: 'hbc_1_0123456789abcdef' })
    expect(notTold.body.error_description).toBe((await bank.call('/oauth/token', unknown)).body.error_description)
  })

  test('the allowlist applies at the token endpoint, but only callers with the secret learn of it', async () => {
    const bank = await startBank(BEHIND_PROXY)
    const partner = await bank.addPartner({ allowedNetworks: ['192.0.2.0/24', '2001:db8::/32'] })
    for (const address of ['192.0.2.7', '2001:db8::7', '::ffff:192.0.2.7']) {
      const { status } = await bank.call('/oauth/token', { ...tokenRequest(partner), headers: from(address) })
      expect({ address, status }).toEqual({ address, status: 200 })
    }
    for (const address of ['198.51.100.7', '2001:db9::7', '::ffff:198.51.100.7']) {
      const headers = from(address)
      await expectRefusal(bank, { ...tokenRequest(partner), headers }, 403, 'ip_not_allowed')
      const guess = tokenRequest(partner, { client_secret: 'wrong' })
      await expectRefusal(bank, { ...guess, headers }, 401, 'invalid_client')
    }
  })

  test('without a trusted proxy, callers cannot choose the address that is checked', async () => {
    const bank = await startBank()
    const partner = await bank.addPartner({ allowedNetworks: ['192.0.2.7'] })
    await expectRefusal(bank, { ...tokenRequest(partner), headers: from('192.0.2.7') }, 403, 'ip_not_allowed')
  })

  test('while the partner API is switched off, clients get the reason and Retry-After', async () => {
    const bank = await startBank()
    const token = await bank.token()
    const reason = 'Umzug: das "neue" Büro \\ Halle 3 öffnet am 3. – bis dann'
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason })
    // Of the two, the client was cached when it fetched its token.
    await eventually(async () => (await bank.call('/oauth/token', tokenRequest(bank.partner))).status === 503)
    await eventually(async () => (await bank.call('/users', { token })).status === 503)

    const refused = await expectRefusal(bank, tokenRequest(bank.partner), 503, 'partner_api_disabled')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // As near as ASCII comes to it.
    expect(refused.body.error_description).toContain("Umzug: das 'neue' Buro / Halle 3 offnet am 3. - bis dann")
    await expectRefusal(bank, tokenRequest(bank.partner, { client_secret: 'wrong' }), 401, 'invalid_client')

    const elsewhere = await bank.call('/users', { token })
    expect({ status: elsewhere.status, error: elsewhere.body.error }).toEqual({
      status: 503,
      error: 'partner_api_disabled',
    })
    expect(Number(elsewhere.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(elsewhere.body.error_description).toContain(reason)

    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: true })
    await eventually(async () => (await bank.call('/users', { token })).status === 200)
    expect((await bank.call('/oauth/token', tokenRequest(bank.partner))).status).toBe(200)
  })

  test('switching one community off does not affect others', async () => {
    const bank = await startBank()
    const neighbour = await bank.addPartner({}, await bank.addCommunity('village'))
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Moving house' })
    await expectRefusal(bank, tokenRequest(bank.partner), 503, 'partner_api_disabled')
    expect((await bank.call('/users', { token: await bank.token(undefined, neighbour) })).status).toBe(200)
  })

  test('rejected requests count against the rate limit, and a partner over its limit gets no token', async () => {
    const bank = await startBank()
    const partner = await bank.addPartner({ rateLimitPerMinute: 3 })
    const ask = () => bank.call('/oauth/token', tokenRequest(partner, { scope: 'no.such' }))
    for (const left of [2, 1, 0]) {
      const { status, headers } = await ask()
      expect({ status, policy: headers.get('ratelimit-policy') }).toEqual({ status: 400, policy: '"default";q=3;w=60' })
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${left};t=\\d+$`))
    }
    const refused = await expectRefusal(bank, tokenRequest(partner), 429, 'rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('issued tokens', () => {
  test('are stored as SHA-256 only, like secrets, and not logged', async () => {
    const lines: string[] = []
    const sink = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) })
    const bank = await startBank({ log: pino({ level: 'trace' }, sink) })
    const { clientId, clientSecret } = bank.partner
    const token = await bank.token()
    await bank.call('/users', { token })
    await bank.call('/nothing/here', { token })
    await bank.call(`/oauth/token?client_secret=${clientSecret}`, tokenRequest(bank.partner, { scope: token }))
    await bank.call('/oauth/token', tokenRequest(bank.partner, { client_secret: `${clientSecret}x` }))
    await bank.call('/oauth/revoke', { body: { token, ...credentials(bank.partner) } })
    await eventually(async () => {
      const [calls] = await bank.sql`select count(*)::int4 as n from call_log`
      return calls!.n === 6
    })

    const everything = await dumpAllTables(bank)
    expect(everything).toContain(clientId)
    expect(everything).toContain(createHash('sha256').update(token).digest('hex'))
    expect(everything).toContain(createHash('sha256').update(clientSecret).digest('hex'))
    for (const secret of [token, clientSecret]) {
      // Without prefix and checksum, and as bytes: what is random in it is nowhere.
      const random = secret.slice(-72, -8)
      for (const text of [everything, lines.join('')]) {
        expect(text).not.toContain(random)
        expect(text).not.toContain(Buffer.from(random).toString('hex'))
        expect(text).not.toContain(Buffer.from(random, 'hex').toString('base64'))
      }
    }
  })

  test('expire after 3600 seconds by the clock of the database', async () => {
    const bank = await startBank()
    const token = await bank.token()
    const [row] = await bank.sql`select extract(epoch from expires_at - issued_at)::int4 as lifetime from tokens`
    expect(row!.lifetime).toBe(3600)
    expect((await bank.call('/users', { token })).status).toBe(200)

    await bank.sql`update tokens set expires_at = now()`
    await announceChange(bank.sql, { communityId: bank.communityId })
    const expired = await eventually(async () => {
      const answer = await bank.call('/users', { token })
      return answer.status === 401 && answer
    })
    expect(expired.body).toMatchObject({
      error: 'invalid_token',
      error_description: expect.stringContaining('expired'),
    })
    expect(expired.headers.get('www-authenticate')).toBe('Bearer realm="hourbank", error="invalid_token"')
  })

  test('are all different and valid when a hundred are requested concurrently', async () => {
    const bank = await startBank()
    const tokens = await Promise.all(Array.from({ length: 100 }, () => bank.token('users.read')))
    expect(new Set(tokens).size).toBe(100)
    const statuses = await Promise.all(tokens.map(async (token) => (await bank.call('/users', { token })).status))
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

/** Every row of every table, as text. */
async function dumpAllTables({ sql }: Bank): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`
  const dumps = tables.map(({ name }) => sql.unsafe(`select string_agg(t::text, E'\n') as text from ${name} t`))
  return (await Promise.all(dumps)).map(([row]) => row!.text).join('\n')
}
