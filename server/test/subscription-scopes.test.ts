import { expect, test } from 'vitest'
import type { Scope } from '../src/core/scopes.ts'
import { changeMember, hideMember } from '../src/features/members/change-member.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { createClient } from '../src/features/partners/create-client.ts'
import { TESTER } from './bank.ts'
import { startPostman, type Postman } from './postman.ts'

/** A second client of the same partner, with these scopes. */
async function otherToken({ bank }: Postman, scopes: Scope[]): Promise<string> {
  const { partnerId } = bank.partner
  const client = await createClient(bank.sql, TESTER, bank.communityId, partnerId, { name: 'second', scopes })
  return bank.token(undefined, { partnerId, ...client })
}

test('a client that lacks a scope of a subscription may list, pause and delete it, and nothing else', async () => {
  const post = await startPostman()
  const { bank } = post
  const { id } = await post.subscribe({ event_types: ['user.*', 'wallet.*'] })
  await post.credit()
  await post.deliver()
  const [delivery] = await post.deliveries(id)
  const token = await otherToken(post, ['webhooks.manage', 'users.read'])
  const path = `/webhooks/subscriptions/${id}`
  const refused: [string, object][] = [
    [path, { method: 'PATCH', body: { target_url: `${post.receiver.url}/mine` } }],
    [path, { method: 'PATCH', body: { event_types: ['*'] } }],
    [path, { method: 'PATCH', body: { status: 'active' } }],
    [path, { method: 'PATCH', body: { status: 'paused', target_url: `${post.receiver.url}/mine` } }],
    [`${path}/test`, { method: 'POST' }],
    [`${path}/rotate-secret`, { method: 'POST' }],
    [`${path}/replay`, { body: { since: '2026-01-01T00:00:00Z' } }],
    [`${path}/deliveries`, {}],
  ]
  for (const [address, options] of refused) {
    const { status, headers, body } = await bank.call(address, { token, ...options })
    expect([status, body.error], `${address} ${JSON.stringify(options)}`).toEqual([403, 'insufficient_scope'])
    expect(headers.get('www-authenticate')).toMatch(
      /error="insufficient_scope", scope="users\.read users\.pii listings\.read/,
    )
  }
  // Its event cannot be read by this token, so there is no such delivery.
  const resent = await bank.call(`/webhooks/deliveries/${delivery.id}/redeliver`, { method: 'POST', token })
  expect([resent.status, resent.body.error]).toEqual([404, 'delivery_not_found'])
  expect(await post.subscription(id)).toMatchObject({ status: 'active', target_url: post.receiver.url })

  const allowed: [string, object][] = [
    ['/webhooks/subscriptions', {}],
    [path, {}],
    [path, { method: 'PATCH', body: { status: 'paused' } }],
    [path, { method: 'DELETE' }],
  ]
  for (const [address, options] of allowed) {
    expect((await bank.call(address, { token, ...options })).status, address).toBe(200)
  }
})

test('a subscription sends what the token that created it could read, whatever its client may', async () => {
  const post = await startPostman()
  const { bank, receiver } = post
  const narrow = await bank.token('webhooks.manage users.read')
  const { id } = await post.subscribe({ event_types: ['*'] }, narrow)
  expect(await post.subscription(id)).toMatchObject({ scopes: ['users.read', 'webhooks.manage'] })
  await post.credit()
  await changeMember(bank.sql, TESTER, bank.communityId, post.member.id, { name: 'Ada King' })
  await post.deliver()
  expect(receiver.received.map(({ json }) => json.data.name)).toEqual(['Ada King'])
  await hideMember(bank.sql, TESTER, bank.communityId, post.member.id)
  await post.deliver()
  // Neither sent nor waiting: a held delivery would tell when hours moved.
  expect(receiver.received.map(({ json }) => json.type)).toEqual(['user.updated', 'user.left'])
  expect((await post.deliveries(id, narrow)).map((row: { event_type: string }) => row.event_type)).toEqual([
    'user.left',
  ])
  const replay = { since: '2026-01-01T00:00:00Z' }
  await bank.call(`/webhooks/subscriptions/${id}/replay`, { token: await bank.token(), body: replay })
  await post.deliver()
  const types = receiver.received.map(({ json }) => json.type)
  expect(types.filter((type) => type.startsWith('wallet.'))).toEqual([])
  // Nor was one made that only the list leaves out: neither by the event nor by the replay.
  const made = await bank.sql<{ type: string }[]>`
    select distinct e.type from deliveries d join events e on e.community_id = d.community_id and e.id = d.event_id
    order by e.type`
  expect(made.map(({ type }) => type)).toEqual(['user.left', 'user.updated'])
  expect(JSON.stringify(receiver.received.map(({ json }) => json))).not.toContain('ada@example.org')
})

test('deliveries that wait are not listed once the partner has lost their scope', async () => {
  const post = await startPostman()
  const { bank } = post
  const { id } = await post.subscribe()
  const withoutWallet: Scope[] = ['webhooks.manage', 'users.read']
  await bank.call(`/webhooks/subscriptions/${id}`, { token: post.token, method: 'PATCH', body: { status: 'paused' } })
  await post.credit()
  await post.deliver()
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { scopes: withoutWallet })
  const token = await bank.token()
  const listed = await bank.call(`/webhooks/subscriptions/${id}/deliveries`, { token })
  expect([listed.status, listed.body.error]).toEqual([403, 'insufficient_scope'])
})

test('the audit log names the client that replayed and resent', async () => {
  const post = await startPostman()
  const { bank } = post
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  const [delivery] = await post.deliveries(id)
  const { token } = post
  const replay = { since: '2026-01-01T00:00:00Z' }
  expect((await bank.call(`/webhooks/subscriptions/${id}/replay`, { token, body: replay })).status).toBe(202)
  const resent = await bank.call(`/webhooks/deliveries/${delivery.id}/redeliver`, { method: 'POST', token })
  expect(resent.status).toBe(202)
  expect(
    await bank.sql`
      select action, actor_kind, actor_name from audit_log
      where action in ('subscription.replayed', 'delivery.resent') order by id`,
  ).toEqual([
    { action: 'subscription.replayed', actor_kind: 'client', actor_name: bank.partner.clientId },
    { action: 'delivery.resent', actor_kind: 'client', actor_name: bank.partner.clientId },
  ])
})

test('a partner gets the event of its own credit to a hidden member, without the balance', async () => {
  const post = await startPostman()
  const { bank, receiver } = post
  await post.subscribe({ event_types: ['wallet.reversed'] })
  const { reference } = await post.credit()
  await hideMember(bank.sql, TESTER, bank.communityId, post.member.id)
  await bank.call('/wallet/credits/reverse', {
    token: post.token,
    body: { reference, reversal_reference: 'back-1' },
  })
  await post.deliver()
  expect(receiver.received).toHaveLength(1)
  expect(receiver.received[0]!.json.data).toMatchObject({ reference, hours: 1 })
  expect(receiver.received[0]!.json.data).not.toHaveProperty('balance_hours')
  const feed = await bank.call('/events', { token: post.token })
  const own = feed.body.data.filter(({ type }: { type: string }) => type === 'wallet.reversed')
  expect(own).toHaveLength(1)
  expect(own[0].data).not.toHaveProperty('balance_hours')
})

test('a replay counts nothing of a member whom the partner cannot see', async () => {
  const post = await startPostman()
  const { bank } = post
  const reader = await bank.addPartner({ scopes: ['webhooks.manage', 'wallet.read', 'users.read'] })
  const readerToken = await bank.token(undefined, reader)
  const replay = async (token: string, id: number) => {
    const since = '2026-01-01T00:00:00Z'
    return (await bank.call(`/webhooks/subscriptions/${id}/replay`, { token, body: { since } })).body.data.deliveries
  }
  const own = await post.subscribe({ event_types: ['wallet.*'] })
  const { id } = await post.subscribe({ event_types: ['wallet.*'] }, readerToken)
  const { reference } = await post.credit()
  await post.deliver()
  expect([await replay(post.token, own.id), await replay(readerToken, id)]).toEqual([1, 1])
  await hideMember(bank.sql, TESTER, bank.communityId, post.member.id)
  await bank.call('/wallet/credits/reverse', { token: post.token, body: { reference, reversal_reference: 'back-1' } })
  await post.deliver()
  expect([await replay(post.token, own.id), await replay(readerToken, id)]).toEqual([2, 0])
})
