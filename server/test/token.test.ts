import { expect, test } from 'vitest'
import { startBank, type Bank } from './bank.ts'

const basic = (id: string, secret: string) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` })
const form = { 'content-type': 'application/x-www-form-urlencoded' }

function credentials({ partner }: Bank) {
  return { client_id: partner.clientId, client_secret: partner.clientSecret }
}

test('a token is issued for JSON, form and Basic, with the headers of RFC 6749', async () => {
  const bank = await startBank()
  const { client_id, client_secret } = credentials(bank)
  const ways = [
    { body: { grant_type: 'client_credentials', client_id, client_secret } },
    {
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
      headers: form,
    },
    { body: 'grant_type=client_credentials', headers: { ...form, ...basic(client_id, client_secret) } },
    { body: { grant_type: 'client_credentials' }, headers: basic(client_id, client_secret) },
    { body: { grant_type: 'client_credentials', client_id }, headers: basic(client_id, client_secret) },
  ]
  for (const way of ways) {
    const { status, headers, body } = await bank.call('/oauth/token', way)
    expect({ status, body }).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } })
    expect(body.access_token).toMatch(/^hbt_\d+_[0-9a-f]{72}$/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(headers.get('api-version')).toBe('2.0')
    expect((await bank.call('/users', { token: body.access_token })).status).toBe(200)
  }
})
