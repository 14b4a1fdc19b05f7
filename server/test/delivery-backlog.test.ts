import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { markDue } from '../src/features/subscriptions/mark-due.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { holdOpen, someoneWaits, waitingSessions } from './lock-table.ts'
import { partnerActions, startPostman, trustingSender } from './postman.ts'
import { startReceiver } from './receiver.ts'
import { takeIds } from './take-ids.ts'
import { volume } from './volume.ts'

const WAITING = volume(100_000)
const FRESH = 100
/** Of one subscription: in flight, or answered and not yet recorded. */
const IN_HAND_MAX = 256
const STUCK = 800
const SLOW_MS = 14_000
/** If nothing arrives for this long, no more is on its way. */
const QUIET_MS = 1000
/** More than the queues of one community that a worker has at once. */
const CROWD = 300
const CROWD_EVENTS = 40
const CROWD_ANSWER_MS = 1000
/** So that they are spread over some seconds, as fresh events are. */
const BETWEEN_MS = 30

test('a subscription whose results cannot be recorded is limited, and delays no other community', async () => {
  const receiver = await startReceiver()
  const bank = await startBank({ sender: trustingSender(receiver) })
  const { sql, communityId } = bank
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Ada' })
  const here = partnerActions(bank, await bank.token(), memberId, receiver)
  const { id } = await here.subscribe({ target_url: `${receiver.url}/stuck` })
  const elsewhereId = await bank.addCommunity('elsewhere')
  const { id: otherId } = await addMember(sql, TESTER, elsewhereId, { name: 'Bea' })
  const elsewhere = partnerActions(
    bank,
    await bank.token(undefined, await bank.addPartner({}, elsewhereId)),
    otherId,
    receiver,
  )
  await elsewhere.subscribe({ target_url: `${receiver.url}/fine` })
  const arrived = (path: string) => receiver.received.filter((received) => received.path.endsWith(path)).length

  await sql`
    with made as (
      insert into events (community_id, type, member_id, data, position)
      select ${communityId}, 'wallet.balance_changed', ${memberId},
        jsonb_build_object('user_id', ${memberId}::int8, 'balance_centihours', 0, 'version', n), 1000 + n
      from generate_series(1, ${STUCK}::int4) n
      returning id, created_at
    ), queue as (
      insert into delivery_queues (community_id, subscription_id) values (${communityId}, ${id}) on conflict do nothing
    )
    insert into deliveries (community_id, subscription_id, event_id, event_created_at)
    select ${communityId}, ${id}, id, created_at from made`
  // Recording waits for this lock, as it does while the subscription is deleted; reading does not.
  const lock = await holdOpen(
    sql,
    `select 1 from subscriptions where community_id = ${communityId} and id = ${id} for update`,
  )
  await sql`update delivery_queues set due_at = now() where subscription_id = ${id}`
  await someoneWaits(sql, '%input%')
  await elsewhere.credit()
  await eventually(() => arrived('/fine') === 1)
  // It stops: as many arrive as may wait to be recorded, and no more.
  await eventually(async () => {
    const before = arrived('/stuck')
    await pause(QUIET_MS)
    return arrived('/stuck') === before
  })
  expect(arrived('/stuck')).toBeLessThanOrEqual(IN_HAND_MAX)
  await lock.release()
  await eventually(() => arrived('/stuck') === STUCK, 60_000)
})

test(`beside ${WAITING} deliveries on a dead endpoint and a slow one, fresh events go out`, async () => {
  const receiver = await startReceiver()
  const arrived = new Set<string>()
  const slow = new Set<ServerResponse>()
  const timers = new Set<NodeJS.Timeout>()
  receiver.answer = (response, { path, json }) => {
    if (path.endsWith('/dead')) return void response.destroy()
    if (path.endsWith('/slow')) {
      slow.add(response)
      return void timers.add(setTimeout(() => response.writeHead(204).end(), SLOW_MS))
    }
    arrived.add(json.data.reference)
    response.writeHead(204).end()
  }
  const bank = await startBank({ sender: trustingSender(receiver) })
  // Else closing would wait for the slow ones.
  onTestFinished(() => {
    for (const timer of timers) clearTimeout(timer)
    receiver.answer = (response) => response.writeHead(204).end()
    for (const response of slow) response.destroy()
  })
  const token = await bank.token()
  const { id: memberId } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const { subscribe, credit } = partnerActions(bank, token, memberId, receiver)
  await subscribe({ target_url: `${receiver.url}/slow` })
  await subscribe({ target_url: `${receiver.url}/healthy` })
  const dead = await subscribe({ target_url: `${receiver.url}/dead` })
  await eventually(async () => (await bank.sql`select from events where position is null`).length === 0)
  await fillBacklog(dead.id)

  for (let n = 0; n < FRESH; n++) {
    await credit({ hours: 0.01 })
    await pause(BETWEEN_MS)
  }
  await eventually(() => arrived.size === FRESH)
  const [waiting] = await bank.sql<[{ count: number }]>`
    select count(*) from deliveries where subscription_id = ${dead.id} and status = 'pending'`
  expect(waiting.count).toBeGreaterThanOrEqual(WAITING)

  /** Events that have their place already, with a delivery each. */
  async function fillBacklog(subscriptionId: number): Promise<void> {
    await bank.sql`
      with made as (
        insert into events (community_id, type, member_id, data, position)
        select ${bank.communityId}, 'wallet.balance_changed', ${memberId},
          jsonb_build_object('user_id', ${memberId}::int8, 'balance_centihours', 0, 'version', n), n
        from generate_series(1, ${WAITING}) n
        returning id, created_at
      )
      insert into deliveries (community_id, subscription_id, event_id, event_created_at)
      select ${bank.communityId}, ${subscriptionId}, id, created_at from made`
    await markDue(bank.sql, bank.communityId, [subscriptionId])
    await bank.sql`update event_heads set position = ${WAITING} where community_id = ${bank.communityId}`
  }
})

test('a fast endpoint gets its turn beside more slow endpoints with a backlog than a worker takes at once', async () => {
  const receiver = await startReceiver()
  const timers = new Set<NodeJS.Timeout>()
  let slow = 0
  let isQuickServed = false
  receiver.answer = (response, { path }) => {
    if (path.endsWith('/quick')) isQuickServed = true
    else slow += 1
    timers.add(setTimeout(() => response.writeHead(204).end(), path.endsWith('/quick') ? 0 : CROWD_ANSWER_MS))
  }
  const bank = await startBank({ sender: trustingSender(receiver) })
  onTestFinished(() => timers.forEach((timer) => clearTimeout(timer)))
  const { sql, communityId } = bank
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Ada' })
  const { subscribe, credit } = partnerActions(bank, await bank.token(), memberId, receiver)
  await subscribe({ target_url: `${receiver.url}/quick`, event_types: ['wallet.reversed'] })
  const { id } = await subscribe({ target_url: `${receiver.url}/slow` })
  const first = await takeIds(sql, communityId, 'subscriptions', CROWD)
  await sql`
    insert into subscriptions (community_id, id, partner_id, client_id, event_types, target_url, scopes, secret)
    select community_id, ${first}::int8 + n - 1, partner_id, client_id, event_types, target_url, scopes, secret
    from subscriptions, generate_series(1, ${CROWD}) n where id = ${id}`
  for (let n = 0; n < CROWD_EVENTS; n++) await credit()
  const { reference } = await credit()
  await eventually(() => slow > CROWD)
  const body = { reference, reversal_reference: 'back' }
  expect((await bank.call('/wallet/credits/reverse', { token: await bank.token(), body })).status).toBe(201)
  await eventually(() => isQuickServed)
  expect(slow).toBeLessThan((CROWD * CROWD_EVENTS) / 2)
})

test('deliveries that a replay has locked do not delay the others of the community', async () => {
  // The answer of one is held back while others are delivered, which may take long on a slow machine.
  const post = await startPostman({ sender: (to) => trustingSender(to, 60_000) })
  const { bank, receiver } = post
  const slow = await post.subscribe({ event_types: ['webhook.test'], target_url: `${receiver.url}/slow` })
  const { id } = await post.subscribe()
  await bank.call(`/webhooks/subscriptions/${slow.id}/test`, { method: 'POST', token: post.token })
  const slowAnswers: ServerResponse[] = []
  receiver.answer = (response, { path }) => {
    if (path === '/hook/slow') slowAnswers.push(response)
    else response.writeHead(204).end()
  }
  const delivering = post.deliver()
  await eventually(() => receiver.received.length === 1)
  const replay = await holdOpen(
    bank.sql,
    `select id from deliveries where community_id = ${bank.communityId} and subscription_id = ${slow.id} for update`,
  )
  slowAnswers[0]!.writeHead(204).end()
  await post.credit()
  post.worker.wake()
  await eventually(async () => (await post.deliveries(id))[0]?.status === 'delivered')
  expect(await post.deliveries(slow.id)).toMatchObject([{ status: 'pending', attempts: [] }])
  await replay.release()
  await delivering
  expect(await post.deliveries(slow.id)).toMatchObject([
    { status: 'delivered', attempts: [{ number: 1, status: 204 }] },
  ])
})

test('holding a delivery does not wait for a change of its partner or for a replay', async () => {
  const post = await startPostman()
  const { sql, communityId, partner } = post.bank
  await post.subscribe()
  await post.credit()
  await post.deliver()
  await changePartner(sql, TESTER, communityId, partner.partnerId, { status: 'suspended' })
  const statuses = () => sql`select status from deliveries`
  for (const table of ['partners', 'deliveries']) {
    await sql`update deliveries set status = 'pending', held_reason = null, next_attempt_at = now()`
    await sql`update delivery_queues set due_at = now()`
    const lock = await holdOpen(sql, `select 1 from ${table} where community_id = ${communityId} for no key update`)
    const delivering = post.deliver()
    await pause(QUIET_MS)
    expect(await waitingSessions(sql), table).toEqual([])
    expect(await statuses()).toEqual([{ status: 'pending' }])
    await lock.release()
    await delivering
    expect(await statuses()).toEqual([{ status: 'held' }])
  }
})
