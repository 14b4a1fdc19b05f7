import { beforeEach, describe, expect, test } from 'vitest'
import { hashSecret } from '../src/crypto/secrets.ts'
import { createClient } from '../src/features/partners/create-client.ts'
import { announceChange } from './announce.ts'
import { startBank, TESTER, type Bank, type CallOptions } from './bank.ts'
import { basic, credentials, FORM, formEncode, tokenRequest } from './oauth.ts'
import { expectFrame, expectRefusal } from './token-requests.ts'

function encoded(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
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

  test('two methods of client authentication in one request are rejected, even if both are right', async () => {
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

  test('a token in the header is not client authentication, and does not interfere with it', async () => {
    const bank = await startBank()
    const headers = { authorization: `Bearer ${await bank.token()}` }
    const body = { grant_type: 'client_credentials', ...credentials(bank.partner) }
    const { status, body: issued } = await bank.call('/oauth/token', { body, headers })
    expect(status).toBe(200)
    const revoked = { ...credentials(bank.partner), token: issued.access_token }
    expect((await bank.call('/oauth/revoke', { body: revoked, headers })).status).toBe(200)
    expect((await bank.call('/users', { token: issued.access_token })).status).toBe(401)
    await expectRefusal(bank, { body: { grant_type: 'client_credentials' }, headers }, 401, 'invalid_client')
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
      { ...tokenRequest(bank.partner), headers: { authorization: 'Digest username="x"' } },
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
    // RFC 6749 5.2: the grant type is reported to authenticated clients only.
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

  test('a body that is not a form or a JSON object of texts is an invalid request, never 422', async () => {
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

  test('other content types get 415, and a body that is too large gets 413', async () => {
    const { body } = tokenRequest(bank.partner)
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense']) {
      await expectRefusal(bank, { body, headers: { 'content-type': type } }, 415, 'unsupported_media_type')
    }
    const tooLarge = tokenRequest(bank.partner, { extension: 'x'.repeat(64 * 1024) })
    await expectRefusal(bank, tooLarge, 413, 'payload_too_large')
  })

  test('any invalid client id or secret is a failed authentication, whatever its characters', async () => {
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

  test('scopes that the client may not have are left out, and the response lists those granted', async () => {
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
