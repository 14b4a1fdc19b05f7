import { expect, test } from 'vitest'
import { Json } from '../src/postgres/connect.ts'
import {
  changeMember,
  hideMember,
  returnMember,
  leave,
  addMember,
  showMember,
} from '../src/features/members/change-member.ts'
import { closeListing, publishListing, reopenListing } from '../src/features/listings/change-listing.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { revokeClient } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { addAdmin } from './admin.ts'
import { TESTER } from './bank.ts'
import { holdOpen, someoneWaits } from './lock-table.ts'
import { startPostman } from './postman.ts'

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

test('each recipient gets its own body; one that may not read the facts gets none, and no trace of them', async () => {
  const post = await startPostman()
  const { bank } = post
  const reader = await bank.addPartner({ scopes: ['webhooks.manage', 'wallet.read'] })
  const outsider = await bank.addPartner({ scopes: ['webhooks.manage', 'users.read'] })
  const readerToken = await bank.token(undefined, reader)
  const outsiderToken = await bank.token(undefined, outsider)
  const to = (who: string) => ({ target_url: `${post.receiver.url}/${who}`, event_types: ['wallet.*'] })
  await post.subscribe(to('own'))
  await post.subscribe(to('reader'), readerToken)
  const outside = await post.subscribe(to('outsider'), outsiderToken)
  await post.credit({ hours: 1.5, reference: 'secret-ref', note: 'secret note' })
  await post.deliver()
  const byPath = (who: string) => post.receiver.received.filter(({ path }) => path === `/hook/${who}`)
  expect(byPath('own')[0]!.json.data).toMatchObject({ hours: 1.5, reference: 'secret-ref', note: 'secret note' })
  expect(byPath('reader')).toHaveLength(1)
  expect(byPath('reader')[0]!.json.data).toEqual({
    user_id: post.member.id,
    balance_hours: 1.5,
    version: expect.any(Number),
  })
  expect(byPath('reader')[0]!.body).not.toContain('secret')
  expect(byPath('outsider')).toEqual([])
  expect(await post.deliveries(outside.id, outsiderToken)).toEqual([])
  await changePartner(bank.sql, TESTER, bank.communityId, outsider.partnerId, {
    scopes: ['webhooks.manage', 'users.read', 'wallet.read'],
  })
  await post.deliver()
  // The subscription's scopes were fixed when it was made.
  expect(byPath('outsider')).toEqual([])
})

test('a suspended partner gets nothing more from that moment; resuming it releases what was held', async () => {
  const post = await startPostman()
  const { bank } = post
  const { id } = await post.subscribe()
  await post.credit()
  await post.deliver()
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'suspended' })
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await bank.sql`
    insert into events (community_id, type, member_id, data)
    values (${bank.communityId}, 'wallet.balance_changed', ${member.id}, ${new Json({ user_id: member.id, balance_centihours: 0, version: 1 })})`
  await post.advance(HOUR_MS)
  expect(post.receiver.received).toHaveLength(1)
  const [held] =
    await bank.sql`select status, held_reason from deliveries where subscription_id = ${id} order by id desc`
  expect(held).toEqual({ status: 'held', held_reason: 'The partner is suspended' })
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { status: 'active' })
  await post.deliver()
  expect(post.receiver.received).toHaveLength(2)
})

test('a delivery held while access is restored does not stay held', async () => {
  const post = await startPostman()
  const { bank } = post
  const partner = [TESTER, bank.communityId, bank.partner.partnerId] as const
  await post.subscribe()
  await Promise.all(Array.from({ length: 40 }, () => post.credit()))
  for (let round = 0; round < 6; round++) {
    await changePartner(bank.sql, ...partner, { status: 'suspended' })
    await bank.sql`update deliveries set status = 'pending', next_attempt_at = now() where status = 'delivered'`
    await bank.sql`update delivery_queues set due_at = now()`
    const delivering = post.deliver()
    await changePartner(bank.sql, ...partner, { status: 'active' })
    await delivering
    await post.deliver()
    const held = await bank.sql`select from deliveries where status = 'held'`
    expect(held).toHaveLength(0)
  }
})

test('nothing is sent to a partner whose client has just been revoked', async () => {
  const post = await startPostman()
  const { bank } = post
  await post.subscribe()
  await post.credit()
  await revokeClient(bank.sql, TESTER, bank.partner.clientId)
  await post.advance(DAY_MS)
  expect(post.receiver.received).toEqual([])
  const [held] = await bank.sql`select status, held_reason from deliveries`
  expect(held).toEqual({ status: 'held', held_reason: 'The client that made the subscription is revoked' })
})

test('a delivery follows the scopes that its client still has', async () => {
  const post = await startPostman()
  const { bank, member, receiver } = post
  await post.subscribe({ event_types: ['*'] })
  await post.credit()
  await changeMember(bank.sql, TESTER, bank.communityId, member.id, { name: 'Ada Lang' })
  // As after the restore of a backup in which the client had more. The partner and the subscription keep theirs.
  await bank.sql`
    update clients set scopes = '{webhooks.manage,users.read}' where public_id = ${bank.partner.clientId}`
  await post.deliver()
  expect(receiver.received.map(({ json }) => json.type)).toEqual(['user.updated'])
  expect(receiver.received[0]!.json.data).toMatchObject({ name: 'Ada Lang' })
  expect(receiver.received[0]!.json.data).not.toHaveProperty('email')
  const held = await bank.sql`select held_reason from deliveries where status = 'held'`
  expect(held).toEqual([{ held_reason: 'The client lacks the scope wallet.read' }])
})

test('while the administrator has the partner API switched off, deliveries wait', async () => {
  const post = await startPostman()
  const { bank } = post
  await post.subscribe()
  await post.credit()
  await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'audit' })
  await post.advance(DAY_MS)
  expect(post.receiver.received).toEqual([])
  await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: true })
  await post.deliver()
  expect(post.receiver.received).toHaveLength(1)
})

test('email is sent only to partners that may read it, and is audited first', async () => {
  const post = await startPostman()
  const { bank } = post
  const plain = await bank.addPartner({ scopes: ['webhooks.manage', 'users.read'] })
  await post.subscribe({ event_types: ['user.*'], target_url: `${post.receiver.url}/pii` })
  await post.subscribe(
    { event_types: ['user.*'], target_url: `${post.receiver.url}/plain` },
    await bank.token(undefined, plain),
  )
  await changeMember(bank.sql, TESTER, bank.communityId, post.member.id, { name: 'Ada Lang' })
  await post.deliver()
  const [pii, other] = ['pii', 'plain'].map((who) =>
    post.receiver.received.find(({ path }) => path === `/hook/${who}`)!,
  )
  expect(pii!.json).toMatchObject({
    type: 'user.updated',
    data: { name: 'Ada Lang', email: 'ada@example.org', version: 2 },
  })
  expect(other!.json.data).not.toHaveProperty('email')
  const reads = await bank.sql`
    select actor_kind, actor_name, member_ids, detail from audit_log where action = 'members.email_read'`
  expect(reads).toMatchObject([
    { actor_kind: 'client', actor_name: bank.partner.clientId, detail: { request_id: pii!.id } },
  ])
})

test('a client that is revoked while its delivery waits for the audit gets no email address', async () => {
  const post = await startPostman()
  const { sql, communityId, partner } = post.bank
  await post.subscribe({ event_types: ['user.*'] })
  await changeMember(sql, TESTER, communityId, post.member.id, { name: 'Ada Lang' })
  const held = await holdOpen(sql, 'lock table email_read_days in share mode')
  const delivering = post.deliver()
  await someoneWaits(sql, '%email_read_days%')
  await revokeClient(sql, TESTER, partner.clientId)
  post.worker.invalidate(communityId)
  await held.release()
  await delivering
  expect(post.receiver.received).toEqual([])
})

test('a late event about a member who was hidden since reveals no more than the API would', async () => {
  const post = await startPostman()
  const { bank, member } = post
  const reader = await bank.addPartner({ scopes: ['webhooks.manage', 'wallet.read', 'users.read'] })
  const readerToken = await bank.token(undefined, reader)
  await post.subscribe({ event_types: ['*'], target_url: `${post.receiver.url}/own` })
  const { id } = await post.subscribe({ event_types: ['*'], target_url: `${post.receiver.url}/reader` }, readerToken)
  await post.credit()
  await changeMember(bank.sql, TESTER, bank.communityId, member.id, { name: 'New Name' })
  await hideMember(bank.sql, TESTER, bank.communityId, member.id)
  await post.deliver()
  const types = (who: string) =>
    post.receiver.received.filter(({ path }) => path === `/hook/${who}`).map(({ json }) => json.type)
  // Its own credit a partner may always read.
  expect(types('own').toSorted()).toEqual(['user.left', 'wallet.credited'])
  expect(types('reader')).toEqual(['user.left'])
  // Those that are held are the office's to see: a partner would learn when hours moved.
  const listed = await post.deliveries(id, readerToken)
  expect(listed.map(({ event_type }: { event_type: string }) => event_type)).toEqual(['user.left'])
  const held = await bank.sql`select held_reason from deliveries where subscription_id = ${id} and status = 'held'`
  const concealed = { held_reason: 'Partners could not see the member when this event was due' }
  expect(held).toEqual([concealed, concealed])
  const feed = await bank.call('/events', { token: readerToken })
  expect(feed.body.data.map(({ type }: { type: string }) => type)).toEqual(['user.left'])
  await showMember(bank.sql, TESTER, bank.communityId, member.id)
  await post.deliver()
  expect(types('reader')).toEqual(['user.left', 'user.joined'])
})

test('leaving, returning and erasing each send an event, and stored responses about the member are blanked', async () => {
  const post = await startPostman()
  const { bank, member } = post
  await post.subscribe({ event_types: ['user.*'] })
  await changeMember(bank.sql, TESTER, bank.communityId, member.id, { name: 'Ada Lang' })
  // Failures and successes are stored in different places.
  post.receiver.answer = (response, { body }) => response.writeHead(500).end(body)
  await post.deliver()
  post.receiver.answer = (response, { body }) => response.end(body)
  await post.advance(HOUR_MS)
  await leave(bank.sql, TESTER, bank.communityId, member.id)
  await post.deliver()
  await returnMember(bank.sql, TESTER, bank.communityId, member.id)
  await post.deliver()
  const echoed = () => bank.sql`select from delivery_attempts where response like '%Ada Lang%'`
  expect(await echoed()).toHaveLength(3)
  await eraseMember(bank.sql, TESTER, bank.communityId, member.id)
  await post.deliver()
  expect(await echoed()).toHaveLength(0)
  const types = post.receiver.received.map(({ json }) => json.type)
  expect(types.slice(0, 4)).toEqual(['user.updated', 'user.updated', 'user.left', 'user.joined'])
  // Sent at once, so either may arrive first.
  expect(types.slice(4).toSorted()).toEqual(['user.erased', 'user.left'])
})

test('erasing a member who was always hidden sends no event', async () => {
  const post = await startPostman()
  const { bank, member, token } = post
  await post.subscribe({ event_types: ['user.*'] })
  const owner = await addAdmin(bank)
  const imported = await owner.call('/members/import', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: 'external_id,name,hidden\r\n1,Always Hidden,true\r\n',
  })
  expect(imported.status).toBe(200)
  const [{ id }] = await bank.sql<[{ id: number }]>`select id from members where name = 'Always Hidden'`
  // Of the other one, partners learn that nothing is left to hide.
  await hideMember(bank.sql, TESTER, bank.communityId, member.id)
  for (const erased of [id, member.id]) await eraseMember(bank.sql, TESTER, bank.communityId, erased)
  await post.deliver()
  expect(post.receiver.received.map(({ json }) => [json.type, json.data.id])).toEqual([
    ['user.left', member.id],
    ['user.erased', member.id],
  ])
  const feed = await bank.call('/events', { token })
  expect(feed.body.data.map(({ data }: { data: { id: number } }) => data.id)).not.toContain(id)
})

test('after a listing is closed, late events and the feed reveal only that it was closed', async () => {
  const post = await startPostman()
  const { bank, member, token } = post
  const { sql, communityId } = bank
  const { id } = await post.subscribe({ event_types: ['listing.*'] })
  const fields = { type: 'service', title: 'Call 555-1234', description: '', category: 'Home' } as const
  const offered = { member_id: member.id, ...fields, centihours: null, external_id: null }
  const listing = await publishListing(sql, TESTER, communityId, offered)
  await closeListing(sql, TESTER, communityId, listing.id)
  await post.deliver()
  const received = () => post.receiver.received.map(({ json }) => json.type)
  const read = async () => (await bank.call('/events', { token })).body.data.map(({ type }: { type: string }) => type)
  expect([received(), await read()]).toEqual([['listing.closed'], ['user.joined', 'listing.closed']])
  const since = '2026-01-01T00:00:00Z'
  const replayed = await bank.call(`/webhooks/subscriptions/${id}/replay`, { token, body: { since } })
  expect(replayed.body.data.deliveries).toBe(1)
  const held = await sql`select held_reason from deliveries where status = 'held'`
  expect(held).toEqual([{ held_reason: 'Partners could not see the listing when this event was due' }])
  await post.deliver()
  await reopenListing(sql, TESTER, communityId, listing.id)
  await post.deliver()
  expect(received()).toEqual(['listing.closed', 'listing.closed', 'listing.published'])
})
