import { expect, test } from 'vitest'
import { changeSettings } from '../src/features/communities/change-settings.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { insertCredits } from '../src/features/wallet/insert-credits.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER } from './bank.ts'
import { openTransaction } from './lock-table.ts'

async function start() {
  const bank = await startBank()
  // Never on the other side of midnight: the tests name days by UTC.
  await changeSettings(bank.sql, TESTER, bank.communityId, { time_zone: 'UTC' })
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  const credit = (settled_on: string, reference = settled_on) =>
    bank.call('/wallet/credit', { token, body: { user_id: id, hours: 1, reference, settled_on } })
  return { bank, id, token, credit }
}

const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

test('a statement shows the credits of a batch with the balances that each of them left', async () => {
  const { bank, id, token } = await start()
  const hours = { b: 1, a: 5, c: 2 }
  const credits = Object.entries(hours).map(([reference, amount]) => ({ user_id: id, hours: amount, reference }))
  await bank.call('/wallet/credits/batch', { token, body: { credits } })
  const owner = await addAdmin(bank)
  const { body } = await owner.call(`/members/${id}/statement`)
  const shown = body.data.map(({ reference, balance_hours }: any) => [reference, balance_hours])
  expect(shown).toEqual([
    ['c', 8],
    ['a', 6],
    ['b', 1],
  ])
})

test('a settlement date in the future is rejected, and changes nothing', async () => {
  const { bank, credit } = await start()
  for (const day of [dayAfter(3), '9206-01-31']) {
    expect(await credit(day)).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'settled_on', code: 'out_of_range' }] },
    })
  }
  expect(await bank.sql`select from credits`).toEqual([])
  expect(await bank.sql`select from partner_days where centihours > 0`).toEqual([])
})

test('tomorrow is today where the bank may be, and the transfer belongs to the day of the community', async () => {
  const { bank, credit } = await start()
  const tomorrow = dayAfter(1)
  const { status, body } = await credit(tomorrow)
  expect([status, body.data.settled_on]).toEqual([201, tomorrow])
  expect((await credit(tomorrow)).body.data.settled_on).toBe(tomorrow)
  const [{ is_today: isToday }] = await bank.sql<[{ is_today: boolean }]>`
    select occurred_on = (created_at at time zone 'UTC')::date as is_today from transfers`
  expect(isToday).toBe(true)
})

test('the time of a balance never goes back, even if the earlier transaction commits later', async () => {
  const { bank, id: ada, credit } = await start()
  const { sql, communityId } = bank
  const { id: ben } = await addMember(sql, TESTER, communityId, { name: 'Ben' })
  const changedAt = async () => {
    const rows = await sql<{ at: string }[]>`select updated_at as at from accounts where member_id = ${ada}`
    return rows[0]!.at
  }
  const slips = [{ giverId: ben, receiverId: ada, centihours: 10 }]
  const [exchanging, crediting] = [await openTransaction(sql), await openTransaction(sql)]
  // Their time stands still from here on.
  await Promise.all([exchanging, crediting].map(({ tx }) => tx`select now()`))
  expect((await credit(dayAfter(0))).status).toBe(201)
  const creditedAt = await changedAt()
  await recordExchanges(exchanging.tx, TESTER, communityId, slips)
  await exchanging.commit()
  expect(await changedAt()).toBe(creditedAt)
  const [credited] = await insertCredits(crediting.tx, communityId, [
    {
      partnerId: bank.partner.partnerId,
      clientId: 1,
      memberId: ada,
      amount: 100,
      reference: 'late',
      note: null,
      settledOn: null,
    },
  ])
  await crediting.commit()
  expect([credited!.outcome, await changedAt()]).toEqual(['created', creditedAt])
})
