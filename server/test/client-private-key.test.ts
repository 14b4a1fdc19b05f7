import { inspect } from 'node:util'
import { exportJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { Hourbank, type HourbankOptions } from '../../client/src/index.ts'
import { SIGNING_ALGORITHMS } from '../src/crypto/public-keys.ts'
import { startBank } from './bank.ts'
import { addKeyClient, newKey } from './key-clients.ts'

describe('the SDK with a private key', () => {
  test.each(SIGNING_ALGORITHMS)(
    'gets a token and revokes it, with a key for %s as PEM and as JWK',
    async (algorithm) => {
      const bank = await startBank()
      const key = await newKey(algorithm)
      const { clientId } = await addKeyClient(bank, key)
      const jwk = { ...(await exportJWK(key.privateKey)) }
      const exported = { ...(await crypto.subtle.exportKey('jwk', key.privateKey)) }
      for (const privateKey of [key.privatePem, jwk, { ...jwk, alg: algorithm, kid: 'mine', use: 'sig' }, exported]) {
        const hourbank = new Hourbank({ baseUrl: bank.url, clientId, privateKey, retries: 0 })
        expect((await hourbank.users.list()).data).toEqual([])
        await hourbank.revokeToken()
      }
    },
  )

  test('signs a new assertion for each attempt, so that a lost response does not matter', async () => {
    const bank = await startBank()
    const { clientId, key } = await addKeyClient(bank)
    const assertions: string[] = []
    const loseFirst: HourbankOptions['fetch'] = async (url, init) => {
      const answer = await fetch(url, init)
      if (!url.endsWith('/oauth/token')) return answer
      assertions.push(JSON.parse(init.body!).client_assertion)
      if (assertions.length > 1) return answer
      throw new TypeError('connection lost')
    }
    const settings = { baseUrl: bank.url, clientId, privateKey: key.privatePem, fetch: loseFirst }
    const hourbank = new Hourbank({ ...settings, wait: async () => {} })
    await hourbank.users.list()
    expect(new Set(assertions).size).toBe(2)
  })

  test('reaches the service under another address, if the audience is set', async () => {
    const bank = await startBank({ config: { publicUrl: 'https://hours.example.org' } })
    const baseUrl = `http://127.0.0.1:${bank.node.port}`
    const { clientId, key } = await addKeyClient(bank)
    const settings = { baseUrl, clientId, privateKey: key.privatePem, retries: 0 }
    await expect(new Hourbank(settings).users.list()).rejects.toMatchObject({ code: 'invalid_client' })
    const told = new Hourbank({ ...settings, audience: 'https://hours.example.org' })
    expect((await told.users.list()).data).toEqual([])
  })

  test('reveals neither key nor assertion', async () => {
    const bank = await startBank()
    const { clientId, key } = await addKeyClient(bank)
    let assertion = ''
    const echo: HourbankOptions['fetch'] = async (_url, init) => {
      assertion = JSON.parse(init.body!).client_assertion
      return Response.json({ error: 'invalid_client', error_description: assertion }, { status: 401 })
    }
    const hourbank = new Hourbank({ baseUrl: bank.url, clientId, privateKey: key.privatePem, fetch: echo })
    const error = await hourbank.users.list().catch((reason: unknown) => reason)
    expect(assertion).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(inspect([hourbank, error], { depth: 9 })).not.toContain(assertion)
    expect(inspect(hourbank, { depth: 9 })).not.toContain('PRIVATE KEY')
  })

  test('reports invalid options immediately', async () => {
    const key = await newKey()
    const options = { baseUrl: 'https://hours.example.org', clientId: 'x' }
    expect(() => new Hourbank(options)).toThrow('clientSecret')
    expect(() => new Hourbank({ ...options, clientSecret: 's', privateKey: key.privatePem })).toThrow('not both')
    expect(() => new Hourbank({ ...options, privateKey: key.pem })).toThrow('BEGIN PRIVATE KEY')
    const other = new Hourbank({ ...options, privateKey: { kty: 'oct', k: 'AAAA' } })
    await expect(other.users.list()).rejects.toThrow('P-256')
  })
})
