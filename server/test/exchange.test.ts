import { expect, test } from 'vitest'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { recordExchanges, type Slip } from '../src/features/wallet/record-exchanges.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { startBank, TESTER } from './bank.ts'

async function start() {
  const bank = await startBank()
  const members = []
  for (const name of ['Ada', 'Ben', 'Cleo']) members.push(await addMember(bank.sql, TESTER, bank.communityId, { name }))
  const [ada, ben, cleo] = members.map(({ id }) => id) as [number, number, number]
  const exchange = (...slips: Slip[]) => recordExchanges(bank.sql, TESTER, bank.communityId, slips)
  const balances = async () => {
    const rows = await bank.sql<{ balance: number }[]>`
      select balance from accounts where kind = 'member' order by member_id`
    return rows.map(({ balance }) => balance)
  }
  return { bank, ada, ben, cleo, exchange, balances }
}

test('an exchange moves hours from one member to the other, and its events do not name the other member', async () => {
  const { bank, ada, ben, exchange, balances } = await start()
  await exchange({ giverId: ada, receiverId: ben, centihours: 125, occurredOn: '2026-01-05', note: 'Hedge' })
  expect(await balances()).toEqual([125, -125, 0])
  const events =
    await bank.sql`select member_id, data from events where type = 'wallet.balance_changed' order by member_id`
  expect(events).toMatchObject([
    { member_id: ada, data: { user_id: ada, balance_centihours: 125 } },
    { member_id: ben, data: { user_id: ben, balance_centihours: -125 } },
  ])
  for (const { data } of events)
    expect(Object.keys(data).toSorted()).toEqual(['balance_centihours', 'user_id', 'version'])
})

test('the lower limit holds under concurrency: of forty hours asked for at once just ten are lent', async () => {
  const { ada, ben, exchange, balances } = await start()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, () => exchange({ giverId: ada, receiverId: ben, centihours: 100 })),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  expect(await balances()).toEqual([1000, -1000, 0])
})

test('several slips are recorded together or not at all, and every problem is named', async () => {
  const { bank, ada, ben, cleo, exchange, balances } = await start()
  await leave(bank.sql, TESTER, bank.communityId, cleo)
  const bad = exchange(
    { giverId: ada, receiverId: ben, centihours: 100 },
    { giverId: ada, receiverId: ada, centihours: 100 },
    { giverId: ada, receiverId: cleo, centihours: 100 },
    { giverId: ada, receiverId: 999, centihours: 0 },
    { giverId: ada, receiverId: ben, centihours: 950, listingId: 77, occurredOn: '2026-02-30' },
  )
  const message = await bad.catch((error: Error) => error.message)
  for (const part of [
    'Slip 2: Giver and receiver are the same member',
    `Slip 3: There is no active member ${cleo}`,
    'Slip 4: There is no active member 999',
    'Slip 4: The hours must be greater than 0',
    'Slip 5: There is no listing 77',
    'Slip 5: 2026-02-30 is not a day',
    'Slip 5: Ben would fall to -10.5 h, below -10 h',
  ]) {
    expect(message).toContain(part)
  }
  expect(message).not.toContain('Slip 1:')
  expect(await balances()).toEqual([0, 0, 0])
  await exchange(
    { giverId: ada, receiverId: ben, centihours: 100 },
    { giverId: ben, receiverId: ada, centihours: 100, note: 'and back' },
  )
  expect(await balances()).toEqual([0, 0, 0])
})

test('a hundred exchanges at once between the same members in both directions do not block each other for good', async () => {
  const { ada, ben, cleo, exchange, balances } = await start()
  const pairs = [
    [ada, ben],
    [ben, cleo],
    [cleo, ada],
    [ben, ada],
  ] as const
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const [giverId, receiverId] = pairs[n % 4]!
      return exchange({ giverId, receiverId, centihours: 1 })
    }),
  )
  expect((await balances()).reduce((sum, balance) => sum + balance, 0)).toBe(0)
})

test('an adjustment is made against the community, with a reason; a mistake is reversed once, and a reversal never', async () => {
  const { bank, ada, balances } = await start()
  const adjust = (centihours: number, reason = 'Founding gift') =>
    adjustBalance(bank.sql, TESTER, bank.communityId, { memberId: ada, centihours, reason })
  const gift = await adjust(300)
  await adjust(-2000)
  expect(await balances()).toEqual([-1700, 0, 0])
  await expect(adjust(0)).rejects.toThrow('must not be 0')
  await expect(adjust(1, ' ')).rejects.toThrow('Say why')
  const reverse = (transferId: number) =>
    reverseTransfer(bank.sql, TESTER, bank.communityId, { transferId, reason: 'Mistake' })
  const outcomes = await Promise.allSettled([reverse(gift.id), reverse(gift.id), reverse(gift.id)])
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await balances()).toEqual([-2000, 0, 0])
})
