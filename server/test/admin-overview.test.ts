import { expect, test } from 'vitest'
import { makeTestCommunity } from '../src/demo/make-demo.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { startPostman } from './postman.ts'

test('the overview sums up what the ledger holds, month by month, and again from memory', async () => {
  const bank = await startBank()
  const { community } = await makeTestCommunity(bank.sql, TESTER, {
    slug: 'trial',
    name: 'Trial',
    timeZone: 'Europe/Vienna',
  })
  const admin = await addAdmin(bank, 'viewer', community.id, 'trial')

  const { data } = (await admin.call('/overview')).body
  expect(data.months).toHaveLength(12)
  const expected = await bank.sql`
    select to_char(t.created_at at time zone 'Europe/Vienna', 'YYYY-MM') as month,
      sum(case when t.kind = 'reversal' then -t.amount else t.amount end)
        filter (where coalesce(o.kind, t.kind) = 'exchange') / 100.0 as hours
    from transfers t left join transfers o on o.community_id = t.community_id and o.id = t.reverses_id
    where t.community_id = ${community.id} group by 1`
  const hoursByMonth = new Map(expected.map(({ month, hours }) => [month, Number(hours)]))
  for (const { month, hours_exchanged } of data.months)
    expect(hours_exchanged, month).toBe(hoursByMonth.get(month) ?? 0)
  expect(data.months.some(({ hours_exchanged }: { hours_exchanged: number }) => hours_exchanged > 0)).toBe(true)
  expect(data.active_members).toBeGreaterThan(200)

  // PostgreSQL has not counted these tables yet, and must not read all of them for a page all the same.
  expect((await admin.call('/transfers')).body.data).toHaveLength(25)

  const kept = await bank.sql`select count(*) from month_totals where community_id = ${community.id}`
  expect(kept[0]!.count).toBeGreaterThanOrEqual(10)
  expect((await admin.call('/overview')).body.data).toEqual(data)
  await bank.sql`update communities set time_zone = 'Pacific/Auckland' where id = ${community.id}`
  const elsewhere = (await admin.call('/overview')).body.data
  expect(Math.abs(sum(elsewhere.months) - sum(data.months)) / sum(data.months)).toBeLessThan(0.1)
})

test('the overview of a new community shows what to do until the first credit arrives', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank, 'viewer')
  const steps = async () => (await admin.call('/overview')).body.data.first_steps
  expect(await steps()).toEqual({ has_members: false, has_partner: true, has_call: false, has_credit: false })
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  expect(
    (await bank.call('/wallet/credit', { token, body: { user_id: id, hours: 1.5, reference: 'tx-1' } })).status,
  ).toBe(201)
  // The call log is written in batches.
  await eventually(async () => (await admin.call('/overview')).body.data.partners[0].calls === 2)
  expect(await steps()).toEqual({ has_members: true, has_partner: true, has_call: true, has_credit: true })
  const { months, partners, webhooks } = (await admin.call('/overview')).body.data
  expect(months.at(-1)).toMatchObject({ exchanges: 0, hours_exchanged: 0, hours_credited: 1.5 })
  expect(partners).toMatchObject([{ name: 'Bank', status: 'active', calls: 2, errors: 0 }])
  expect(webhooks).toEqual({ active: 0, paused: 0, disabled: 0, failing: 0, waiting: { count: 0, more: false } })
  expect((await newBrowser(bank).call('/overview')).status).toBe(401)
})

test('deliveries that wait are counted up to a thousand', async () => {
  const post = await startPostman()
  const { bank } = post
  const { id } = await post.subscribe()
  const admin = await addAdmin(bank, 'viewer')
  const add = (from: number, until: number) => bank.sql`
    insert into deliveries (community_id, subscription_id, event_id, event_created_at)
    select ${bank.communityId}, ${id}, -n, now() from generate_series(${from}::int, ${until}::int) n`
  const waiting = async () => (await admin.call('/overview')).body.data.webhooks.waiting
  await add(1, 1000)
  expect(await waiting()).toEqual({ count: 1000, more: false })
  await add(1001, 2000)
  expect(await waiting()).toEqual({ count: 1000, more: true })
})

function sum(months: { hours_exchanged: number }[]): number {
  return months.reduce((total, it) => total + it.hours_exchanged * 100, 0)
}
