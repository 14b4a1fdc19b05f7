import { expect, test } from 'vitest'
import { apiDescriptions } from '../src/cli/describe.ts'
import { SCOPES } from '../src/core/scopes.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { lockReplays } from '../src/features/subscriptions/replay-queries.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { addAdmin } from './admin.ts'
import { eventually, TESTER } from './bank.ts'
import { holdOpen, openTransaction, someoneWaits, waitingSessions, type OpenTransaction } from './lock-table.ts'
import { startPostman, type Postman } from './postman.ts'

const SINCE = { since: '2020-01-01T00:00:00Z' }
/** More than a process has connections for requests. */
const CALLS = 12

const replayPath = (id: number) => `/webhooks/subscriptions/${id}/replay`

/** A subscription whose only delivery is locked, so that a replay of it waits. */
async function lockDelivery(post: Postman): Promise<{ id: number; held: OpenTransaction }> {
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  const held = await openTransaction(post.bank.sql)
  await held.tx`
    select from deliveries where community_id = ${post.bank.communityId} and subscription_id = ${id} for update`
  return { id, held }
}

test('while a replay runs, further ones of the partner are rejected at once, and other calls go on', async () => {
  const post = await startPostman()
  const { bank, token } = post
  const { id: other } = await post.subscribe()
  const { id, held } = await lockDelivery(post)
  const owner = await addAdmin(bank)
  const [delivery] = await post.deliveries(id)
  const running = bank.call(replayPath(id), { token, body: SINCE })
  await someoneWaits(bank.sql)
  const calls = Array.from({ length: CALLS }, (_, n) =>
    bank.call(replayPath(n % 2 ? id : other), { token, body: SINCE }),
  )
  calls.push(
    bank.call(`/webhooks/deliveries/${delivery.id}/redeliver`, { token, method: 'POST' }),
    bank.call(`/webhooks/subscriptions/${id}`, { token, method: 'DELETE' }),
  )
  for (const { status, body, headers } of await Promise.all(calls)) {
    expect({ status, error: body.error }).toEqual({ status: 429, error: 'rate_limited' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
  }
  for (const verb of ['replay', 'resend-failed']) {
    const byOffice = await owner.call(`/webhooks/${id}/${verb}`, { body: SINCE })
    expect([byOffice.status, byOffice.body.error]).toEqual([429, 'rate_limited'])
  }
  const [{ id: deliveryId }] = await bank.sql<[{ id: number }]>`select id from deliveries where subscription_id = ${id}`
  const resent = await owner.call(`/deliveries/${deliveryId}/resend`, { method: 'POST' })
  expect([resent.status, resent.body.error]).toEqual([429, 'rate_limited'])
  const neighbour = await bank.token(undefined, await bank.addPartner())
  const { id: theirs } = await post.subscribe({}, neighbour)
  expect((await bank.call(replayPath(theirs), { token: neighbour, body: SINCE })).status).toBe(202)
  await held.release()
  expect(await running).toMatchObject({ status: 202, body: { data: { deliveries: 1 } } })
  expect((await bank.call(replayPath(id), { token, body: SINCE })).status).toBe(202)
  expect(await bank.sql`select from audit_log where action = 'subscription.replayed'`).toHaveLength(3)
})

test("the console's description names the status of a call that a replay rejects", async () => {
  const { paths } = (await apiDescriptions()).console as { paths: Record<string, { post: { responses: object } }> }
  for (const path of ['webhooks/{id}/replay', 'webhooks/{id}/resend-failed', 'deliveries/{id}/resend']) {
    expect(paths[`${ADMIN_PREFIX}/communities/{slug}/${path}`]!.post.responses, path).toHaveProperty('429')
  }
})

test('a replay ends when its caller hangs up', async () => {
  // Longer than the test waits, so that nothing else ends it.
  const post = await startPostman({ timeouts: { handlerMs: 600_000 } })
  const { bank, token } = post
  const { id } = await lockDelivery(post)
  const hangUp = new AbortController()
  const replaying = fetch(`${bank.url}${API_PREFIX}${replayPath(id)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(SINCE),
    signal: hangUp.signal,
  }).catch(({ name }: Error) => name)
  await someoneWaits(bank.sql)
  hangUp.abort()
  expect(await replaying).toBe('AbortError')
  await eventually(async () => (await waitingSessions(bank.sql)).length === 0)
  expect(await bank.sql`select from audit_log where action = 'subscription.replayed'`).toEqual([])
})

test('while what was held for a partner is released, its calls wait for nothing', async () => {
  const post = await startPostman()
  const { bank } = post
  const { sql, communityId, partner } = bank
  const all = Object.keys(SCOPES)
  const fewer = all.filter((scope) => scope !== 'listings.read')
  await changePartner(sql, TESTER, communityId, partner.partnerId, { scopes: fewer })
  const token = await bank.token()
  const { id } = await post.subscribe({}, token)
  await post.credit()
  await post.deliver()
  const [delivery] = await post.deliveries(id)
  await sql`update deliveries set status = 'held', held_reason = 'x'`
  const lock = await holdOpen(sql, `select 1 from deliveries where community_id = ${communityId} for no key update`)
  const changing = changePartner(sql, TESTER, communityId, partner.partnerId, { scopes: all })
  await someoneWaits(sql, '%held%')
  const resent = await bank.call(`/webhooks/deliveries/${delivery.id}/redeliver`, { token, method: 'POST' })
  expect([resent.status, resent.headers.get('retry-after')]).toEqual([429, '5'])
  await post.subscribe({}, token)
  await lock.release()
  await changing
  expect((await bank.call(`/webhooks/deliveries/${delivery.id}/redeliver`, { token, method: 'POST' })).status).toBe(202)
})

test('taking access away waits for no replay', async () => {
  const { bank } = await startPostman()
  const { sql, communityId, partner } = bank
  const { tx } = await openTransaction(sql)
  await lockReplays(tx, communityId, partner.partnerId)
  for (const change of [{ scopes: ['wallet.read'] }, { status: 'suspended' as const }]) {
    await changePartner(sql, TESTER, communityId, partner.partnerId, change)
  }
  expect(await waitingSessions(sql)).toEqual([])
})
