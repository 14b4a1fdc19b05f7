import { expect, test } from 'vitest'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER } from './bank.ts'

async function start() {
  const bank = await startBank({ config: { role: 'api' } })
  const owner = await addAdmin(bank)
  const change = (body: object) => owner.call('/communities/town', { method: 'PATCH', body })
  return { bank, owner, change }
}

test('an owner changes the community, and the audit log says what', async () => {
  const { owner, change } = await start()
  expect((await owner.call('/communities/town')).body.data).toMatchObject({
    slug: 'town',
    name: 'Town',
    time_zone: 'UTC',
    language: 'en',
    lower_limit_hours: -10,
    credit_limit_hours: 1000,
    test: false,
    partner_api_enabled: true,
  })
  const input = { name: ' Grünau ', time_zone: 'Europe/Vienna', language: 'de', lower_limit_hours: -20.5 }
  const changed = await change({ ...input, credit_limit_hours: 40 })
  expect(changed.body.data).toMatchObject({ ...input, name: 'Grünau', credit_limit_hours: 40, slug: 'town' })
  expect((await owner.call('/session')).body.data.communities).toMatchObject([
    { name: 'Grünau', time_zone: 'Europe/Vienna', language: 'de' },
  ])
  // The same again changes nothing, so there is nothing to record.
  await change({ ...input, credit_limit_hours: 40 })
  expect((await owner.call('/audit?action=community.changed')).body.data).toMatchObject([
    { detail: { name: 'Grünau', time_zone: 'Europe/Vienna', lower_limit_hours: -20.5, credit_limit_hours: 40 } },
  ])
})

test('invalid values are reported beside their fields, and nothing changes', async () => {
  const { owner, change } = await start()
  const before = (await owner.call('/communities/town')).body.data
  for (const [field, value] of [
    ['name', '  '],
    ['name', 'x'.repeat(201)],
    ['time_zone', 'Europe/Nowhere'],
    ['time_zone', '+02:00'],
    // Known to JavaScript only.
    ['time_zone', 'MIT'],
    ['time_zone', 'SystemV/PST8'],
    // India for JavaScript, Israel for PostgreSQL.
    ['time_zone', 'IST'],
    ['language', 'not a language'],
    ['lower_limit_hours', 1],
    ['lower_limit_hours', -0.001],
    ['credit_limit_hours', 0],
    ['credit_limit_hours', 1e9],
    ['credit_limit_hours', '5'],
  ] as const) {
    const refused = await change({ [field]: value })
    expect([refused.status, refused.body.errors[0].field]).toEqual([422, field])
  }
  expect((await owner.call('/communities/town')).body.data).toEqual(before)
})

test('a community whose time zone is no longer accepted keeps it until it takes another', async () => {
  const { bank, change } = await start()
  await bank.sql`update communities set time_zone = 'CET'`
  expect((await change({ time_zone: 'CET', name: 'Still there' })).status).toBe(200)
  expect((await change({ time_zone: 'EET' })).status).toBe(422)
})

test('time zones are places, in capitals or not, and fixed offsets by name', async () => {
  const { change } = await start()
  for (const time_zone of ['Europe/Vienna', 'asia/kolkata', 'Etc/GMT+5', 'GMT', 'UTC']) {
    expect([time_zone, (await change({ time_zone })).status]).toEqual([time_zone, 200])
  }
})

test('a new time zone recounts the days of partners, so that the limits stay correct', async () => {
  const { bank, change } = await start()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token('wallet.write')
  const credit = (reference: string) =>
    bank.call('/wallet/credit', { token, body: { user_id: id, hours: 3, reference } })
  await credit('tx-1')
  // 26 hours apart: the same moment is always on two days.
  for (const time_zone of ['Pacific/Kiritimati', 'Etc/GMT+12', 'Europe/Vienna']) {
    expect((await change({ time_zone })).status).toBe(200)
    expect((await verifyLedger(bank.sql, bank.communityId)).differences).toEqual([])
  }
  const [, , answer] = await Promise.all([credit('tx-2'), change({ time_zone: 'Pacific/Kiritimati' }), credit('tx-3')])
  expect(answer.status).toBe(201)
  expect((await verifyLedger(bank.sql, bank.communityId)).differences).toEqual([])
})

test('categories are added, renamed with their listings, retired and offered again', async () => {
  const { bank, owner } = await start()
  const { id: memberId } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const added = await owner.call('/categories', { body: { name: ' Garden ' } })
  expect(added.status).toBe(201)
  const { id } = added.body.data
  const patch = (body: object, of: number | string = id) => owner.call(`/categories/${of}`, { method: 'PATCH', body })
  const listing = await publishListing(bank.sql, TESTER, bank.communityId, {
    member_id: memberId,
    type: 'service',
    title: 'Hedges',
    description: '',
    category: 'Garden',
    centihours: null,
    external_id: null,
  })

  expect((await patch({ name: 'Gardens' })).status).toBe(200)
  const token = await bank.token()
  expect((await bank.call(`/listings/${listing.id}`, { token })).body.data).toMatchObject({ category: 'Gardens' })
  const events = await bank.sql`select data from events where type = 'listing.updated'`
  expect(events).toMatchObject([{ data: { id: listing.id, category: 'Gardens', version: listing.version + 1 } }])

  await owner.call('/categories', { body: { name: 'Kitchen' } })
  expect((await patch({ name: 'Kitchen' })).body.errors).toMatchObject([{ field: 'name' }])
  expect((await owner.call('/categories', { body: { name: 'Kitchen' } })).body.errors).toMatchObject([
    { field: 'name' },
  ])
  expect((await owner.call('/categories', { body: { name: '' } })).body.errors).toMatchObject([{ field: 'name' }])
  expect((await patch({ name: 'x' }, 999)).status).toBe(404)

  await patch({ retired: true })
  expect((await owner.call('/categories')).body.data).toMatchObject([
    { name: 'Kitchen', retired_at: null, active_listings: 0 },
    { name: 'Gardens', retired_at: expect.any(String), active_listings: 1 },
  ])
  await patch({ retired: false })
  expect(
    (await owner.call('/audit?action=category.')).body.data.map((entry: { action: string }) => entry.action),
  ).toEqual(['category.restored', 'category.retired', 'category.added', 'category.renamed', 'category.added'])
})

test('the aggregates are what partners get, byte for byte', async () => {
  const { bank, owner } = await start()
  const token = await bank.token('aggregates.read')
  const seen = await bank.call('/aggregates/community', { token })
  expect((await owner.call('/aggregates')).body).toEqual(seen.body)
})

test('only owners change the community, managers its categories, strangers nothing', async () => {
  const { bank, owner } = await start()
  const [manager, viewer] = [await addAdmin(bank, 'manager'), await addAdmin(bank, 'viewer')]
  const stranger = await addAdmin(bank, 'owner', await bank.addCommunity('elsewhere'), 'elsewhere')
  const rename = { method: 'PATCH', body: { name: 'Mine' } }
  const { id } = (await owner.call('/categories', { body: { name: 'Garden' } })).body.data

  for (const one of [manager, viewer]) {
    expect((await one.call('/communities/town')).status).toBe(200)
    expect((await one.call('/aggregates')).status).toBe(200)
    expect((await one.call('/communities/town', rename)).body.error).toBe('role_insufficient')
  }
  expect((await manager.call('/categories', { body: { name: 'Kitchen' } })).status).toBe(201)
  expect((await viewer.call('/categories', { body: { name: 'Music' } })).body.error).toBe('role_insufficient')
  expect((await viewer.call(`/categories/${id}`, rename)).body.error).toBe('role_insufficient')
  expect((await stranger.call('/communities/town')).status).toBe(404)
  expect((await stranger.call('/communities/town', rename)).status).toBe(404)
  expect((await stranger.call(`/categories/${id}`, rename)).status).toBe(404)
  for (const path of ['/communities/town', '/categories', '/aggregates']) {
    expect((await newBrowser(bank).call(path)).status).toBe(401)
  }
  expect((await owner.call('/communities/town')).body.data.name).toBe('Town')
})
