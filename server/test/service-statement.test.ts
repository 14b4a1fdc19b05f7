import { expect, test } from 'vitest'
import { findHead } from '../src/features/ledger/queries.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER } from './bank.ts'
import { holdOpen } from './lock-table.ts'

async function startWithTwo() {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben] = [
    await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' }),
    await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' }),
  ]
  const record = async (hours: number, occurred_on: string) => {
    const slips = [{ giver_id: ada.id, receiver_id: ben.id, hours, occurred_on }]
    const { status, body } = await manager.call('/exchanges', { body: { slips } })
    expect(status, JSON.stringify(body)).toBe(201)
  }
  const statement = (query = '', id = ada.id) => manager.call(`/members/${id}/statement/by-service${query}`)
  return { bank, manager, ada, ben, record, statement }
}

test('a statement follows the days of service, adds up in that order, and names the day of recording', async () => {
  const { bank, ada, manager, record, statement } = await startWithTwo()
  await record(1.25, '2025-10-02')
  // Recorded later, but it happened before.
  await record(2, '2025-09-01')
  await record(0.5, '2025-09-01')
  await record(4, '2025-08-31')
  const { body } = await statement('?from=2025-09-01&until=2025-09-30')
  expect(body.data).toMatchObject({
    opening_balance_hours: 4,
    closing_balance_hours: 6.5,
    complete: true,
    rows: [
      { hours: 2, balance_hours: 6, occurred_on: '2025-09-01' },
      { hours: 0.5, balance_hours: 6.5, occurred_on: '2025-09-01' },
    ],
  })
  const [today] = await bank.sql<[{ day: string }]>`select (now() at time zone 'UTC')::date::text as day`
  expect(body.data.rows.map((row: any) => row.recorded_on)).toEqual([today.day, today.day])

  const since = await statement(`?from=${today.day}`)
  expect(since.body.data).toMatchObject({ opening_balance_hours: 7.75, closing_balance_hours: 7.75, rows: [] })
  const all = await statement()
  expect(all.body.data.rows.map((row: any) => row.balance_hours)).toEqual([4, 6, 6.5, 7.75])
  const { body: member } = await manager.call(`/members/${ada.id}`)
  expect(all.body.data.closing_balance_hours).toBe(member.data.balance_hours)
})

test('the other side pays, reversals count on their own day, and nobody else sees it', async () => {
  const { bank, manager, ada, ben, record, statement } = await startWithTwo()
  await record(1.5, '2025-09-01')
  const { body } = await statement('', ben.id)
  expect(body.data).toMatchObject({ closing_balance_hours: -1.5, rows: [{ hours: -1.5, other: { name: 'Ada' } }] })
  await manager.call(`/transfers/${body.data.rows[0].id}/reverse`, { body: { reason: 'Twice' } })
  expect((await statement('?until=2025-12-31', ben.id)).body.data).toMatchObject({ closing_balance_hours: -1.5 })
  const whole = await statement('', ben.id)
  expect(whole.body.data.rows.map((row: any) => row.kind)).toEqual(['exchange', 'reversal'])
  expect(whole.body.data.closing_balance_hours).toBe(0)

  expect(await statement('?from=2025-09-02&until=2025-09-01')).toMatchObject({
    status: 422,
    body: { errors: [{ field: 'until' }] },
  })
  expect((await statement('', 999)).status).toBe(404)
  const otherId = await bank.addCommunity('other')
  const stranger = await addAdmin(bank, 'owner', otherId, 'other')
  expect((await stranger.call(`/members/${ada.id}/statement/by-service`)).status).toBe(404)
  expect((await stranger.call(`/communities/town/members/${ada.id}/statement/by-service`)).status).toBe(404)
})

test('the bank account of a community is checked, and only owners change it', async () => {
  const bank = await startBank()
  const [owner, manager] = [await addAdmin(bank), await addAdmin(bank, 'manager')]
  const change = (body: object) => owner.call('/communities/town', { method: 'PATCH', body })
  const saved = await change({ iban: 'de89 3704 0044 0532 0130 00', account_holder: ' Town e.V. ' })
  expect(saved.body.data).toMatchObject({ iban: 'DE89370400440532013000', account_holder: 'Town e.V.' })
  for (const iban of ['DE88370400440532013000', 'DE8937040044053201300', 'hello']) {
    expect(await change({ iban })).toMatchObject({ status: 422, body: { errors: [{ field: 'iban' }] } })
  }
  expect(await change({ account_holder: 'x'.repeat(71) })).toMatchObject({ status: 422 })
  expect((await manager.call('/communities/town')).body.data).toMatchObject({ iban: 'DE89370400440532013000' })
  const body = { iban: '' }
  expect((await manager.call('/communities/town', { method: 'PATCH', body })).status).toBe(403)
  expect((await change({ iban: '', account_holder: '' })).body.data).toMatchObject({ iban: null, account_holder: null })

  await change({ iban: 'DE89370400440532013000' })
  await bank.sql`update admin_sessions set proven_at = now() - interval '15 minutes' where admin_id = ${owner.id}`
  expect(await change({ iban: '' })).toMatchObject({ status: 403, body: { error: 'proof_required' } })
})

test('a statement carries an end of the hash chain that covers all of its lines, or none', async () => {
  const { bank, manager, ada, ben, record, statement } = await startWithTwo()
  const listedHead = async () => (await manager.call(`/members/${ada.id}/statement`)).body.meta.ledger_head
  const printedHead = async (id = ada.id) => (await statement('', id)).body.data.ledger_head
  expect([await listedHead(), await printedHead()]).toEqual([null, null])
  await record(1, '2025-10-02')
  expect(await listedHead()).toBeNull()
  // Printing chains what was just recorded.
  const head = await printedHead()
  expect(head).toMatchObject({ position: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(head).toEqual(await findHead(bank.sql, bank.communityId))
  expect(await listedHead()).toEqual(head)

  const held = await holdOpen(bank.sql, 'select pg_current_xact_id()')
  await record(2, '2025-10-01')
  expect([await listedHead(), await printedHead(), await printedHead(ben.id)]).toEqual([null, null, null])
  // Somebody else's newer transfer does not concern a paper.
  const cy = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Cy' })
  expect(await printedHead(cy.id)).toEqual(head)
  await held.release()
  const { rows, ledger_head } = (await statement()).body.data
  expect(ledger_head).toMatchObject({ position: 2, transfer_id: Math.max(...rows.map((row: any) => row.id)) })
})
