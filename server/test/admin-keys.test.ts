import { generateKeyPairSync } from 'node:crypto'
import { writeFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { addAdmin } from './admin.ts'
import { startBank } from './bank.ts'
import { run } from './commands.ts'
import { assertionOf, newKey, present, type TestKey } from './key-clients.ts'
import { lastAudit, makePartner, tryToken } from './partner-forms.ts'

const thumbprintOf = (key: TestKey) => calculateJwkThumbprint(key.jwk)
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
const rsa = (bits: number, exponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength: bits, publicExponent: exponent }).publicKey
/** RFC 8037, appendix A. */
const RFC_8037_KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }

describe('a client with a key, in the console', () => {
  test('is made with its partner, shows the thumbprint and has no secret', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const key = await newKey()
    const made = await makePartner(owner, { public_key: key.pem })
    expect(made).toEqual({ ...made, client_secret: undefined, token_url: expect.any(String) })
    expect('client_secret' in made).toBe(false)
    const detail = { client_id: made.client_id, thumbprint: await thumbprintOf(key) }
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.created', detail })
    const client = { partnerId: made.partner_id, clientId: made.client_id, key }
    expect((await present(bank.url, await assertionOf(bank.url, client))).status).toBe(200)

    const { clients } = (await owner.call(`/partners/${made.partner_id}`)).body.data
    expect(clients).toMatchObject([
      {
        authentication: 'keys',
        keys: [{ thumbprint: await thumbprintOf(key), kty: 'EC', created_at: TIME }],
        jwks_url: null,
        secret_last_four: '',
      },
    ])
    const refused = await owner.call(`/clients/${made.client_id}/rotate`, { body: { grace: 'none' } })
    expect(refused.body).toMatchObject({
      error: 'refused',
      error_description: expect.stringContaining('registered keys'),
    })
  })

  test('has two keys at most, each registered once; one is removed at once', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const keys = [await newKey(), await newKey('RS256'), await newKey('EdDSA')] as const
    const path = `/partners/${bank.partner.partnerId}/clients`
    const { client_id } = (
      await owner.call(path, { body: { name: 'Signed', public_key: JSON.stringify(keys[0].jwk) } })
    ).body.data
    const add = (key: TestKey) => owner.call(`/clients/${client_id}/keys`, { body: { public_key: key.pem } })
    const remove = (thumbprint: string) => owner.call(`/clients/${client_id}/keys/${thumbprint}`, { method: 'DELETE' })
    const shown = async () => (await owner.call(`/partners/${bank.partner.partnerId}`)).body.data.clients[0].keys

    expect((await add(keys[0])).body.errors).toMatchObject([{ field: 'public_key' }])
    expect((await add(keys[1])).status).toBe(200)
    expect(await lastAudit(bank)).toMatchObject({
      action: 'client.key_added',
      detail: { client_id, thumbprint: await thumbprintOf(keys[1]) },
    })
    expect((await add(keys[2])).body.error).toBe('refused')
    expect(await shown()).toMatchObject([{ kty: 'EC' }, { kty: 'RSA' }])
    expect((await remove('unknown')).body.error).toBe('refused')
    expect((await remove(await thumbprintOf(keys[0]))).status).toBe(200)
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.key_removed' })
    expect((await add(keys[2])).status).toBe(200)
    expect(await shown()).toMatchObject([{ kty: 'RSA' }, { kty: 'OKP' }])

    await owner.call(`/clients/${client_id}/revoke`, { method: 'POST' })
    expect((await remove(await thumbprintOf(keys[2]))).body.error).toBe('refused')
  })

  test('may publish its keys at an address, which is replaced', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const made = await makePartner(owner, { jwks_url: 'https://bank.example.org/keys' })
    const shown = async () => (await owner.call(`/partners/${made.partner_id}`)).body.data.clients[0]
    const kind = { authentication: 'jwks', keys: [], jwks_url_set_at: expect.any(String) }
    expect(await shown()).toMatchObject({ ...kind, jwks_url: 'https://bank.example.org/keys' })
    const path = `/clients/${made.client_id}`
    const next = { jwks_url: 'https://bank.example.org/next' }
    expect((await owner.call(`${path}/jwks-url`, { body: next })).status).toBe(200)
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.jwks_url_changed', detail: next })
    expect(await shown()).toMatchObject({ ...kind, ...next })
    const public_key = (await newKey()).pem
    expect((await owner.call(`${path}/keys`, { body: { public_key } })).body.error).toBe('refused')
  })

  test('a client with a secret keeps its secret', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { clientId, clientSecret } = bank.partner
    const body = { public_key: (await newKey()).pem }
    expect((await owner.call(`/clients/${clientId}/keys`, { body })).body.error).toBe('refused')
    const jwks_url = 'https://bank.example.org/keys'
    expect((await owner.call(`/clients/${clientId}/jwks-url`, { body: { jwks_url } })).body.error).toBe('refused')
    expect((await tryToken(bank, clientId, clientSecret)).status).toBe(200)
  })

  test('invalid keys and addresses are explained beside their fields', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const key = await newKey()
    const pem = (publicKey: ReturnType<typeof rsa>) => publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const curve = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).publicKey
    const keys: [text: string, message: RegExp][] = [
      [key.privatePem, /private key/],
      [key.privatePem.replaceAll('PRIVATE KEY', 'EC PRIVATE KEY'), /private key/],
      [JSON.stringify(await exportJWK(key.privateKey)), /private key/],
      [JSON.stringify({ kty: 'oct', k: 'c2VjcmV0' }), /private key/],
      [JSON.stringify({ keys: [key.jwk] }), /set of keys/],
      [JSON.stringify({ ...key.jwk, use: 'enc' }), /not for signatures/],
      [JSON.stringify({ ...key.jwk, key_ops: ['encrypt'] }), /not for verifying/],
      [JSON.stringify({ ...key.jwk, alg: 'HS256' }), /alg/],
      [JSON.stringify({ ...key.jwk, kid: 'a\0b' }), /kid/],
      [JSON.stringify({ ...key.jwk, kid: '\ud800' }), /kid/],
      [JSON.stringify({ ...key.jwk, alg: 'RS256' }), /alg/],
      [JSON.stringify({ ...key.jwk, y: key.jwk.x }), /not a public key/],
      [pem(rsa(1024)), /2048 to 4096 bits. This one has 1024/],
      [pem(rsa(2048, 3)), /exponent/],
      [pem(curve), /P-256/],
      ['{"kty":', /not a public key/],
      ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /not a public key/],
      ['', /not a public key/],
    ]
    const path = `/partners/${bank.partner.partnerId}/clients`
    for (const [public_key, message] of keys) {
      const { status, body } = await owner.call(path, { body: { public_key } })
      const error = { field: 'public_key', message: expect.stringMatching(message) }
      expect({ status, errors: body.errors }, public_key).toMatchObject({ status: 422, errors: [error] })
      expect(JSON.stringify(body)).not.toContain(key.privatePem.slice(40, 60))
    }
    for (const jwks_url of [
      'http://bank.example.org/keys',
      'https://user:word@bank.example.org/keys',
      'https://127.0.0.1/keys',
      'https://[::1]/keys',
      'https://2130706433/keys',
      'https://localhost/keys',
      'https://intranet/keys',
      'https://bank.example.org/keys#a',
      'keys',
    ]) {
      const { status, body } = await owner.call(path, { body: { jwks_url } })
      expect([status, body.errors?.[0]?.field], jwks_url).toEqual([422, 'jwks_url'])
    }
    const both = { public_key: key.pem, jwks_url: 'https://bank.example.org/keys' }
    expect((await owner.call(path, { body: both })).body.errors[0].field).toBe('jwks_url')
    expect((await owner.call(`/partners/${bank.partner.partnerId}`)).body.data.clients).toHaveLength(1)
  })

  test('the thumbprint is that of RFC 7638', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const made = await makePartner(owner, { public_key: JSON.stringify(RFC_8037_KEY) })
    const { clients } = (await owner.call(`/partners/${made.partner_id}`)).body.data
    expect(clients[0].keys[0].thumbprint).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
  })
})

test('on the command line, a partner and a client get keys, exchange them and lose them', async () => {
  const bank = await startBank()
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-keys-'))
  const [first, second] = [await newKey(), await newKey('PS256')]
  const file = join(folder, 'first.pem')
  await writeFile(file, first.pem)
  await writeFile(join(folder, 'second.json'), JSON.stringify(second.jwk))
  await writeFile(join(folder, 'private.pem'), first.privatePem)
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await run([...args, '--json'], { DATABASE_URL: bank.databaseUrl })
    return code === 0 ? JSON.parse(stdout) : stderr
  }
  const partner = ['partner', 'create', '--community', 'town', '--name', 'Signed', '--scopes', 'users.read']
  expect(await command(...partner, '--public-key', join(folder, 'private.pem'))).toContain('This is a private key')
  expect(await command(...partner, '--public-key', join(folder, 'nowhere'))).toContain('cannot be read')
  const made = await command(...partner, '--public-key', file)
  const { partner_id, client_id } = made
  expect(made).toEqual({ partner_id, client_id, thumbprint: await thumbprintOf(first), scopes: ['users.read'] })
  const client = { partnerId: made.partner_id, clientId: made.client_id, key: first }
  const statuses = () =>
    Promise.all(
      [first, second].map(
        async (key) => (await present(bank.url, await assertionOf(bank.url, client, { key }))).status,
      ),
    )
  expect(await statuses()).toEqual([200, 401])
  await command('client', 'add-key', client.clientId, '--public-key', join(folder, 'second.json'))
  expect(await statuses()).toEqual([200, 200])
  expect(
    await command('client', 'remove-key', client.clientId, `--thumbprint=${await thumbprintOf(first)}`),
  ).toMatchObject({
    status: 'removed',
  })
  expect(await statuses()).toEqual([401, 200])

  const another = ['client', 'create', '--community', 'town', '--partner', `${made.partner_id}`]
  const published = await command(...another, '--jwks-url', 'https://bank.example.org/keys')
  expect(published).toEqual({
    partner_id,
    client_id: expect.not.stringMatching(client_id),
    jwks_url: 'https://bank.example.org/keys',
    scopes: ['users.read'],
  })
  const moved = await command('client', 'jwks-url', published.client_id, '--jwks-url', 'https://bank.example.org/next')
  expect(moved).toEqual({ client_id: published.client_id, jwks_url: 'https://bank.example.org/next' })
})
