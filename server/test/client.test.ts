import { describe, expect, test } from 'vitest'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { changeMember, leave } from '../src/features/members/change-member.ts'
import { eventually, TESTER } from './bank.ts'
import { bank, hourbank, start, join, collect, refusalOf } from './client-calls.ts'

function publish(member_id: number, title: string, type: 'service' | 'request' = 'service') {
  return publishListing(bank.sql, TESTER, bank.communityId, {
    member_id,
    type,
    title,
    description: 'Two loaves',
    category: 'Kitchen',
    centihours: 150,
    external_id: null,
  })
}

describe('members', () => {
  test('are read one by one, by page, and all in a row', async () => {
    await start()
    const [ada, bo, cy] = await join('Ada', 'Bo', 'Cy')
    await changeMember(bank.sql, TESTER, bank.communityId, ada!.id, { email: 'ada@example.org' })
    expect(await hourbank.users.get(ada!.id)).toMatchObject({ name: 'Ada', email: 'ada@example.org', status: 'active' })

    const first = await hourbank.users.list({ limit: 2 })
    expect(first.data.map(({ name }) => name)).toEqual(['Ada', 'Bo'])
    expect(first.meta).toMatchObject({ limit: 2, has_more: true })
    const second = await hourbank.users.list({ limit: 2, cursor: first.meta.next_cursor! })
    expect(second.data.map(({ id }) => id)).toEqual([cy!.id])

    expect((await collect(hourbank.users.iterate({ limit: 1 }))).map(({ name }) => name)).toEqual(['Ada', 'Bo', 'Cy'])
    const pages = await collect(hourbank.users.pages({ limit: 2 }))
    expect(pages.map(({ data }) => data.length)).toEqual([2, 1])
    const { data } = await hourbank.users.list({ payment_reference: bo!.payment_reference })
    expect(data.map(({ name }) => name)).toEqual(['Bo'])

    expect(await refusalOf(hourbank.users.get(999))).toMatchObject({ status: 404, code: 'user_not_found' })
    // What is no id must not lead somewhere else.
    await expect(hourbank.users.get('..' as never)).rejects.toBeInstanceOf(TypeError)
    await expect(hourbank.users.get(1.5)).rejects.toBeInstanceOf(TypeError)
  })

  test('are kept in sync by rounds of changes and removals', async () => {
    await start()
    const [ada, bo] = await join('Ada', 'Bo')
    const first = await hourbank.users.changes()
    expect(first.items.map(({ name }) => name)).toEqual(['Ada', 'Bo'])
    const removals = await hourbank.removals.changes()
    expect(removals.items).toEqual([])

    await changeMember(bank.sql, TESTER, bank.communityId, ada!.id, { name: 'Ada Lang' })
    await leave(bank.sql, TESTER, bank.communityId, bo!.id)
    const second = await hourbank.users.changes(first.syncedUntil)
    expect(second.items.map(({ name }) => name)).toEqual(['Ada Lang'])
    const gone = await hourbank.removals.changes(removals.syncedUntil)
    expect(gone.items).toMatchObject([{ type: 'user', id: bo!.id }])
    expect((await hourbank.users.changes(second.syncedUntil)).items).toEqual([])
    expect((await hourbank.removals.changes(gone.syncedUntil)).items).toEqual([])
  })
})

const titles = async (query: object) => (await hourbank.listings.list(query)).data.map(({ title }) => title)

test('listings are read one by one, filtered, all in a row, and by changes and removals', async () => {
  await start()
  const [ada] = await join('Ada')
  const bread = await publish(ada!.id, 'Bread')
  await publish(ada!.id, 'Lift', 'request')
  expect(await hourbank.listings.get(bread.id)).toMatchObject({ title: 'Bread', hours: 1.5, user_id: ada!.id })
  expect(await titles({})).toEqual(['Bread', 'Lift'])
  expect(await titles({ type: 'request' })).toEqual(['Lift'])
  expect(await titles({ q: 'bread', category: 'Kitchen', user_id: ada!.id })).toEqual(['Bread'])
  expect(await collect(hourbank.listings.iterate({ limit: 1 }))).toHaveLength(2)
  expect(await collect(hourbank.listings.pages({ limit: 1 }))).toHaveLength(2)

  const { items, syncedUntil } = await hourbank.listings.changes()
  expect(items).toHaveLength(2)
  await closeListing(bank.sql, TESTER, bank.communityId, bread.id)
  expect((await hourbank.listings.changes(syncedUntil)).items).toEqual([])
  const removal = { type: 'listing', id: bread.id }
  // A removal is told once no older transaction is open, be it one of the service's own jobs.
  await eventually(async () => (await hourbank.removals.list({ since: syncedUntil })).data.length > 0)
  expect((await hourbank.removals.list({ since: syncedUntil, type: 'listing' })).data).toMatchObject([removal])
  expect(await collect(hourbank.removals.iterate())).toMatchObject([removal])
  expect(await collect(hourbank.removals.pages({ type: 'user' }))).toMatchObject([{ data: [] }])
})

describe('hours', () => {
  test('are credited once per reference, and a repetition gets the original result', async () => {
    await start()
    const [ada] = await join('Ada')
    const request = { user_id: ada!.id, hours: 1.5, reference: 'a/b?c=ä&🥖', note: 'Hi', settled_on: '2026-01-30' }
    const credit = await hourbank.wallet.credit(request)
    expect(credit).toMatchObject({ ...request, status: 'completed', balance_hours: 1.5, replayed: false })
    expect(await hourbank.wallet.credit(request)).toEqual({ ...credit, replayed: true })
    expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ user_id: ada!.id, balance_hours: 1.5 })

    const refusal = await refusalOf(hourbank.wallet.credit({ ...request, hours: 2 }))
    const { replayed: _, ...stored } = credit
    expect(refusal).toMatchObject({ status: 409, code: 'reference_conflict', storedCredit: stored, data: stored })
    expect((await hourbank.wallet.credits({ reference: request.reference })).data).toEqual([stored])
  })

  test('two hundred identical credits at once make one transfer', async () => {
    await start()
    const [ada] = await join('Ada')
    const credit = { user_id: ada!.id, hours: 1, reference: 'tx-1' }
    const answers = await Promise.all(Array.from({ length: 200 }, () => hourbank.wallet.credit(credit)))
    expect(new Set(answers.map(({ transaction_id }) => transaction_id)).size).toBe(1)
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 1 })
  })

  test('are listed with the sum of the whole selection, and reversed once', async () => {
    await start()
    const [ada] = await join('Ada')
    for (const hours of [1, 2, 3]) {
      await hourbank.wallet.credit({ user_id: ada!.id, hours, reference: `tx-${hours}` })
    }
    const page = await hourbank.wallet.credits({ user_id: ada!.id, limit: 1 })
    expect(page).toMatchObject({ data: [{ reference: 'tx-1' }], meta: { total_count: 3, total_hours: 6 } })
    const all = await collect(hourbank.wallet.iterateCredits({ limit: 2 }))
    expect(all.map(({ reference }) => reference)).toEqual(['tx-1', 'tx-2', 'tx-3'])
    expect(await collect(hourbank.wallet.creditPages({ limit: 2 }))).toHaveLength(2)

    const request = { reference: 'tx-2', reversal_reference: 'back-2', reason: 'Returned' }
    const reversal = await hourbank.wallet.reverse(request)
    expect(reversal).toMatchObject({ ...request, credit: { status: 'reversed', hours: 2 }, replayed: false })
    expect(await hourbank.wallet.reverse(request)).toEqual({ ...reversal, replayed: true })
    expect(await refusalOf(hourbank.wallet.reverse({ ...request, reversal_reference: 'back-3' }))).toMatchObject({
      code: 'reference_conflict',
      storedCredit: { reference: 'tx-2', status: 'reversed' },
    })
    expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 4 })
    const reversed = await hourbank.wallet.credits({ status: 'reversed' })
    expect(reversed).toMatchObject({ data: [{ reference: 'tx-2' }], meta: { total_count: 1, total_hours: 2 } })
  })
})

test('community totals are read as they are', async () => {
  await start()
  const aggregates = await hourbank.aggregates.community()
  const { body } = await bank.call('/aggregates/community', { token: await bank.token() })
  expect(aggregates).toEqual(body.data)
  expect(aggregates.stocks.active_members).toEqual({ suppressed: true })
})
