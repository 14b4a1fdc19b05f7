import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { hashSecret } from '../src/crypto/secrets.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { createClient } from '../src/features/partners/create-client.ts'
import { announceChange } from './announce.ts'
import { eventually, startBank, TESTER, type Answer, type Bank, type CallOptions } from './bank.ts'
import { basic, BEHIND_PROXY, credentials, FORM, formEncode, from, tokenRequest } from './oauth.ts'

/** RFC 6749 5.2: what an error_description may hold. */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** What holds for every answer of the endpoint, success or not. */
function expectFrame({ headers, body }: Answer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('api-version')).toBe('2.0')
  expect(headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
  if (body.error === undefined) return
  expect(body.error_description).toMatch(DESCRIPTION)
  expect(body.request_id).toBe(headers.get('request-id'))
}

function encoded(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

async function expectRefusal(bank: Bank, request: CallOptions, status: number, error: string): Promise<Answer> {
  const answer = await bank.call('/oauth/token', { method: 'POST', ...request })
  expect({ status: answer.status, error: answer.body.error, request }).toEqual({ status, error, request })
  expectFrame(answer)
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="hourbank"' : null)
  return answer
}

describe('ways of asking', () => {
  test('a token is issued for JSON, form and Basic, with the headers of RFC 6749, and opens the API', async () => {
    const bank = await startBank()
    const { client_id, client_secret } = credentials(bank.partner)
    const grant_type = 'client_credentials'
    const ways: CallOptions[] = [
      { body: { grant_type, client_id, client_secret } },
      {
        body: { grant_type, client_id, client_secret },
        headers: { 'content-type': 'application/json; charset=utf-8' },
      },
      { body: `${new URLSearchParams({ grant_type, client_id, client_secret })}`, headers: FORM },
      {
        body: `${new URLSearchParams({ grant_type, client_id, client_secret })}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
      },
      { body: 'grant_type=client_credentials', headers: { ...FORM, ...basic(client_id, client_secret) } },
      { body: { grant_type }, headers: basic(client_id, client_secret) },
      // RFC 6749 3.2.1: the id may stand in the body, too, as long as it is the same.
      { body: { grant_type, client_id }, headers: basic(client_id, client_secret) },
      { body: { grant_type, an_extension: [1] }, headers: basic(client_id, client_secret) },
      {
        body: { grant_type },
        headers: { authorization: basic(client_id, client_secret).authorization.replace('Basic', 'bASIC') },
      },
    ]
    for (const way of ways) {
      const answer = await bank.call('/oauth/token', way)
      expect({ way, status: answer.status }).toEqual({ way, status: 200 })
      expectFrame(answer)
      expect(answer.body).toEqual({
        access_token: expect.stringMatching(/^hbt_\d+_[0-9a-f]{72}$/),
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'users.read users.pii listings.read wallet.read wallet.write aggregates.read webhooks.manage',
      })
      expect((await bank.call('/users', { token: answer.body.access_token })).status).toBe(200)
    }
  })

  test('in Basic, id and secret are form-decoded after base64, so that a secret may hold any character', async () => {
    const bank = await startBank()
    const { clientId } = bank.partner
    const secret = 'p ss:w+rd%&=/"\\é🕰'
    await bank.sql`update clients set secret_hash = ${hashSecret(secret)} where public_id = ${clientId}`
    await announceChange(bank.sql, { communityId: bank.communityId })

    const body = { grant_type: 'client_credentials' }
    const ask = async (id: string, password: string) =>
      (await bank.call('/oauth/token', { body, headers: basic(id, password) })).status
    expect(await ask(clientId, formEncode(secret))).toBe(200)
    expect(await ask(clientId, encodeURIComponent(secret))).toBe(200)
    expect(await ask(clientId.replaceAll('_', '%5F'), formEncode(secret))).toBe(200)
    expect(await ask(clientId, formEncode(secret).replaceAll('+', '%2B'))).toBe(401)
    // A client that does not encode breaks off at its percent sign, and is told so.
    expect(await ask(clientId, secret)).toBe(400)
  })

  test('two ways of client authentication at once are refused, even when both are right', async () => {
    const bank = await startBank()
    const other = await bank.addPartner()
    const { client_id, client_secret } = credentials(bank.partner)
    const headers = basic(client_id, client_secret)
    const grant_type = 'client_credentials'
    for (const body of [
      { grant_type, client_id, client_secret },
      { grant_type, client_secret },
      { grant_type, client_id: other.clientId },
    ]) {
      await expectRefusal(bank, { body, headers }, 400, 'invalid_request')
    }
  })

  test('a malformed Authorization header is an invalid request', async () => {
    const bank = await startBank()
    const { client_id, client_secret } = credentials(bank.partner)
    for (const authorization of [
      'Basic',
      'Basic ',
      'Basic ???',
      `Basic ${client_id}:${client_secret}`,
      `${basic(client_id, client_secret).authorization} again`,
      `${basic(client_id, client_secret).authorization},Basic`,
      encoded(client_id),
      encoded(''),
      encoded(`${client_id}:%E0%A4%A`),
      encoded(`%:${client_secret}`),
    ]) {
      await expectRefusal(
        bank,
        { body: { grant_type: 'client_credentials' }, headers: { authorization } },
        400,
        'invalid_request',
      )
    }
  })

  test('any other scheme is no client authentication: 401 with a challenge for Basic', async () => {
    const bank = await startBank()
    const token = await bank.token()
    for (const authorization of [`Bearer ${token}`, 'Digest username="x"', 'Negotiate abc', '']) {
      await expectRefusal(
        bank,
        { body: { grant_type: 'client_credentials' }, headers: { authorization } },
        401,
        'invalid_client',
      )
    }
    await expectRefusal(
      bank,
      { ...tokenRequest(bank.partner), headers: { authorization: `Bearer ${token}` } },
      401,
      'invalid_client',
    )
  })
})

describe('malformed requests', () => {
  let bank: Bank
  let id: string
  let secret: string
  beforeEach(async () => {
    bank = await startBank()
    ;({ clientId: id, clientSecret: secret } = bank.partner)
  })

  test('grant_type must be there, and be client_credentials', async () => {
    const ask = (grant_type: unknown) => tokenRequest(bank.partner, { grant_type })
    await expectRefusal(bank, ask(undefined), 400, 'invalid_request')
    await expectRefusal(bank, ask(''), 400, 'invalid_request')
    for (const other of [
      'authorization_code',
      'password',
      'refresh_token',
      'Client_Credentials',
      'client_credentials ',
    ]) {
      await expectRefusal(bank, ask(other), 400, 'unsupported_grant_type')
    }
    // RFC 6749 5.2 tells of the grant type only to whoever is a client.
    await expectRefusal(bank, { body: { grant_type: 'password' } }, 401, 'invalid_client')
  })

  test('an empty parameter counts as absent', async () => {
    const whole = await bank.call('/oauth/token', tokenRequest(bank.partner, { scope: '' }))
    expect(whole.body.scope.split(' ')).toHaveLength(7)
    for (const body of [
      'grant_type=client_credentials&client_id=&client_secret=&scope=',
      'grant_type=client_credentials&scope',
    ]) {
      const { status } = await bank.call('/oauth/token', { body, headers: { ...FORM, ...basic(id, secret) } })
      expect(status).toBe(200)
    }
    await expectRefusal(bank, tokenRequest(bank.partner, { client_secret: '' }), 401, 'invalid_client')
    await expectRefusal(bank, tokenRequest(bank.partner, { client_id: '' }), 401, 'invalid_client')
  })

  test('credentials that are missing in part or altogether are no authentication', async () => {
    for (const change of [{ client_id: undefined }, { client_secret: undefined }]) {
      await expectRefusal(bank, tokenRequest(bank.partner, change), 401, 'invalid_client')
    }
    await expectRefusal(bank, { body: { grant_type: 'client_credentials' } }, 401, 'invalid_client')
    // RFC 6749 2.3.1: never in the address.
    const inQuery = `/oauth/token?${new URLSearchParams({ client_id: id, client_secret: secret })}`
    const { status } = await bank.call(inQuery, { body: { grant_type: 'client_credentials' } })
    expect(status).toBe(401)
  })

  test('a form with a repeated parameter or a broken escape is an invalid request', async () => {
    const right = `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`
    for (const body of [
      `${right}&grant_type=client_credentials`,
      `${right}&client_id=${id}`,
      `${right}&scope=users.read&scope=wallet.read`,
      `${right}&scope=&scope=wallet.read`,
      `${right}&%73cope=users.read&scope=users.read`,
      `${right}&extension=1&extension=2`,
      `${right}&scope=%`,
      `${right}&scope=%zz`,
      `${right}&scope=%ff`,
      `${right}&%`,
    ]) {
      await expectRefusal(bank, { body, headers: FORM }, 400, 'invalid_request')
    }
  })

  test('a body that is no form or JSON object of texts is an invalid request, never 422', async () => {
    const json = { 'content-type': 'application/json' }
    const right = JSON.stringify(tokenRequest(bank.partner).body)
    const bodies = [
      '',
      ' ',
      '{',
      right.slice(0, -1),
      `${right}}`,
      `${right},`,
      'grant_type=client_credentials',
      '\0',
      '{"__proto__":{}}',
    ]
    const values = [[], [{}], null, 7, 'client_credentials', true]
    const wrongTypes = [
      { grant_type: 1 },
      { grant_type: ['client_credentials'] },
      { client_id: 1 },
      { client_id: null },
      { client_secret: {} },
      { client_secret: true },
      { scope: ['users.read'] },
      { scope: null },
      { scope: 0 },
    ]
    for (const body of [
      ...bodies,
      ...values.map((value) => JSON.stringify(value)),
      ...wrongTypes.map((change) => JSON.stringify(tokenRequest(bank.partner, change).body)),
    ]) {
      await expectRefusal(bank, { body, headers: json }, 400, 'invalid_request')
    }
    // With Basic, a wrong body is no better.
    await expectRefusal(bank, { body: '[]', headers: { ...json, ...basic(id, secret) } }, 400, 'invalid_request')
  })

  test('a request without a body is an invalid request, however it authenticates', async () => {
    await expectRefusal(bank, {}, 400, 'invalid_request')
    await expectRefusal(bank, { headers: FORM }, 400, 'invalid_request')
    await expectRefusal(bank, { headers: basic(id, secret) }, 400, 'invalid_request')
    await expectRefusal(bank, { headers: { ...FORM, ...basic(id, secret) } }, 400, 'invalid_request')
  })

  test('other content types are refused as such, and too large a body as that', async () => {
    const { body } = tokenRequest(bank.partner)
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense']) {
      await expectRefusal(bank, { body, headers: { 'content-type': type } }, 415, 'unsupported_media_type')
    }
    const tooLarge = tokenRequest(bank.partner, { extension: 'x'.repeat(64 * 1024) })
    await expectRefusal(bank, tooLarge, 413, 'payload_too_large')
  })

  test('whatever a client id or secret holds, it is a failed authentication and nothing worse', async () => {
    for (const strange of [
      '\0',
      'a\0b',
      `${id}\0`,
      '\ud800',
      '🕰',
      "' or 1=1 --",
      'x'.repeat(30_000),
      'hbc_9999999999999999_0123456789abcdef',
    ]) {
      await expectRefusal(bank, tokenRequest(bank.partner, { client_id: strange }), 401, 'invalid_client')
      const other = await bank.addPartner()
      await expectRefusal(bank, tokenRequest(other, { client_secret: strange }), 401, 'invalid_client')
    }
  })
})

describe('scopes', () => {
  test('omitted, the scope is all that the client may have', async () => {
    const bank = await startBank({ scopes: ['wallet.write', 'users.read'] })
    const { body } = await bank.call('/oauth/token', tokenRequest(bank.partner))
    expect(body.scope).toBe('users.read wallet.write')
  })

  test('what the client may not have is left out, and the answer says what was granted', async () => {
    const bank = await startBank({ scopes: ['users.read', 'wallet.read'] })
    const ask = async (scope: string) => (await bank.call('/oauth/token', tokenRequest(bank.partner, { scope }))).body
    expect(await ask('users.read users.pii wallet.write')).toMatchObject({ scope: 'users.read' })
    expect(await ask('wallet.read users.read')).toMatchObject({ scope: 'users.read wallet.read' })
    expect(await ask('  users.read   users.read  wallet.read ')).toMatchObject({ scope: 'users.read wallet.read' })

    const narrow = await ask('wallet.read')
    expect((await bank.call('/users', { token: narrow.access_token })).status).toBe(403)
  })

  test('a client has at most what its partner has', async () => {
    const bank = await startBank({ scopes: ['users.read', 'wallet.read'] })
    const client = await createClient(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, {
      name: 'reader',
      scopes: ['users.read'],
    })
    const { body } = await bank.call('/oauth/token', tokenRequest({ ...bank.partner, ...client }))
    expect(body.scope).toBe('users.read')
  })

  test('a scope that does not exist is invalid, and so is a request of which nothing is left', async () => {
    const bank = await startBank({ scopes: ['users.read'] })
    for (const scope of [
      'users.write',
      'users.read users.write',
      'USERS.READ',
      'users.read,users.pii',
      'users.read\tusers.pii',
      'toString',
      '"',
      'wallet.read',
      'users.pii listings.read',
    ]) {
      await expectRefusal(bank, tokenRequest(bank.partner, { scope }), 400, 'invalid_scope')
    }
  })
})

describe('who is refused, and what they learn', () => {
  test('unknown client, wrong secret and revoked client look alike: body, headers, work for the database', async () => {
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

  test('a suspended partner is told so, but only with the right secret', async () => {
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

  test('the allowlist holds here too, but nobody without the secret learns of it', async () => {
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

  test('without a trusted proxy nobody chooses the address they are judged by', async () => {
    const bank = await startBank()
    const partner = await bank.addPartner({ allowedNetworks: ['192.0.2.7'] })
    await expectRefusal(bank, { ...tokenRequest(partner), headers: from('192.0.2.7') }, 403, 'ip_not_allowed')
  })

  test('while the administrator has switched the partner API off, clients are told why and when to come back', async () => {
    const bank = await startBank()
    const token = await bank.token()
    const reason = 'Umzug: das "neue" Büro \\ Halle 3 öffnet am 3. – bis dann'
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason })
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

  test('one community switched off leaves the others on', async () => {
    const bank = await startBank()
    const neighbour = await bank.addPartner({}, await bank.addCommunity('village'))
    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Moving house' })
    await expectRefusal(bank, tokenRequest(bank.partner), 503, 'partner_api_disabled')
    expect((await bank.call('/users', { token: await bank.token(undefined, neighbour) })).status).toBe(200)
  })

  test('refused requests count against the partner, and a partner over its limit gets no token', async () => {
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

describe('what is kept', () => {
  test('neither tokens nor secrets are stored or logged, only SHA-256 of them', async () => {
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

  test('a token ends after its 3600 seconds, by the clock of the database', async () => {
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

  test('a hundred tokens at once are a hundred different tokens, each of which works', async () => {
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
