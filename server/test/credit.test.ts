import { expect, test } from 'vitest'
import { addMember, leave } from '../src/members/change-member.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

async function credit(bank: Bank, token: string, body: Record<string, unknown>) {
  return bank.call('/wallet/credit', { token, body })
}

test('two hundred identical credits at once make one transfer', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => credit(bank, token, { user_id: member.id, hours: 1.5, reference: 'tx-1' })),
  )
  const statuses = answers.map(({ status }) => status).toSorted()
  expect(statuses).toEqual([...Array.from({ length: 199 }, () => 200), 201])
  expect(new Set(answers.map(({ body }) => body.data.transaction_id)).size).toBe(1)
  expect(answers.filter(({ body }) => !body.data.replayed)).toHaveLength(1)
  const balance = await bank.call(`/wallet/balance/${member.id}`, { token })
  expect(balance.body.data).toMatchObject({ user_id: member.id, balance_hours: 1.5 })
  const [counts] = await bank.sql`
    select (select count(*) from transfers)::int as transfers, (select count(*) from events where type = 'wallet.credited')::int as events`
  expect(counts).toEqual({ transfers: 1, events: 1 })
})

test('a retry after the member left is told what happened', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const body = { user_id: member.id, hours: 1.15, reference: 'tx-1', note: 'Thanks 🌻' }
  const first = await credit(bank, token, body)
  expect(first.status).toBe(201)
  await leave(bank.sql, TESTER, bank.communityId, member.id)
  const again = await credit(bank, token, body)
  expect(again).toMatchObject({ status: 200, body: { data: { ...first.body.data, replayed: true } } })
  expect((await credit(bank, token, { ...body, reference: 'tx-2' })).body.error).toBe('user_not_found')
  const reversed = await bank.call('/wallet/credits/reverse', {
    token,
    body: { reference: 'tx-1', reversal_reference: 'r-1' },
  })
  expect(reversed).toMatchObject({ status: 201, body: { data: { credit: { status: 'reversed' }, replayed: false } } })
  expect((await credit(bank, token, body)).body.data).toMatchObject({ status: 'reversed', replayed: true })
})
