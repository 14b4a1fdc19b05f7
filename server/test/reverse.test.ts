import { expect, test } from 'vitest'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { openTransaction, waitingSessions } from './lock-table.ts'

async function start() {
  const bank = await startBank()
  const ada = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const ben = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const token = await bank.token()
  const credit = (reference: string, hours = 5, member = ada) =>
    bank.call('/wallet/credit', { token, body: { user_id: member.id, hours, reference } })
  const reverse = (reference: string, reversal_reference: string, of = token) =>
    bank.call('/wallet/credits/reverse', { token: of, body: { reference, reversal_reference, reason: 'returned' } })
  const balance = async () => (await bank.call(`/wallet/balance/${ada.id}`, { token })).body.data.balance_hours
  return { bank, ada, ben, token, credit, reverse, balance }
}

test('a credit is reversed in full, once, however often and from however many calls at once', async () => {
  const { credit, reverse, balance, bank } = await start()
  await credit('tx-1')
  const answers = await Promise.all(Array.from({ length: 50 }, () => reverse('tx-1', 'back-1')))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 49 }, () => 200), 201])
  expect(answers[0]!.body.data).toMatchObject({
    reference: 'tx-1',
    reversal_reference: 'back-1',
    reason: 'returned',
    credit: { status: 'reversed', hours: 5 },
  })
  expect(await balance()).toBe(0)
  expect(await reverse('tx-1', 'back-2')).toMatchObject({
    status: 409,
    body: { error: 'reference_conflict', data: { status: 'reversed' } },
  })
  const events = await bank.sql`select data from events where type = 'wallet.reversed'`
  expect(events).toHaveLength(1)
  expect(events[0]!.data).toMatchObject({
    reference: 'tx-1',
    reversal_reference: 'back-1',
    centihours: 500,
    balance_centihours: 0,
  })
})

test('of two reversals at once under two references one wins', async () => {
  const { credit, reverse, balance } = await start()
  await credit('tx-1')
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => reverse('tx-1', `back-${n % 2}`)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(9)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(10)
  expect(await balance()).toBe(0)
})

test('a reversal reference stands for one credit', async () => {
  const { credit, reverse, balance } = await start()
  await credit('tx-1')
  await credit('tx-2')
  expect((await reverse('tx-1', 'back')).status).toBe(201)
  expect(await reverse('tx-2', 'back')).toMatchObject({
    status: 409,
    body: { data: { reference: 'tx-2', status: 'completed' } },
  })
  expect(await balance()).toBe(5)
})

/** Makes reversals of the partner's credits wait, each in the middle of its transaction. */
async function holdPartner({ bank }: Awaited<ReturnType<typeof start>>) {
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from accounts where partner_id = ${bank.partner.partnerId} for update`
  return {
    release: held.release,
    awaited: (count: number) =>
      eventually(async () => (await waitingSessions(bank.sql, '%from accounts%')).length === count),
  }
}

test('of two credits reversed at once under one reference, one is reversed and the other conflicts', async () => {
  const town = await start()
  const { ben, credit, reverse, bank } = town
  await credit('tx-1')
  await credit('tx-2', 5, ben)
  const held = await holdPartner(town)
  const answers = Promise.all([reverse('tx-1', 'back'), reverse('tx-2', 'back')])
  await held.awaited(2)
  await held.release()
  expect((await answers).map(({ status }) => status).toSorted()).toEqual([201, 409])
  expect(await bank.sql`select from credit_reversals`).toHaveLength(1)
})

test('a partner and the office can reverse credits of one member at once', async () => {
  const town = await start()
  const { bank, credit, reverse, balance } = town
  await credit('tx-1')
  await credit('tx-2')
  const [{ transfer_id: transferId }] = await bank.sql<[{ transfer_id: number }]>`
    select transfer_id from credits where reference = 'tx-2'`
  const held = await holdPartner(town)
  const byOffice = reverseTransfer(bank.sql, TESTER, bank.communityId, { transferId, reason: 'wrong' })
  await held.awaited(1)
  const byPartner = reverse('tx-1', 'back-1')
  await held.awaited(2)
  await held.release()
  await byOffice
  expect((await byPartner).status).toBe(201)
  expect(await balance()).toBe(0)
})

test("another partner's credits and reversal references do not matter", async () => {
  const { bank, ada, credit, reverse, balance } = await start()
  const other = await bank.token(undefined, await bank.addPartner())
  const body = { user_id: ada.id, hours: 5, reference: 'tx-1' }
  await bank.call('/wallet/credit', { token: other, body })
  expect((await reverse('tx-1', 'back', other)).status).toBe(201)
  await credit('tx-1')
  expect(await balance()).toBe(5)
  expect((await reverse('tx-1', 'back')).status).toBe(201)
  expect(await balance()).toBe(0)
})

test('a credit is reversed for members who left, and past the lower limit', async () => {
  const { bank, ada, ben, credit, reverse } = await start()
  await credit('tx-1', 20)
  await recordExchanges(bank.sql, TESTER, bank.communityId, [{ giverId: ben.id, receiverId: ada.id, centihours: 2500 }])
  await leave(bank.sql, TESTER, bank.communityId, ada.id)
  expect((await reverse('tx-1', 'back')).status).toBe(201)
  expect(await bank.sql`select balance from accounts where member_id = ${ada.id}`).toEqual([{ balance: -2500 }])
})

test('an unknown reference, or one of another partner, is not found', async () => {
  const { bank, credit, reverse } = await start()
  await credit('tx-1')
  const other = await bank.token(undefined, await bank.addPartner())
  for (const answer of [
    await reverse('tx-9', 'back'),
    await reverse('TX-1', 'back'),
    await reverse('tx-1', 'back', other),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { error: 'credit_not_found' } })
  }
})

test('a credit that the office reversed shows as reversed and cannot be reversed again', async () => {
  const { bank, credit, reverse, token } = await start()
  await credit('tx-1')
  const [transfer] = await bank.sql<[{ id: number }]>`select id from transfers`
  const input = { transferId: transfer.id, reason: 'mistake' }
  const reversal = await reverseTransfer(bank.sql, TESTER, bank.communityId, input)
  expect((await bank.call('/wallet/credits?status=reversed', { token })).body.meta.total_count).toBe(1)
  expect(await reverse('tx-1', 'back')).toMatchObject({ status: 409, body: { error: 'reference_conflict' } })
  await expect(reverseTransfer(bank.sql, TESTER, bank.communityId, input)).rejects.toThrow('reversed already')
  await expect(
    reverseTransfer(bank.sql, TESTER, bank.communityId, { transferId: reversal.id, reason: 'no' }),
  ).rejects.toThrow('cannot be reversed')
})

test("a partner's own credits are listed with every filter, and summed over the whole selection", async () => {
  const { bank, ben, token, credit, reverse } = await start()
  for (const n of [1, 2, 3]) await credit(`tx-${n}`, n)
  await reverse('tx-2', 'back')
  const settled = { user_id: ben.id, hours: 4, reference: 'tx-4', settled_on: '2026-03-01' }
  const { body } = await bank.call('/wallet/credit', { token, body: settled })
  const list = async (query: string) => {
    const answer = await bank.call(`/wallet/credits${query}`, { token })
    return [
      answer.body.data.map(({ reference }: { reference: string }) => reference),
      answer.body.meta.total_count,
      answer.body.meta.total_hours,
    ]
  }
  const at = encodeURIComponent(body.data.created_at)
  expect(await list('?limit=2')).toEqual([['tx-1', 'tx-2'], 4, 10])
  expect(await list('?reference=tx-3')).toEqual([['tx-3'], 1, 3])
  expect(await list('?reference=TX-3')).toEqual([[], 0, 0])
  expect(await list(`?user_id=${ben.id}`)).toEqual([['tx-4'], 1, 4])
  expect(await list('?status=reversed')).toEqual([['tx-2'], 1, 2])
  expect(await list('?status=completed')).toEqual([['tx-1', 'tx-3', 'tx-4'], 3, 8])
  expect(await list('?settled_on=2026-03-01')).toEqual([['tx-4'], 1, 4])
  expect(await list(`?created_since=${at}`)).toEqual([['tx-4'], 1, 4])
  expect(await list(`?created_until=${at}`)).toEqual([['tx-1', 'tx-2', 'tx-3'], 3, 6])
  const other = await bank.token('wallet.write', await bank.addPartner())
  expect((await bank.call('/wallet/credits', { token: other })).body).toMatchObject({
    data: [],
    meta: { total_count: 0 },
  })
})
