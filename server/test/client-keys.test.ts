import { createHmac, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SIGNING_ALGORITHMS } from '../src/crypto/public-keys.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { addKey, removeKey } from '../src/features/partners/change-keys.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { readPublicKey } from '../src/crypto/public-keys.ts'
import { callNode, eventually, startBank, startTestNode, TESTER } from './bank.ts'
import {
  addKeyClient,
  ASSERTION_TYPE,
  assertionOf,
  authenticationBy,
  newKey,
  present,
  seconds,
  type AssertionChanges,
} from './key-clients.ts'
import { basic, BEHIND_PROXY, FORM, from, tokenRequest } from './oauth.ts'
import { expectRefusal } from './token-requests.ts'

describe('an assertion', () => {
  test.each(SIGNING_ALGORITHMS)('signed with %s gets a token, as JSON and as a form', async (algorithm) => {
    const bank = await startBank()
    const client = await addKeyClient(bank, await newKey(algorithm))
    const answer = await present(bank.url, await assertionOf(bank.url, client))
    expect([answer.status, answer.body.token_type]).toEqual([200, 'Bearer'])
    expect((await bank.call('/users', { token: answer.body.access_token })).status).toBe(200)

    const parameters = { grant_type: 'client_credentials', scope: 'users.read', client_id: client.clientId }
    const form = new URLSearchParams({ ...parameters, ...authenticationBy(await assertionOf(bank.url, client)) })
    const byForm = await bank.call('/oauth/token', { body: `${form}`, headers: FORM })
    expect([byForm.status, byForm.body.scope]).toEqual([200, 'users.read'])
  })

  test('revokes a token', async () => {
    const bank = await startBank()
    const client = await addKeyClient(bank)
    const token = (await present(bank.url, await assertionOf(bank.url, client))).body.access_token
    const body = { token, ...authenticationBy(await assertionOf(bank.url, client)) }
    expect((await bank.call('/oauth/revoke', { body })).status).toBe(200)
    expect((await bank.call('/users', { token })).status).toBe(401)
  })

  test('may name the issuer, or both of our names, as its audience, and leave out iat', async () => {
    const bank = await startBank()
    const client = await addKeyClient(bank)
    const endpoint = `${bank.url}/api/partner/v1/oauth/token`
    for (const claims of [
      { aud: bank.url },
      { aud: [endpoint] },
      { aud: [bank.url, endpoint] },
      { iat: undefined },
      { nbf: seconds(0) },
      { exp: seconds(300) },
      // Within the leeway for clocks that differ.
      { exp: seconds(-10) },
      { iat: seconds(10), nbf: seconds(10) },
    ]) {
      const answer = await present(bank.url, await assertionOf(bank.url, client, { claims }))
      expect({ claims, status: answer.status }).toEqual({ claims, status: 200 })
    }
  })

  const WRONG: Record<string, AssertionChanges> = {
    'another issuer': { claims: { iss: 'somebody' } },
    'no issuer': { claims: { iss: undefined } },
    'no audience': { claims: { aud: undefined } },
    'an empty audience': { claims: { aud: [] } },
    'another audience': { claims: { aud: 'https://elsewhere.example' } },
    'no expiry': { claims: { exp: undefined } },
    'an expiry that has passed': { claims: { exp: seconds(-3600) } },
    'an expiry far ahead': { claims: { exp: seconds(3600) } },
    'an expiry beyond all numbers': { claims: { exp: 1e300 } },
    'an expiry that is text': { claims: { exp: `${seconds(60)}` } },
    'not before later': { claims: { nbf: seconds(3600) } },
    'issued in the future': { claims: { iat: seconds(3600) } },
    'issued long ago': { claims: { iat: seconds(-3600) } },
    'issued at a text': { claims: { iat: 'now' } },
    'no jti': { claims: { jti: undefined } },
    'an empty jti': { claims: { jti: '' } },
    'a jti that is no text': { claims: { jti: 7 } },
    'an unknown critical header': { header: { crit: ['urn:unknown'], 'urn:unknown': 1 } },
  }
  // Each from its own address, so that none is throttled.
  test('is rejected for each wrong claim, and all failures look alike', async () => {
    const statements: string[] = []
    const bank = await startBank({ ...BEHIND_PROXY, onStatement: (statement) => statements.push(statement) })
    const client = await addKeyClient(bank)
    const other = await addKeyClient(bank)
    const revoked = await addKeyClient(bank)
    await revokeClient(bank.sql, TESTER, revoked.clientId)
    const removed = await addKeyClient(bank)
    await removeKey(bank.sql, TESTER, removed.clientId, (await readPublicKey(removed.key.pem)).thumbprint)
    const stranger = await newKey()
    const right = await assertionOf(bank.url, client)
    const unknownId = `hbc_${bank.communityId}_0123456789abcdef`

    const guesses: Record<string, string> = {
      'another key': await assertionOf(bank.url, client, { key: stranger }),
      'the key of another client': await assertionOf(bank.url, client, { key: other.key }),
      'a key of another kind': await assertionOf(bank.url, client, { key: await newKey('EdDSA') }),
      'an unknown client': await assertionOf(bank.url, { ...client, clientId: unknownId }),
      'an unknown community': await assertionOf(bank.url, { ...client, clientId: 'hbc_999_0123456789abcdef' }),
      'no client id': await assertionOf(bank.url, { ...client, clientId: 'bank' }),
      'a client with a secret': await assertionOf(bank.url, { ...client, clientId: bank.partner.clientId }),
      'a revoked client': await assertionOf(bank.url, revoked),
      'a removed key': await assertionOf(bank.url, removed),
      'no subject': await assertionOf(bank.url, client, { claims: { sub: undefined } }),
      'another subject': await assertionOf(bank.url, client, { claims: { sub: other.clientId } }),
      'another audience beside ours': await assertionOf(bank.url, client, { claims: { aud: [bank.url, 'https://x'] } }),
      'no signature': unsigned(right, { alg: 'none' }, ''),
      'an HMAC with the public key': hmac(right, client.key.pem),
      'a changed payload': right.replace(/\.[^.]+\./, (part) => `.${part.slice(1, -1)}A.`),
      'a cut signature': right.slice(0, -4),
      nothing: 'x',
      dots: '..',
    }
    for (const [name, changes] of Object.entries(WRONG)) {
      guesses[name] = await assertionOf(bank.url, client, changes)
    }
    const seen = []
    for (const [n, [guess, assertion]] of Object.entries(guesses).entries()) {
      statements.length = 0
      const request = { body: { grant_type: 'client_credentials', ...authenticationBy(assertion) } }
      const answer = await expectRefusal(bank, { ...request, headers: from(`192.0.2.${n}`) }, 401, 'invalid_client')
      const { request_id: _id, ...body } = answer.body
      seen.push({ guess, body, statements: [...statements] })
    }
    const [{ guess: _guess, ...pattern }] = seen as [(typeof seen)[0]]
    expect(pattern.statements).toHaveLength(1)
    for (const { guess, ...one } of seen) expect({ guess, ...one }).toEqual({ guess, ...pattern })
    expect((await present(bank.url, right, '198.51.100.1')).status).toBe(200)
  })

  test('is accepted once, on whichever node and at whichever endpoint', async () => {
    const bank = await startBank()
    const second = await startTestNode(bank.databaseUrl, { config: { publicUrl: bank.url } })
    const secondUrl = `http://127.0.0.1:${second.node.port}`
    const client = await addKeyClient(bank)
    const assertion = await assertionOf(bank.url, client)
    const answers = await Promise.all([bank.url, secondUrl, bank.url, secondUrl].map((url) => present(url, assertion)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401])
    const revocation = { body: { token: 'x', ...authenticationBy(assertion) } }
    expect((await callNode(secondUrl, '/oauth/revoke', revocation)).status).toBe(401)

    const [other, jti] = [await addKeyClient(bank), randomUUID()]
    for (const one of [client, other]) {
      const sameId = await assertionOf(bank.url, one, { claims: { jti } })
      expect((await present(secondUrl, sameId)).status).toBe(200)
    }
  })

  test('is stored only within the rate limit, and a replay is rejected again when calls are left', async () => {
    const bank = await startBank(BEHIND_PROXY)
    const client = await addKeyClient(bank)
    const limit = async (rateLimitPerMinute: number) => {
      await changePartner(bank.sql, TESTER, bank.communityId, client.partnerId, {
        rate_limit_per_minute: rateLimitPerMinute,
      })
      await eventually(async () => {
        const { headers } = await present(bank.url, await assertionOf(bank.url, client))
        return headers.get('ratelimit-policy')?.includes(`q=${rateLimitPerMinute};`) ?? false
      })
    }
    const stored = () => bank.sql`select from client_assertions where community_id = ${bank.communityId}`
    const used = await assertionOf(bank.url, client)
    expect((await present(bank.url, used)).status).toBe(200)
    await limit(1)
    const { length } = await stored()
    const fresh = await Promise.all([1, 2, 3, 4, 5].map(() => assertionOf(bank.url, client)))
    for (const assertion of fresh) expect((await present(bank.url, assertion)).status).toBe(429)
    const revocation = { body: { token: 'x', ...authenticationBy(await assertionOf(bank.url, client)) } }
    expect((await bank.call('/oauth/revoke', revocation)).status).toBe(429)
    expect(await stored()).toHaveLength(length)
    expect((await present(bank.url, used)).status).toBe(429)

    await limit(1000)
    expect((await present(bank.url, used)).status).toBe(401)
    const twice = [fresh[0]!, fresh[0]!].map((assertion) => present(bank.url, assertion))
    expect((await Promise.all(twice)).map(({ status }) => status).toSorted()).toEqual([200, 401])
  })

  test('is throttled like a wrong secret', async () => {
    const bank = await startBank(BEHIND_PROXY)
    const client = await addKeyClient(bank)
    const wrong = await assertionOf(bank.url, client, { key: await newKey() })
    for (let count = 0; count < 10; count++) expect((await present(bank.url, wrong)).status).toBe(401)
    expect((await present(bank.url, wrong)).status).toBe(429)
    expect((await present(bank.url, await assertionOf(bank.url, client))).status).toBe(429)
    expect((await present(bank.url, await assertionOf(bank.url, client), '198.51.100.1')).status).toBe(200)
  })

  test('goes alone: two ways of authentication are 400, and so is half of one', async () => {
    const bank = await startBank()
    const client = await addKeyClient(bank)
    const { clientId } = client
    const grant = { grant_type: 'client_credentials' }
    const by = async () => authenticationBy(await assertionOf(bank.url, client))
    const refuse = (body: object, status: number, error: string, headers = {}) =>
      expectRefusal(bank, { body: { ...grant, ...body }, headers }, status, error)
    await refuse({ ...(await by()), client_secret: 'x' }, 400, 'invalid_request')
    await refuse(await by(), 400, 'invalid_request', basic(clientId, 'x'))
    await refuse({ client_assertion: (await by()).client_assertion }, 400, 'invalid_request')
    await refuse({ client_assertion_type: ASSERTION_TYPE }, 400, 'invalid_request')
    await refuse({ ...(await by()), client_assertion_type: 'urn:other' }, 401, 'invalid_client')
    await refuse({ ...(await by()), client_id: bank.partner.clientId }, 401, 'invalid_client')
    expect((await bank.call('/oauth/token', { body: { ...grant, ...(await by()), client_id: clientId } })).status).toBe(
      200,
    )
  })
})

describe('a client with a key', () => {
  test('has no secret that works, not even one that stands in its row', async () => {
    const bank = await startBank()
    const { clientId } = await addKeyClient(bank)
    await bank.sql`
      update clients set secret_hash = sha256('known'), previous_secret_hash = sha256('known'),
        previous_secret_until = now() + interval '1 day'
      where public_id = ${clientId}`
    const guess = tokenRequest(bank.partner, { client_id: clientId, client_secret: 'known' })
    await expectRefusal(bank, guess, 401, 'invalid_client')
    await bank.sql`update clients set authentication = 'secret' where public_id = ${clientId}`
    expect((await bank.call('/oauth/token', guess)).status).toBe(200)
  })

  test('changes over with two keys, and the old one ends at once on every node', async () => {
    const bank = await startBank(BEHIND_PROXY)
    const second = await startTestNode(bank.databaseUrl, { config: { ...BEHIND_PROXY.config, publicUrl: bank.url } })
    const secondUrl = `http://127.0.0.1:${second.node.port}`
    const client = await addKeyClient(bank)
    const [old, next] = [client.key, await newKey('Ed25519')]
    const statuses = async () =>
      Promise.all(
        [bank.url, secondUrl].flatMap((url) =>
          [old, next].map(async (key) => (await present(url, await assertionOf(bank.url, client, { key }))).status),
        ),
      )
    expect(await statuses()).toEqual([200, 401, 200, 401])
    // As Web Crypto exports it (RFC 9864).
    const exported = JSON.stringify({ ...next.jwk, alg: 'Ed25519' })
    await addKey(bank.sql, TESTER, client.clientId, await readPublicKey(exported))
    expect(await statuses()).toEqual([200, 200, 200, 200])
    await removeKey(bank.sql, TESTER, client.clientId, (await readPublicKey(old.pem)).thumbprint)
    expect(await statuses()).toEqual([401, 200, 401, 200])
  })

  test('learns that its partner is suspended, and loses its tokens when it is revoked', async () => {
    const bank = await startBank(BEHIND_PROXY)
    const client = await addKeyClient(bank)
    const token = (await present(bank.url, await assertionOf(bank.url, client))).body.access_token
    await changePartner(bank.sql, TESTER, bank.communityId, client.partnerId, { status: 'suspended' })
    const told = await present(bank.url, await assertionOf(bank.url, client))
    expect([told.status, told.body.error_description]).toEqual([401, 'The partner is suspended.'])
    const guess = await present(bank.url, await assertionOf(bank.url, client, { key: await newKey() }))
    expect([guess.status, guess.body.error_description]).toEqual([401, 'Client authentication failed.'])
    await changePartner(bank.sql, TESTER, bank.communityId, client.partnerId, { status: 'active' })
    await eventually(async () => (await bank.call('/users', { token })).status === 200)
    await revokeClient(bank.sql, TESTER, client.clientId)
    await eventually(async () => (await bank.call('/users', { token })).status === 401)
    expect((await present(bank.url, await assertionOf(bank.url, client))).status).toBe(401)
  })
})

/** With another header and signature. */
function unsigned(assertion: string, header: object, signature: string): string {
  const [, payload] = assertion.split('.')
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`
}

/** The classic confusion: the verifier takes the public key for a shared secret. */
function hmac(assertion: string, pem: string): string {
  const signed = unsigned(assertion, { alg: 'HS256' }, '').slice(0, -1)
  return `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`
}
