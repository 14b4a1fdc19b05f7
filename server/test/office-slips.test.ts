import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER } from './bank.ts'

const DAY = '2026-01-05'

async function start() {
  const bank = await startBank({ config: { role: 'api' } })
  const ids: number[] = []
  for (const name of ['Ada', 'Ben', 'Cleo']) {
    ids.push((await addMember(bank.sql, TESTER, bank.communityId, { name })).id)
  }
  const [ada, ben, cleo] = ids as [number, number, number]
  const manager = await addAdmin(bank, 'manager')
  const slip = (more: object = {}) => ({ giver_id: ada, receiver_id: ben, hours: 1, occurred_on: DAY, ...more })
  const record = (slips: object[], more: object = {}) => manager.call('/exchanges', { body: { slips, ...more } })
  const balances = async () => {
    const rows = await bank.sql<{ balance: number }[]>`
      select balance from accounts where community_id = ${bank.communityId} and kind = 'member' order by member_id`
    return rows.map(({ balance }) => balance)
  }
  const audit = async (action: string) => (await manager.call(`/audit?action=${action}`)).body.data
  return { bank, ada, ben, cleo, manager, slip, record, balances, audit }
}

test('a slip below the limit names the member, and is recorded with the reason for allowing it', async () => {
  const { bank, manager, cleo, slip, record, balances, audit } = await start()
  const slips = [slip({ hours: 18.5 }), slip({ receiver_id: cleo })]
  const refused = await record(slips)
  expect(refused.status).toBe(422)
  expect(refused.body.errors).toMatchObject([
    { field: 'slips.0.hours', code: 'below_limit', message: 'Ben would fall to -18.5 h, below -10 h.' },
  ])
  expect((await record(slips, { limit_reason: '  ' })).status).toBe(422)
  expect((await record(slips, { limit_reason: 'x'.repeat(501) })).body.errors).toMatchObject([
    { field: 'limit_reason' },
  ])
  // A reason does not excuse anything else.
  const other = await record([slip({ hours: 18.5, note: 'x'.repeat(501) })], { limit_reason: 'Agreed' })
  expect(other.body.errors).toMatchObject([{ field: 'slips.0.note' }])
  expect(await balances()).toEqual([0, 0, 0])

  const allowed = await record(slips, { limit_reason: 'Agreed on the phone' })
  expect(allowed.status).toBe(201)
  expect(await balances()).toEqual([1950, -1850, -100])
  const [first, second] = allowed.body.data.transfer_ids
  expect((await manager.call(`/transfers/${first}`)).body.data).toMatchObject({
    limit_reason: 'Agreed on the phone',
    note: null,
  })
  expect((await manager.call(`/transfers/${second}`)).body.data.limit_reason).toBeNull()
  const entries = await audit('exchange.recorded')
  expect(entries.map(({ detail }: { detail: object }) => detail)).toEqual([{}, { below_limit: true }])
  expect(JSON.stringify(entries)).not.toContain('Agreed')
  await manager.call(`/members/${slip().receiver_id}/erase`, { method: 'POST' })
  expect(await bank.sql`select from transfer_notes`).toHaveLength(0)
})

test('a correction reverses the exchange and records another one: both or neither, once', async () => {
  const { bank, ada, ben, cleo, manager, slip, record, balances, audit } = await start()
  const [id] = (await record([slip({ hours: 2, note: 'Garden' })])).body.data.transfer_ids
  const correct = (more: object, at: number | string = id) =>
    manager.call(`/transfers/${at}/correct`, {
      body: { slips: [slip({ receiver_id: cleo })], reason: 'Wrong', ...more },
    })

  for (const [body, field] of [
    [{ reason: ' ' }, 'reason'],
    [{ slips: [slip({ receiver_id: ada })] }, 'slips.0.receiver_id'],
    [{ slips: [slip({ hours: 99 })] }, 'slips.0.hours'],
    [{ slips: [slip({ category: 'None' })] }, 'slips.0.category'],
    [{ slips: [slip(), slip()] }, 'slips'],
  ] as const) {
    const answer = await correct(body)
    expect(answer.body.errors, field).toMatchObject([{ field }])
  }
  expect(await balances()).toEqual([200, -200, 0])

  const key = 'a-key-of-the-console-1'
  const answers = await Promise.all([correct({ key }), correct({ key })])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 201])
  expect(await balances()).toEqual([100, 0, -100])
  expect((await manager.call(`/transfers/${id}`)).body.data.reversal).toMatchObject({ reason: 'Wrong' })
  expect((await correct({})).body.error).toBe('refused')
  expect(await audit('transfer.reversed')).toHaveLength(1)
  expect(await balances()).toEqual([100, 0, -100])

  const gift = { member_id: ben, hours: 2, reason: 'A gift' }
  const [adjustment] = (await manager.call('/adjustments', { body: gift })).body.data.transfer_ids
  expect((await correct({}, adjustment)).body.error).toBe('refused')
  expect((await correct({}, 999_999)).status).toBe(404)
  const viewer = await addAdmin(bank, 'viewer')
  const body = { slips: [slip()], reason: 'x' }
  expect((await viewer.call(`/transfers/${id}/correct`, { body })).body.error).toBe('role_insufficient')
  expect((await newBrowser(bank).call(`/transfers/${id}/correct`, { body })).status).toBe(401)
  expect(await balances()).toEqual([100, 200, -100])
})
