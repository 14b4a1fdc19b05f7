import { expect, test } from 'vitest'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, hideMember, leave } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

const addPerson = (bank: Bank, name: string, communityId = bank.communityId) =>
  addMember(bank.sql, TESTER, communityId, { name })

const publish = (bank: Bank, member_id: number, title: string, rest: { type?: 'request'; category?: string } = {}) =>
  publishListing(bank.sql, TESTER, bank.communityId, {
    member_id,
    type: 'service',
    title,
    description: '',
    category: 'Kitchen',
    centihours: null,
    external_id: null,
    ...rest,
  })

const titles = (answer: { body: any }): string[] => answer.body.data.map(({ title }: { title: string }) => title)

async function audited(bank: Bank, id: number): Promise<string[]> {
  const rows = await bank.sql<{ action: string }[]>`
    select action from audit_log where community_id = ${bank.communityId} and actor_kind = 'admin'
      and subject_kind = 'listing' and subject_id = ${id} order by id`
  return rows.map(({ action }) => action)
}

test('an administrator publishes, changes, closes and reopens a listing for a member', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const ada = await addPerson(bank, 'Ada')
  const body = {
    member_id: ada.id,
    type: 'service',
    title: ' Bread ',
    description: 'Two\nloaves',
    category: 'Kitchen',
    hours: 1.5,
  }
  const added = await manager.call('/listings', { body })
  expect(added.status).toBe(201)
  expect(added.body.data).toMatchObject({
    title: 'Bread',
    description: 'Two\nloaves',
    hours: 1.5,
    status: 'active',
    visible: true,
    member: { id: ada.id, name: 'Ada', status: 'active', hidden: false },
  })
  const path = `/listings/${added.body.data.id}`
  const changed = await manager.call(path, { method: 'PATCH', body: { category: 'Baking', hours: null } })
  expect(changed.body.data).toMatchObject({ title: 'Bread', category: 'Baking', hours: null })
  expect((await manager.call(path, { method: 'PATCH', body: {} })).status).toBe(200)
  expect((await manager.call(`${path}/close`, { method: 'POST' })).body.data).toMatchObject({ status: 'closed' })
  expect((await manager.call(`${path}/reopen`, { method: 'POST' })).body.data).toMatchObject({ status: 'active' })
  expect((await manager.call(path)).body.data).toMatchObject({ status: 'active', visible: true })
  expect(await audited(bank, added.body.data.id)).toEqual([
    'listing.published',
    'listing.updated',
    'listing.closed',
    'listing.published',
  ])
})

test('listings are searched by words and filtered by type, category, status and member', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const [ada, ben, gone] = [await addPerson(bank, 'Ada'), await addPerson(bank, 'Ben'), await addPerson(bank, 'Gone')]
  await publish(bank, ada.id, 'Gardening')
  await publish(bank, ben.id, 'Garden chairs wanted', { type: 'request', category: 'Outdoors' })
  await publish(bank, ben.id, 'Sourdough')
  await publish(bank, gone.id, 'Garden gnomes')
  await eraseMember(bank.sql, TESTER, bank.communityId, gone.id)
  await hideMember(bank.sql, TESTER, bank.communityId, ada.id)
  await leave(bank.sql, TESTER, bank.communityId, ben.id)

  expect(titles(await viewer.call('/listings'))).toEqual(['Sourdough', 'Garden chairs wanted', 'Gardening'])
  expect(titles(await viewer.call('/listings?q=gard'))).toEqual(['Garden chairs wanted', 'Gardening'])
  expect(titles(await viewer.call('/listings?q=chair%20gard'))).toEqual(['Garden chairs wanted'])
  expect(titles(await viewer.call(`/listings?q=${encodeURIComponent("' & !")}`))).toEqual([])
  expect(titles(await viewer.call('/listings?type=request'))).toEqual(['Garden chairs wanted'])
  expect(titles(await viewer.call('/listings?category=Kitchen'))).toEqual(['Sourdough', 'Gardening'])
  expect(titles(await viewer.call('/listings?status=active'))).toEqual(['Gardening'])
  expect(titles(await viewer.call(`/listings?member_id=${ben.id}&status=closed`))).toHaveLength(2)

  const first = await viewer.call('/listings?limit=2')
  const rest = await viewer.call(`/listings?limit=2&cursor=${first.body.meta.next_cursor}`)
  expect([...titles(first), ...titles(rest)]).toEqual(['Sourdough', 'Garden chairs wanted', 'Gardening'])
})

test('errors in a listing are reported beside their fields, and nothing is written', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const elsewhere = await bank.addCommunity('elsewhere')
  const [ada, left] = [await addPerson(bank, 'Ada'), await addPerson(bank, 'Left')]
  const stranger = await addPerson(bank, 'Stranger', elsewhere)
  await leave(bank.sql, TESTER, bank.communityId, left.id)
  const good = { member_id: ada.id, type: 'service', title: 'Bread', category: 'Kitchen' }
  const fieldsOf = async (change: object) => {
    const { status, body } = await manager.call('/listings', { body: { ...good, ...change } })
    expect(status).toBe(422)
    return body.errors.map(({ field }: { field: string }) => field)
  }
  expect(await fieldsOf({ title: ' ', category: '', hours: -1 })).toEqual(['title', 'category', 'hours'])
  expect(await fieldsOf({ description: 'x'.repeat(5001) })).toEqual(['description'])
  expect(await fieldsOf({ description: 'a\0b' })).toEqual(['description'])
  expect(await fieldsOf({ hours: 1.234 })).toEqual(['hours'])
  expect(await fieldsOf({ type: 'gift' })).toEqual(['type'])
  for (const member_id of [left.id, stranger.id, 999_999]) expect(await fieldsOf({ member_id })).toEqual(['member_id'])
  expect((await manager.call('/listings')).body.data).toEqual([])

  const own = await publish(bank, ada.id, 'Bread')
  await leave(bank.sql, TESTER, bank.communityId, ada.id)
  const reopened = await manager.call(`/listings/${own.id}/reopen`, { method: 'POST' })
  expect(reopened).toMatchObject({ status: 409, body: { error: 'refused' } })
})

test('nobody reads or changes listings without a session, as a viewer, or in another community', async () => {
  const bank = await startBank()
  const listing = await publish(bank, (await addPerson(bank, 'Ada')).id, 'Bread')
  const elsewhere = await bank.addCommunity('elsewhere')
  const [viewer, outsider] = [await addAdmin(bank, 'viewer'), await addAdmin(bank, 'owner', elsewhere, 'elsewhere')]
  const changes = [
    [`/listings/${listing.id}`, { method: 'PATCH', body: { title: 'X' } }],
    [`/listings/${listing.id}/close`, { method: 'POST' }],
    [`/listings/${listing.id}/reopen`, { method: 'POST' }],
  ] as const
  for (const path of ['/listings', `/listings/${listing.id}`, '/listings/export']) {
    expect((await newBrowser(bank).call(path)).status).toBe(401)
    expect((await viewer.call(path)).status).toBe(200)
  }
  const csv = { headers: { 'content-type': 'text/csv' }, body: 'external_id' }
  for (const [path, options] of [...changes, ['/listings', { body: {} }], ['/listings/import', csv]] as const) {
    expect((await newBrowser(bank).call(path, options)).status, path).toBe(401)
    expect((await viewer.call(path, options)).body.error, path).toBe('role_insufficient')
  }
  expect((await outsider.call(`/listings/${listing.id}`)).status).toBe(404)
  for (const [path, options] of changes) expect((await outsider.call(path, options)).status, path).toBe(404)
  expect((await viewer.call(`/listings/${listing.id}`)).body.data).toMatchObject({ title: 'Bread', status: 'active' })
})

test('a category that was retired is refused for new listings; those that have it can still be changed', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const ada = await addPerson(bank, 'Ada')
  const bread = await publish(bank, ada.id, 'Bread')
  const [kitchen] = (await owner.call('/categories')).body.data
  expect((await owner.call(`/categories/${kitchen.id}`, { method: 'PATCH', body: { retired: true } })).status).toBe(200)

  const another = { member_id: ada.id, type: 'service', title: 'Cake', description: '', category: 'Kitchen' }
  const refused = await owner.call('/listings', { body: another })
  expect(refused.status).toBe(422)
  expect(refused.body.errors).toMatchObject([{ field: 'category' }])
  const renamed = { title: 'Rye bread', category: 'Kitchen' }
  expect((await owner.call(`/listings/${bread.id}`, { method: 'PATCH', body: renamed })).body.data).toMatchObject(
    renamed,
  )
  expect((await owner.call('/listings', { body: { ...another, category: 'Baking' } })).status).toBe(201)
})

test('words with marks above and below their letters are found', async () => {
  const bank = await startBank()
  const viewer = await addAdmin(bank, 'viewer')
  const ada = await addPerson(bank, 'Ada')
  const creme = 'crème'.normalize('NFD')
  const joined = ['می\u200cخواهم', 'क्\u200dष', 'soft\u00adware']
  const all = ['हिन्दी सिखाना', creme, 'قُرْآن', 'สอนทำอาหารไทย', '❤️Herz', ...joined]
  for (const title of all) await publish(bank, ada.id, title)
  const find = async (q: string) => titles(await viewer.call(`/listings?q=${encodeURIComponent(q)}`))
  expect(await find('हिन्दी')).toEqual(['हिन्दी सिखाना'])
  expect(await find('सिखा')).toEqual(['हिन्दी सिखाना'])
  expect(await find(creme)).toEqual([creme])
  expect(await find('قُرْ')).toEqual(['قُرْآن'])
  expect(await find('สอนทำอาหาร')).toEqual(['สอนทำอาหารไทย'])
  expect(await find('❤️herz')).toEqual(['❤️Herz'])
  expect(await find('❤️ \u0301')).toEqual([])
  for (const title of joined) expect(await find(title)).toEqual([title])
})

test('hours that an import of the export would refuse are refused', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const ada = await addPerson(bank, 'Ada')
  const body = { member_id: ada.id, type: 'service', title: 'Bread', category: 'Kitchen' }
  const add = (hours: number) => manager.call('/listings', { body: { ...body, hours } })
  const refused = await add(1_000_000_000)
  expect([refused.status, refused.body.errors[0].field]).toEqual([422, 'hours'])
  const added = await add(999_999_999.99)
  expect(added.status).toBe(201)
  const path = `/listings/${added.body.data.id}`
  expect((await manager.call(path, { method: 'PATCH', body: { hours: 9e13 } })).status).toBe(422)
  const file = (await manager.call('/listings/export')).body
  const headers = { 'content-type': 'text/csv' }
  const read = await manager.call('/listings/import?dry_run=true', { method: 'POST', headers, body: file })
  expect(read.body.data).toMatchObject({ unchanged: 1, refused: 0 })
})

test('a listing of an erased member is neither changed, closed nor reopened', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const gone = await addPerson(bank, 'Gone')
  const { id } = await publish(bank, gone.id, 'Gnomes')
  await eraseMember(bank.sql, TESTER, bank.communityId, gone.id)
  const before = await bank.sql`select * from listings`
  const body = { title: 'Ms Gone has gnomes', description: 'Call +43 1 555', category: 'Gone' }
  expect((await manager.call(`/listings/${id}`, { method: 'PATCH', body })).status).toBe(404)
  for (const change of ['close', 'reopen']) {
    expect((await manager.call(`/listings/${id}/${change}`, { method: 'POST' })).status).toBe(404)
  }
  expect(await bank.sql`select * from listings`).toEqual(before)
})
