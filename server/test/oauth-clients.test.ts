import { createRequire } from 'node:module'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, test } from 'vitest'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { callNode, eventually, startBank, startTestNode, TESTER, type Bank } from './bank.ts'
import { newDatabase } from './database.ts'
import { addKeyClient, newKey } from './key-clients.ts'

/*
 * What partners' developers take off the shelf, unmodified. Plain http is allowed to them because the test has no
 * certificate; nothing else is set beside what a partner would set.
 */

const statusOf = async (bank: Bank, token: string) => (await bank.call('/users', { token })).status

test('the metadata document names issuer, endpoints and what they take (RFC 8414)', async () => {
  const publicUrl = 'https://hours.example.org'
  const { config } = await startTestNode(await newDatabase(), { config: { publicUrl } })
  const address = `http://127.0.0.1:${config.port}`
  const { status, headers, body } = await callNode(address, '/.well-known/oauth-authorization-server')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('api-version')).toBe('2.0')
  expect(headers.get('request-id')).toBeTruthy()
  const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
  const algorithms = ['ES256', 'Ed25519', 'EdDSA', 'PS256', 'RS256']
  expect(body).toEqual({
    issuer: publicUrl,
    token_endpoint: `${publicUrl}/api/partner/v1/oauth/token`,
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint: `${publicUrl}/api/partner/v1/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    scopes_supported: SCOPE_NAMES,
    service_documentation: expect.stringContaining(publicUrl),
  })
})

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true }

  async function discover(bank: Bank): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(bank.url)
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
    return oauth.processDiscoveryResponse(issuer, response)
  }

  const { ClientSecretBasic, ClientSecretPost } = oauth
  test.each([
    ['Basic', ClientSecretBasic],
    ['body', ClientSecretPost],
  ])('gets, uses and revokes a token (credentials by %s)', async (_way, authenticate) => {
    const bank = await startBank()
    const server = await discover(bank)
    const client = { client_id: bank.partner.clientId }
    const authentication = authenticate(bank.partner.clientSecret)
    const request = () =>
      oauth.clientCredentialsGrantRequest(server, client, authentication, { scope: 'users.read wallet.read' }, insecure)

    const answer = await oauth.processClientCredentialsResponse(server, client, await request())
    expect(answer).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'users.read wallet.read' })
    const users = new URL(`${bank.url}/api/partner/v1/users`)
    const use = () => oauth.protectedResourceRequest(answer.access_token, 'GET', users, undefined, undefined, insecure)
    expect((await use()).status).toBe(200)

    const revocation = await oauth.revocationRequest(server, client, authentication, answer.access_token, insecure)
    expect(await oauth.processRevocationResponse(revocation)).toBeUndefined()
    const refused = await use().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
    expect((refused as oauth.WWWAuthenticateChallengeError).cause).toEqual([
      { scheme: 'bearer', parameters: { realm: 'hourbank', error: 'invalid_token' } },
    ])
  })

  test.each(['ES256', 'PS256', 'RS256'] as const)('authenticates with a private key (%s)', async (algorithm) => {
    const bank = await startBank()
    const server = await discover(bank)
    const { clientId: client_id, key } = await addKeyClient(bank, await newKey(algorithm))
    const client = { client_id }
    const authentication = oauth.PrivateKeyJwt({ key: key.privateKey, kid: 'any' })
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, insecure)
    const answer = await oauth.processClientCredentialsResponse(server, client, response)
    expect(await statusOf(bank, answer.access_token)).toBe(200)
    const revocation = await oauth.revocationRequest(server, client, authentication, answer.access_token, insecure)
    expect(await oauth.processRevocationResponse(revocation)).toBeUndefined()
    expect(await statusOf(bank, answer.access_token)).toBe(401)
  })

  test('reads every refusal as what it is', async () => {
    const bank = await startBank({ scopes: ['users.read'] })
    const server = await discover(bank)
    const client = { client_id: bank.partner.clientId }
    const refusal = async (secret: string, scope: string) => {
      const authentication = oauth.ClientSecretPost(secret)
      const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, { scope }, insecure)
      return oauth.processClientCredentialsResponse(server, client, response).catch((error: unknown) => error)
    }
    const { clientSecret } = bank.partner
    const notAllowed = await refusal(clientSecret, 'wallet.read')
    expect(notAllowed).toBeInstanceOf(oauth.ResponseBodyError)
    expect(notAllowed).toMatchObject({ error: 'invalid_scope', status: 400, error_description: expect.any(String) })
    const wrongSecret = await refusal('wrong', 'users.read')
    expect(wrongSecret).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
    expect(wrongSecret).toMatchObject({ status: 401, cause: [{ scheme: 'basic', parameters: { realm: 'hourbank' } }] })

    await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'Moving house' })
    await eventually(async () => {
      const off = (await refusal(clientSecret, 'users.read')) as { cause?: unknown }
      return off.cause instanceof Response && off.cause.status === 503
    })
  })
})

/** What openid-client does first: it reads the metadata document. */
function configure({ url, partner }: Bank, secret = partner.clientSecret): Promise<openid.Configuration> {
  return openid.discovery(new URL(url), partner.clientId, secret, undefined, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  })
}

describe('openid-client', () => {
  test('discovers the service, gets, uses and revokes a token', async () => {
    const bank = await startBank()
    const config = await configure(bank)
    const answer = await openid.clientCredentialsGrant(config, { scope: 'users.read' })
    expect(answer).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'users.read' })
    expect(answer.expiresIn()).toBeGreaterThan(3590)
    const users = new URL(`${bank.url}/api/partner/v1/users`)
    expect((await openid.fetchProtectedResource(config, answer.access_token, users, 'GET')).status).toBe(200)
    await openid.tokenRevocation(config, answer.access_token)
    expect(await statusOf(bank, answer.access_token)).toBe(401)
    await openid.tokenRevocation(config, answer.access_token)
  })

  test('with no scope it gets all that the client may have', async () => {
    const bank = await startBank({ scopes: ['wallet.read', 'users.read'] })
    expect(await openid.clientCredentialsGrant(await configure(bank))).toMatchObject({
      scope: 'users.read wallet.read',
    })
  })

  test('reads every refusal as what it is', async () => {
    const bank = await startBank()
    const other = await bank.addPartner()
    const config = await configure(bank)
    await expect(openid.clientCredentialsGrant(config, { scope: 'no.such' })).rejects.toMatchObject({
      error: 'invalid_scope',
      status: 400,
    })
    await expect(openid.genericGrantRequest(config, 'password', {})).rejects.toMatchObject({
      error: 'unsupported_grant_type',
    })
    await expect(openid.clientCredentialsGrant(await configure(bank, 'wrong'))).rejects.toMatchObject({ status: 401 })
    const others = await bank.token(undefined, other)
    await expect(openid.tokenRevocation(config, others)).rejects.toMatchObject({
      error: 'invalid_request',
      status: 400,
    })
    expect(await statusOf(bank, others)).toBe(200)
  })
})

/** The error of simple-oauth2, with our body in it. */
function boom(statusCode: number, error: string) {
  const payload = { error, error_description: expect.any(String), request_id: expect.any(String) }
  return { output: { statusCode }, data: { payload } }
}

describe('simple-oauth2', () => {
  // It ships no types; this is what the tests use of it.
  interface SimpleToken {
    token: { access_token: string; token_type: string; expires_in: number; scope: string; expires_at: Date }
    expired(): boolean
    revoke(kind: 'access_token'): Promise<unknown>
  }
  interface SimpleClient {
    getToken(params: { scope?: string | string[] }): Promise<SimpleToken>
  }
  const { ClientCredentials } = createRequire(import.meta.url)('simple-oauth2') as {
    ClientCredentials: new (config: object) => SimpleClient
  }

  const connect = ({ url, partner }: Bank, options = {}, secret = partner.clientSecret) =>
    new ClientCredentials({
      client: { id: partner.clientId, secret },
      auth: {
        tokenHost: url,
        tokenPath: '/api/partner/v1/oauth/token',
        revokePath: '/api/partner/v1/oauth/revoke',
      },
      options,
    })

  test('gets, uses and revokes tokens, however it is set up', async () => {
    const bank = await startBank()
    for (const options of [
      {},
      { authorizationMethod: 'header', bodyFormat: 'json' },
      { authorizationMethod: 'body', bodyFormat: 'form' },
      { authorizationMethod: 'body', bodyFormat: 'json' },
      { authorizationMethod: 'header', credentialsEncodingMode: 'loose' },
    ]) {
      const answer = await connect(bank, options).getToken({ scope: ['users.read', 'wallet.read'] })
      expect(answer.token).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'users.read wallet.read' })
      expect(answer.expired()).toBe(false)
      expect(await statusOf(bank, answer.token.access_token)).toBe(200)
      await answer.revoke('access_token')
      expect(await statusOf(bank, answer.token.access_token)).toBe(401)
    }
  })

  test('reads every refusal as what it is', async () => {
    const bank = await startBank()
    await expect(connect(bank).getToken({ scope: 'no.such' })).rejects.toMatchObject(boom(400, 'invalid_scope'))
    await expect(connect(bank, {}, 'wrong').getToken({})).rejects.toMatchObject(boom(401, 'invalid_client'))
  })
})
