import { expect, test } from 'vitest'
import { changeExpiry } from '../src/features/partners/change-expiry.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { createClient } from '../src/features/partners/create-client.ts'
import { startCachingBank, statusOf } from './access-calls.ts'
import { addAdmin } from './admin.ts'
import { eventually, fetchToken, startBank, TESTER, type Bank, type TestPartner } from './bank.ts'
import { startPostman } from './postman.ts'

const LATER = '2999-01-01T00:00:00Z'

const expire = (bank: Bank, { clientId }: TestPartner) => bank.sql`
  update clients set expires_at = now() where community_id = ${bank.communityId} and public_id = ${clientId}`

test('an expired client is rejected like a revoked one, with its secret and with its tokens', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const [expired, revoked] = [await bank.addPartner(), await bank.addPartner()]
  const tokens = [await bank.token(undefined, expired), await bank.token(undefined, revoked)]
  await expire(bank, expired)
  await revokeClient(bank.sql, TESTER, revoked.clientId)
  const asked = ({ clientId, clientSecret }: TestPartner) =>
    bank.call('/oauth/token', {
      body: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    })
  // Both may be cached until the node hears of the change.
  const rejected = (partner: TestPartner) =>
    eventually(async () => {
      const answer = await asked(partner)
      return answer.status !== 200 && answer
    })
  const [one, other] = [await rejected(expired), await rejected(revoked)]
  expect([one.status, one.body.error, one.body.error_description]).toEqual([
    other.status,
    other.body.error,
    other.body.error_description,
  ])
  for (const token of tokens) {
    const answer = await bank.call('/users', { token })
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_token'])
  }
  await changeExpiry(bank.sql, TESTER, expired.clientId, LATER)
  expect((await asked(expired)).status).toBe(200)
  expect((await bank.call('/users', { token: tokens[0]! })).status).toBe(200)
})

test('a cached token and a cached secret end when the client expires, without any announcement', async () => {
  const { bank } = await startCachingBank()
  const token = await bank.token()
  const [{ at }] = await bank.sql<[{ at: string }]>`select now() + interval '3 seconds' as at`
  await changeExpiry(bank.sql, TESTER, bank.partner.clientId, at)
  await eventually(async () => (await statusOf(bank.url, token)) === 401)
  await expect(fetchToken(bank.url, bank.partner)).rejects.toThrow('invalid_client')
})

test('an owner chooses when credentials expire; a later day needs a fresh proof, an earlier one does not', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const path = `/clients/${bank.partner.clientId}/expiry`
  const set = (expires_at?: string) => owner.call(path, { body: { ...(expires_at && { expires_at }) } })
  const client = async () => (await owner.call(`/partners/${bank.partner.partnerId}`)).body.data.clients[0]
  expect(await client()).toMatchObject({ status: 'active', expires_at: null, calls_per_day: 0 })
  const past = await set('2020-01-01T00:00:00Z')
  expect([past.status, past.body.errors[0].field]).toEqual([422, 'expires_at'])
  expect((await set('2998-06-01T00:00:00Z')).status).toBe(200)
  expect((await client()).expires_at).toBe('2998-06-01T00:00:00.000000Z')

  await bank.sql`update admin_sessions set proven_at = now() - interval '1 hour'`
  expect((await set('2998-01-01T00:00:00Z')).status).toBe(200)
  expect((await set(LATER)).body.error).toBe('proof_required')
  expect((await set()).body.error).toBe('proof_required')
  expect((await client()).expires_at).toBe('2998-01-01T00:00:00.000000Z')
  const [entry] = (await owner.call('/audit?action=client.expiry_changed')).body.data
  expect(entry.detail).toMatchObject({ client_id: bank.partner.clientId, expires_at: '2998-01-01T00:00:00.000000Z' })

  await bank.sql`update admin_sessions set proven_at = now()`
  expect((await set()).status).toBe(200)
  expect((await client()).expires_at).toBeNull()
  const clients = `/partners/${bank.partner.partnerId}/clients`
  const made = await owner.call(clients, { body: { name: 'Trial', expires_at: LATER } })
  expect([made.status, (await client()).expires_at]).toEqual([201, '2999-01-01T00:00:00.000000Z'])
  await expire(bank, { clientId: made.body.data.client_id } as TestPartner)
  expect((await client()).status).toBe('expired')
})

test('deliveries of an expired client are held, and go out when it gets a later day', async () => {
  const { bank, subscribe, credit, deliver, deliveries, receiver } = await startPostman()
  const other = await bank.addPartner()
  const { id } = await subscribe({}, await bank.token(undefined, other))
  await expire(bank, other)
  await credit()
  await deliver()
  const [held] = await bank.sql`select status, held_reason from deliveries where subscription_id = ${id}`
  expect(held).toEqual({ status: 'held', held_reason: 'The client that made the subscription has expired' })
  expect(receiver.received).toEqual([])
  await changeExpiry(bank.sql, TESTER, other.clientId, null)
  await deliver()
  expect(receiver.received).toHaveLength(1)
  expect(await deliveries(id, await bank.token(undefined, other))).toMatchObject([{ status: 'delivered' }])
})

test('a new expiry releases what was held for it, and nothing else', async () => {
  const { bank, subscribe, credit, deliver } = await startPostman()
  const { sql } = bank
  const other = await bank.addPartner()
  const second = {
    ...other,
    ...(await createClient(sql, TESTER, bank.communityId, other.partnerId, { name: 'second' })),
  }
  const { id } = await subscribe({}, await bank.token(undefined, other))
  const { id: idOfSecond } = await subscribe({}, await bank.token(undefined, second))
  await credit()
  await deliver()
  const held = async () =>
    (await sql<{ id: number }[]>`select subscription_id as id from deliveries where status = 'held' order by 1`).map(
      (row) => row.id,
    )
  await sql`update deliveries set status = 'held', held_reason = 'x'`
  await changeExpiry(sql, TESTER, other.clientId, LATER)
  expect(await held()).toEqual([id, idOfSecond])
  await expire(bank, other)
  await changeExpiry(sql, TESTER, other.clientId, LATER)
  expect(await held()).toEqual([idOfSecond])
  // It could expire, and a delivery be held, while the change waits for its turn.
  await sql`update clients set expires_at = now() + interval '30 seconds' where public_id = ${second.clientId}`
  await changeExpiry(sql, TESTER, second.clientId, LATER)
  expect(await held()).toEqual([])
})
