import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { isDay, isTime } from '../src/core/times.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { startBank, TESTER } from './bank.ts'
import { startPostman } from './postman.ts'

const PATH = '/webhooks/subscriptions'

test('the catalogue names every event with a schema and an example that fits it', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const { body } = await bank.call('/webhooks/event-types', { token: await bank.token() })
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual([
    'wallet.credited',
    'wallet.reversed',
    'wallet.balance_changed',
    'user.joined',
    'user.updated',
    'user.left',
    'user.erased',
    'listing.published',
    'listing.updated',
    'listing.closed',
    'webhook.test',
  ])
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { 'date-time': isTime, date: isDay, text: true } })
  for (const { name, schema, example, description } of body.data) {
    expect({ name, errors: ajv.validate(schema, example) ? null : ajv.errors }).toEqual({ name, errors: null })
    expect(description).toMatch(/./)
  }
})

test('what is really sent fits the catalogue too', async () => {
  const post = await startPostman()
  const { bank, token, receiver } = post
  const { body } = await bank.call('/webhooks/event-types', { token })
  const schemas = new Map<string, object>(
    body.data.map(({ name, schema }: { name: string; schema: object }) => [name, schema]),
  )
  const { id } = await post.subscribe({ event_types: ['*'] })
  const { reference } = await post.credit({ note: 'n', settled_on: '2026-01-30' })
  await bank.call('/wallet/credits/reverse', {
    token,
    body: { reference, reversal_reference: 'back', reason: 'returned' },
  })
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Bo' })
  await bank.call(`${PATH}/${id}/test`, { method: 'POST', token })
  await post.deliver()
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { 'date-time': isTime, date: isDay, text: true } })
  expect(receiver.received.map(({ json }) => json.type).toSorted()).toEqual([
    'user.joined',
    'wallet.credited',
    'wallet.reversed',
    'webhook.test',
  ])
  for (const { json } of receiver.received) {
    expect(Object.keys(json)).toEqual(['type', 'timestamp', 'data'])
    expect(isTime(json.timestamp)).toBe(true)
    const schema = schemas.get(json.type)!
    expect({ type: json.type, errors: ajv.validate(schema, json.data) ? null : ajv.errors }).toEqual({
      type: json.type,
      errors: null,
    })
  }
})
