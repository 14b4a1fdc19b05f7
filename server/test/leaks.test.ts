import { expect, test } from 'vitest'
import { newClientSecret, newToken } from '../src/crypto/secrets.ts'
import { newWebhookSecret } from '../src/crypto/sign.ts'
import { findLeaks } from './leaks.ts'

/** Every response, webhook and captured log line of the whole run is looked at; here is what is found. */
test('tokens, secrets, password hashes and email addresses are found where they do not belong', () => {
  const token = `{"token":"${newToken(1)}"}`
  expect(findLeaks('POST /api/partner/v1/oauth/token', token)).toEqual([])
  expect(findLeaks('GET /api/admin/v1/communities/town/calls', token)).toEqual(['an access token'])
  expect(findLeaks('a webhook', newClientSecret())).toEqual(['a client secret'])
  expect(findLeaks('the log', newWebhookSecret())).toEqual(['a webhook secret'])
  expect(findLeaks('GET /metrics', '$argon2id$v=19$')).toEqual(['a password hash'])
  const email = '{"data":{"email":"ada@example.org"}}'
  expect(findLeaks('GET /api/partner/v1/users/1', email)).toEqual([])
  expect(findLeaks('GET /api/partner/v1/listings', email)).toEqual(['an email address'])
})
