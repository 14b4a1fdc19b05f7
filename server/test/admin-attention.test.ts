import { expect, test } from 'vitest'
import { transaction } from '../src/postgres/connect.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { findIdleMembers, findMembersAtLimit } from '../src/features/overview/attention-queries.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'

interface Item {
  kind: string
  count: { count: number; more: boolean }
  examples: Record<string, unknown>[]
}

const attentionOf = async (admin: TestAdmin): Promise<Item[]> => (await admin.call('/overview')).body.data.attention
const find = async (admin: TestAdmin, kind: string) => (await attentionOf(admin)).find((item) => item.kind === kind)

test('the overview lists what needs attention, of this community only, and nothing that is in order', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await addAdmin(bank, 'owner', elsewhere, 'elsewhere')
  await bank.sql`update communities set second_factor_required = false`
  expect(await attentionOf(owner)).toEqual([
    {
      kind: 'second_factor_missing',
      count: { count: 1, more: false },
      examples: [{ id: owner.id, name: 'The owner' }],
    },
  ])

  const [ada, ben, cleo] = await Promise.all(
    ['Ada', 'Ben', 'Cleo'].map((name) => addMember(bank.sql, TESTER, bank.communityId, { name })),
  )
  const partner = await bank.addPartner({ name: 'Care network', dailyLimitCentihours: 1000 })
  const token = await bank.token(undefined, partner)
  const subscribed = await bank.call('/webhooks/subscriptions', {
    token,
    body: { event_types: ['*'], target_url: 'https://receiver.example/' },
  })
  const slips = [{ giver_id: ben!.id, receiver_id: ada!.id, hours: 10 }]
  expect((await owner.call('/exchanges', { body: { slips } })).status).toBe(201)
  const credit = { user_id: ben!.id, hours: 8, reference: 'tx-1' }
  expect((await bank.call('/wallet/credit', { token, body: credit })).status).toBe(201)
  await bank.sql`update accounts set last_active_on = now() - interval '8 months' where member_id = ${cleo!.id}`
  await bank.sql`update subscriptions set failing_since = now() - interval '2 hours'`
  const file = 'external_id,name,status\nm-1,Dora,active\nm-2,Emil,asleep\n'
  const imported = await owner.call('/members/import?skip_bad=true', {
    method: 'POST',
    body: file,
    headers: { 'content-type': 'text/csv' },
  })
  expect(imported.body.data).toMatchObject({ added: 1, refused: 1 })
  await bank.sql`update clients set expires_at = now() + interval '3 days' where public_id = ${partner.clientId}`

  expect(await find(owner, 'webhooks_failing')).toMatchObject({
    count: { count: 1 },
    examples: [{ id: subscribed.body.data.id, name: 'Care network', status: 'failing', since: expect.any(String) }],
  })
  expect(await find(owner, 'hours_nearly_used')).toMatchObject({
    examples: [{ id: partner.partnerId, name: 'Care network', hours: 8, limit_hours: 10 }],
  })
  expect((await find(owner, 'members_at_limit'))!.examples).toEqual([{ id: ada!.id, name: 'Ada', hours: -10 }])
  expect(await find(owner, 'members_idle')).toMatchObject({
    count: { count: 1 },
    examples: [{ id: cleo!.id, name: 'Cleo', hours: 0 }],
  })
  expect(await find(owner, 'import_refused')).toMatchObject({ examples: [{ name: 'members', refused: 1 }] })
  expect(await find(owner, 'credentials_expiring')).toMatchObject({
    examples: [{ id: partner.partnerId, client_id: partner.clientId, status: 'expiring' }],
  })
  expect((await attentionOf(stranger)).map(({ kind }) => kind)).toEqual(['second_factor_missing'])

  // What was put in order is no longer listed.
  await owner.call('/members/import', {
    method: 'POST',
    body: 'external_id,name\nm-2,Emil\n',
    headers: { 'content-type': 'text/csv' },
  })
  await bank.sql`update subscriptions set failing_since = null`
  await bank.sql`update members set status = 'inactive' where id = ${cleo!.id}`
  await bank.sql`update accounts set active = false where member_id = ${cleo!.id}`
  const kinds = (await attentionOf(owner)).map(({ kind }) => kind)
  expect(kinds).not.toContain('import_refused')
  expect(kinds).not.toContain('webhooks_failing')
  expect(kinds).not.toContain('members_idle')
})

test('a partner that sends too many calls needs attention, and at most five partners are listed', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  for (let n = 0; n < 6; n++) await bank.addPartner({ name: `Partner ${n}` })
  const hasty = await bank.addPartner({ name: 'Hasty', rateLimitPerMinute: 1 })
  const token = await bank.token(undefined, hasty)
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => (await bank.call('/users', { token })).status),
  )
  expect(statuses).toContain(429)
  expect(await eventually(() => find(owner, 'calls_limited'))).toMatchObject({
    examples: [{ id: hasty.partnerId, name: 'Hasty', calls: expect.any(Number) }],
  })
  const { partners, partner_count } = (await owner.call('/overview')).body.data
  expect([partners.length, partner_count]).toEqual([5, 8])
  expect(partners[0]).toMatchObject({ name: 'Hasty' })
})

test('where a second factor is required, administrators without one are listed; elsewhere people see only their own', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  expect((await find(viewer, 'second_factor_missing'))!.examples).toEqual([{ id: viewer.id, name: 'The viewer' }])
  await bank.sql`
    insert into admin_apps (admin_id, secret, active_since) values (${owner.id}, ${Buffer.from('sealed')}, now())`
  expect(await find(owner, 'second_factor_missing')).toBeUndefined()
  await bank.sql`update communities set second_factor_required = true`
  expect((await find(owner, 'second_factor_missing'))!.examples).toEqual([{ id: viewer.id, name: 'The viewer' }])
})

test('only owners of all communities see that a backup is old', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  expect(await find(owner, 'backup_old')).toBeUndefined()
  await bank.sql`update installation set created_at = now() - interval '8 days'`
  expect((await find(owner, 'backup_old'))!.examples).toEqual([{ name: 'backup' }])
  expect(await find(viewer, 'backup_old')).toBeUndefined()
  await bank.sql`insert into operator_runs (kind, succeeded_at) values ('backup', now() - interval '1 day')`
  expect(await find(owner, 'backup_old')).toBeUndefined()
  await bank.sql`update operator_runs set succeeded_at = now() - interval '8 days'`
  expect((await find(owner, 'backup_old'))!.examples).toMatchObject([{ since: expect.any(String) }])
  await bank.addCommunity('elsewhere')
  expect(await find(owner, 'backup_old')).toBeUndefined()
})

test('members that need attention are found by index in a large community, and counted up to a limit', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const members = 3000
  await bank.sql`
    with made as (
      insert into members (community_id, id, name)
      select ${bank.communityId}, n, 'Member ' || n from generate_series(1, ${members}) as g(n) returning id
    )
    insert into accounts (community_id, kind, member_id, balance, last_active_on)
    select ${bank.communityId}, 'member', id, case when id <= 150 then -1000 else 500 end,
      now() - case when id > 2800 then interval '1 year' else interval '0' end from made`
  await bank.sql`analyze`
  expect(await find(owner, 'members_at_limit')).toMatchObject({ count: { count: 100, more: true } })
  await transaction(bank.sql, async (tx) => {
    expect(await findMembersAtLimit(tx, bank.communityId, 101)).toHaveLength(101)
    expect(await findIdleMembers(tx, bank.communityId, 6, 101)).toHaveLength(101)
    const [read] = await tx<[{ scans: number }]>`select pg_stat_get_xact_numscans('accounts'::regclass) as scans`
    expect(read.scans).toBe(0)
  })
})

test('members are inactive by the calendar of their community', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const cleo = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Cleo' })
  // At any hour, the day in at least one of them differs from that in UTC.
  for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12']) {
    await bank.sql`update communities set time_zone = ${zone} where id = ${bank.communityId}`
    // In one transaction, so that no midnight comes between. Zero months, because some months are too short for the day.
    await transaction(bank.sql, async (tx) => {
      const isIdle = async (daysAgo: number) => {
        await tx`
          update accounts set last_active_on = (now() at time zone ${zone}::text)::date - ${daysAgo}::int4
          where member_id = ${cleo.id}`
        return (await findIdleMembers(tx, bank.communityId, 0, 1)).length === 1
      }
      expect([await isIdle(0), await isIdle(1)], zone).toEqual([false, true])
    })
  }
})
