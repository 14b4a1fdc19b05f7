import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, test } from 'vitest'
import { addMember } from '../src/members/change-member.ts'
import { createSender } from '../src/webhooks/send.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { startReceiver } from './receiver.ts'

async function start() {
  const receiver = await startReceiver()
  const sender = createSender({
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    allowPrivateTargets: true,
    ca: receiver.ca,
  })
  const bank = await startBank({ sender })
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const subscribe = (body: object = {}, of = token) =>
    bank.call('/webhooks/subscriptions', { token: of, body: { event_types: ['*'], target_url: receiver.url, ...body } })
  return { bank, receiver, token, member, subscribe }
}

test('what arrives is verified by the public Standard Webhooks libraries, unmodified', async () => {
  const { bank, receiver, token, member, subscribe } = await start()
  const { status, body } = await subscribe({ event_types: ['wallet.*', 'user.*', 'future.thing'] })
  expect({ status, meta: body.meta }).toEqual({ status: 201, meta: { unknown_event_types: ['future.thing'] } })
  await bank.call('/wallet/credit', { token, body: { user_id: member.id, hours: 1.5, reference: 'tx-1', note: 'hi' } })
  const received = await eventually(() => receiver.received.find(({ json }) => json.type === 'wallet.credited'))
  const headers = received.headers as Record<string, string>
  expect(new Webhook(body.data.secret).verify(received.body, headers)).toEqual(received.json)
  expect(new SvixWebhook(body.data.secret).verify(received.body, headers)).toEqual(received.json)
  expect(received.json.data).toMatchObject({
    user_id: member.id,
    hours: 1.5,
    reference: 'tx-1',
    note: 'hi',
    balance_hours: 1.5,
  })
  const log = await eventually(async () => {
    const answer = await bank.call(`/webhooks/subscriptions/${body.data.id}/deliveries?status=delivered`, { token })
    return answer.body.data.find(({ event_type }: { event_type: string }) => event_type === 'wallet.credited')
  })
  expect(log).toMatchObject({
    event_id: received.id,
    status: 'delivered',
    attempts: [{ number: 1, status: 204, error_kind: null }],
  })
})
