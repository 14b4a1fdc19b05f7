import { expect, test } from 'vitest'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { readStatistics } from '../src/features/subscriptions/endpoint-queries.ts'
import { addAdmin } from './admin.ts'
import { TESTER } from './bank.ts'
import { startPostman } from './postman.ts'

const HOUR_MS = 60 * 60 * 1000

async function start() {
  const post = await startPostman()
  const owner = await addAdmin(post.bank)
  const { partner } = post.bank
  const add = (body: object = {}) =>
    owner.call('/webhooks', {
      body: {
        partner_id: partner.partnerId,
        client_id: partner.clientId,
        event_types: ['wallet.*'],
        target_url: post.receiver.url,
        ...body,
      },
    })
  return { ...post, owner, add }
}

test('an endpoint that the office adds sends what its event types need and the partner still holds', async () => {
  const { bank, owner, add, credit, deliver, receiver } = await start()
  const added = await add({ key: 'the-same-key-0123456789' })
  expect(added.status).toBe(201)
  expect(added.body.data).toMatchObject({ scopes: ['wallet.read', 'webhooks.manage'], secret: /^whsec_/ })
  const again = await add({ key: 'the-same-key-0123456789' })
  expect([again.status, again.body.data.id]).toEqual([200, added.body.data.id])
  expect(again.body.data.secret).not.toBe(added.body.data.secret)
  expect((await owner.call('/webhooks')).body.data).toHaveLength(1)
  await credit()
  await deliver()
  expect(receiver.received).toHaveLength(1)

  const scopes = ['users.read', 'wallet.write', 'webhooks.manage']
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { scopes })
  await credit()
  await deliver()
  expect(receiver.received).toHaveLength(1)
  const [entry] = (await owner.call('/audit?action=subscription.added')).body.data
  expect(entry).toMatchObject({ actor: { name: 'The owner' }, detail: { target_host: new URL(receiver.url).host } })
  expect(JSON.stringify(entry)).not.toContain('whsec')
})

test('statistics by the hour have every hour once on a day when clocks are set back or forward', async () => {
  const { bank, subscribe } = await startPostman()
  const { id } = await subscribe()
  const changedAt = new Date(Date.now() - 3 * HOUR_MS)
  const otherAt = new Date(Date.now() - 100 * 24 * HOUR_MS)
  // PostgreSQL takes a zone by its rules too: an hour before UTC, two from the first day and hour to the second.
  const back = `WIN-1SUM-2,${startOf(otherAt, 1)},${startOf(changedAt, 2)}`
  const forward = `WIN-1SUM-2,${startOf(changedAt, 1)},${startOf(otherAt, 2)}`
  for (const timeZone of [back, forward]) {
    const query = { timeZone, step: '1 hour', steps: 24, limit: 100 } as const
    const points = await readStatistics(bank.sql, bank.communityId, id, query)
    const hours = points.map(({ at }) => Math.floor(Date.parse(at) / HOUR_MS))
    expect(hours, timeZone).toEqual(Array.from({ length: 24 }, (_, n) => hours[0]! + n))
    expect(hours.at(-1)).toBeGreaterThanOrEqual(Math.floor(Date.now() / HOUR_MS) - 1)
  }
})

/** As in a rule of a time zone: the day of a year without a leap day, and the hour by a clock so many hours before UTC. */
function startOf(at: Date, hoursBefore: number): string {
  const local = new Date(at.getTime() + hoursBefore * HOUR_MS)
  const day = (Date.UTC(2023, local.getUTCMonth(), local.getUTCDate()) - Date.UTC(2022, 11, 31)) / (24 * HOUR_MS)
  return `J${day}/${local.getUTCHours()}`
}

test('email addresses never reach an endpoint of the office, although the partner may read them', async () => {
  const { bank, add, deliver, receiver, member, owner } = await start()
  expect((await add({ event_types: ['*'] })).body.data.scopes).toEqual([
    'users.read',
    'listings.read',
    'wallet.read',
    'webhooks.manage',
  ])
  await owner.call(`/members/${member.id}`, { method: 'PATCH', body: { name: 'Ada Lang' } })
  await deliver()
  expect(receiver.received.at(-1)!.json).toMatchObject({ type: 'user.updated', data: { name: 'Ada Lang' } })
  expect(JSON.stringify(receiver.received.at(-1)!.json)).not.toContain('ada@example.org')
  expect(bank.partner.partnerId).toBeGreaterThan(0)
})

test('an endpoint needs live credentials of this partner that may read its events, and a public address', async () => {
  const { bank, add, owner } = await start()
  const narrow = await bank.addPartner({ scopes: ['wallet.read', 'webhooks.manage'] })
  const of = { partner_id: narrow.partnerId, client_id: narrow.clientId }
  const fields = async (body: object) => {
    const answer = await add(body)
    return [answer.status, answer.body.errors?.[0]?.field ?? answer.body.error]
  }
  expect(await fields({ ...of, event_types: ['user.joined'] })).toEqual([422, 'event_types'])
  expect(await fields({ ...of, event_types: ['user.*'] })).toEqual([422, 'event_types'])
  expect(await fields({ ...of, event_types: ['Not A Name'] })).toEqual([422, 'event_types'])
  expect(await fields({ target_url: 'http://plain.example/' })).toEqual([422, 'target_url'])
  expect(await fields({ target_url: 'https://127.0.0.1/' })).toEqual([422, 'target_url'])
  expect(await fields({ client_id: narrow.clientId })).toEqual([404, 'not_found'])
  expect(await fields({ partner_id: 999_999 })).toEqual([404, 'not_found'])
  await owner.call(`/clients/${narrow.clientId}/revoke`, { method: 'POST' })
  expect(await fields(of)).toEqual([422, 'client_id'])
  await bank.sql`update admin_sessions set proven_at = now() - interval '1 hour'`
  expect((await add()).body.error).toBe('proof_required')
  expect((await owner.call('/webhooks')).body.data).toEqual([])
})

test('deliveries that failed since a time are sent again, and those that arrived are not', async () => {
  const { bank, owner, add, credit, deliver, advance, receiver } = await start()
  const { id } = (await add()).body.data
  await credit()
  await deliver()
  receiver.answer = (response) => response.writeHead(500).end()
  await credit()
  await credit()
  await deliver()
  await bank.sql`
    update deliveries set status = 'failed', finished_at = now() where id = (select max(id) from deliveries)`
  const resend = (since: string) => owner.call(`/webhooks/${id}/resend-failed`, { body: { since } })
  // One has been given up, one waits for its next attempt.
  receiver.answer = (response) => response.writeHead(204).end()
  expect((await resend('2999-01-01T00:00:00Z')).body.data).toEqual({ deliveries: 1 })
  expect((await resend('2020-01-01T00:00:00Z')).body.data).toEqual({ deliveries: 1 })
  const before = receiver.received.length
  await advance(1)
  expect(receiver.received).toHaveLength(before + 2)
  expect((await resend('2020-01-01T00:00:00Z')).body.data).toEqual({ deliveries: 0 })
  const [entry] = (await owner.call('/audit?action=subscription.failures_resent')).body.data
  expect(entry.detail).toMatchObject({ deliveries: 0 })
})

test('a delivery shows why it waits, and its next attempt is never in the past', async () => {
  const { bank, owner, add, credit, deliver, receiver } = await start()
  const { id } = (await add()).body.data
  const only = async () => (await owner.call(`/webhooks/${id}/deliveries?status=pending`)).body.data[0]
  receiver.answer = (response) => response.writeHead(500).end()
  await credit()
  await deliver()
  await bank.sql`update deliveries set next_attempt_at = now() + interval '1 hour'`
  expect(await only()).toMatchObject({ waits_for: 'retry', next_attempt_at: expect.any(String) })
  await bank.sql`update delivery_queues set paused_until = now() + interval '2 hours'`
  const paused = await only()
  expect(paused.waits_for).toBe('receiver')
  expect(Date.parse(paused.next_attempt_at) - Date.now()).toBeGreaterThan(60 * 60 * 1000)
  await bank.sql`update delivery_queues set paused_until = null`
  await bank.sql`update deliveries set next_attempt_at = now() - interval '1 hour'`
  expect(await only()).toMatchObject({ waits_for: 'turn', next_attempt_at: null })
  await switchPartnerApi(bank.sql, TESTER, bank.communityId, { enabled: false, reason: 'A check' })
  expect(await only()).toMatchObject({ waits_for: 'partner_api', next_attempt_at: null })
  await owner.call(`/webhooks/${id}/pause`, { method: 'POST' })
  expect(await only()).toMatchObject({ waits_for: 'paused', next_attempt_at: null })
  const { id: delivery } = await only()
  expect((await owner.call(`/deliveries/${delivery}`)).body.data).toMatchObject({ waits_for: 'paused' })
})

test('statistics count attempts that arrived and failed, with their speed, per hour and per day', async () => {
  const { bank, owner, add, credit, deliver, receiver } = await start()
  const { id } = (await add()).body.data
  receiver.answer = (response) => response.writeHead(500).end()
  await credit()
  await deliver()
  receiver.answer = (response) => response.writeHead(204).end()
  // By the clock of the database, as the statistics: an attempt in the future may be one of the next hour.
  await bank.sql`update deliveries set next_attempt_at = now() - interval '1 second'`
  await bank.sql`update delivery_queues set due_at = now() - interval '1 second'`
  await deliver()
  await credit()
  await deliver()
  for (const [period, points] of [
    ['24h', 24],
    ['7d', 7],
    ['30d', 30],
  ] as const) {
    const { data } = (await owner.call(`/webhooks/${id}/statistics?period=${period}`)).body
    expect([data.points.length, data.complete]).toEqual([points, true])
    const sum = (name: string) => data.points.reduce((total: number, point: any) => total + point[name], 0)
    expect([sum('succeeded'), sum('failed')]).toEqual([2, 1])
    const filled = data.points.find((point: any) => point.succeeded > 0)
    expect(filled.median_ms).toBeLessThanOrEqual(filled.slow_ms)
    expect(data.points.find((point: any) => point.succeeded + point.failed === 0)).toMatchObject({
      median_ms: null,
    })
  }
  expect((await owner.call(`/webhooks/${id}/statistics?period=1y`)).status).toBe(422)
})
