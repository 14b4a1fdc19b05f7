import { expect, test } from 'vitest'
import { newToken } from '../src/crypto/secrets.ts'
import { eventually, startBank } from './bank.ts'
import { newDatabase } from './database.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { expectError } from './frame-answers.ts'

test('calls get 503 while the database is away, and succeed once it is back', async () => {
  const proxy = await startFlakyProxy(await newDatabase())
  const bank = await startBank({ databaseUrl: proxy.url })
  const token = await bank.token()
  const { clientId, clientSecret } = bank.partner
  const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  expect((await bank.call('/users', { token })).status).toBe(200)

  proxy.cut()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 ? bank.call('/users', { token }) : bank.call('/oauth/token', { body: credentials }),
    ),
  )
  for (const answer of answers) expectError(answer, 'unavailable')

  proxy.restore()
  await eventually(async () => (await bank.call('/users', { token })).status === 200)
  await eventually(async () => (await bank.call('/oauth/token', { body: credentials })).status === 200)
})

test('calls get 503 within the time limit if the database does not respond, with any method', async () => {
  const proxy = await startFlakyProxy(await newDatabase())
  const bank = await startBank({ databaseUrl: proxy.url, timeouts: { handlerMs: 3000, requestMs: 30_000 } })
  const [token, given] = [await bank.token(), await bank.token()]
  const { clientId, clientSecret } = bank.partner
  const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  expect((await bank.call('/users', { token })).status).toBe(200)

  proxy.freeze()
  const answers = await Promise.all([
    bank.call('/users', { token }),
    bank.call('/users', { token: newToken(bank.communityId) }),
    bank.call('/nope', { token: newToken(bank.communityId) }),
    bank.call('/oauth/token', { body: credentials }),
    // A token of its own: what was sent into the silence may still be done when it ends.
    bank.call('/oauth/revoke', { body: { ...credentials, token: given } }),
  ])
  answers.forEach((answer, n) => expectError(answer, 'unavailable', `call ${n}`))

  proxy.restore()
  await eventually(async () => (await bank.call('/users', { token })).status === 200)
})
