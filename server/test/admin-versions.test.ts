import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { addAdmin, newBrowser, type TestAdmin } from './admin.ts'
import { callNode, startBank, type Answer, type Bank } from './bank.ts'

const newKey = () => randomBytes(18).toString('hex')
const outcome = ({ status, body }: Answer) => [status, body.error]

async function currentOf(owner: TestAdmin, path: string) {
  const [, list, id] = path.split('/')
  const { body } = await owner.call(list === 'categories' ? '/categories' : path)
  return Array.isArray(body.data) ? body.data.find((one: { id: number }) => `${one.id}` === id) : body.data
}

/** Something of each kind that a form changes, with two changes of different fields. */
async function makeRecords(bank: Bank, owner: TestAdmin): Promise<[path: string, first: object, second: object][]> {
  const member = (await owner.call('/members', { body: { name: 'Ada' } })).body.data
  const listing = { member_id: member.id, type: 'service', title: 'Bread', category: 'Kitchen' }
  const { id: listingId } = (await owner.call('/listings', { body: listing })).body.data
  const { id: categoryId } = (await owner.call('/categories', { body: { name: 'Garden' } })).body.data
  return [
    [`/partners/${bank.partner.partnerId}`, { scopes: ['users.read'] }, { contact: 'new@bank.example' }],
    [`/members/${member.id}`, { email: 'ada@town.example' }, { name: 'Ada Long' }],
    [`/listings/${listingId}`, { title: 'Rye bread' }, { hours: 2 }],
    [`/categories/${categoryId}`, { retired: true }, { name: 'Gardens' }],
    ['/communities/town', { lower_limit_hours: -5 }, { name: 'Townsville' }],
  ]
}

test('a form that was opened before somebody else saved cannot undo what they saved', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  for (const [path, first, second] of await makeRecords(bank, owner)) {
    const opened = await currentOf(owner, path)
    const save = (body: object, version: string) =>
      owner.call(path, { method: 'PATCH', body, headers: { 'if-match': `"${version}"` } })
    expect((await save(first, opened.version)).status, path).toBe(200)
    const saved = await currentOf(owner, path)
    expect(outcome(await save(second, opened.version)), path).toEqual([412, 'changed_meanwhile'])
    expect(await currentOf(owner, path), path).toEqual(saved)
    expect((await save(second, saved.version)).status, path).toBe(200)
    expect((await currentOf(owner, path)).version, path).not.toBe(saved.version)
  }
})

test('a change says which version it is based on, except a suspension', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const call = (path: string, body: object) =>
    callNode(bank.url, `${ADMIN_PREFIX}${path.startsWith('/communities') ? '' : '/communities/town'}${path}`, {
      method: 'PATCH',
      body,
      headers: { origin: bank.url, cookie: owner.cookie()! },
    })
  for (const [path, change] of await makeRecords(bank, owner)) {
    expect(outcome(await call(path, change)), path).toEqual([428, 'version_required'])
  }
  const partner = `/partners/${bank.partner.partnerId}`
  expect(outcome(await call(partner, { status: 'suspended', name: 'X' }))).toEqual([428, 'version_required'])
  expect((await call(partner, { status: 'suspended' })).status).toBe(200)
  expect(outcome(await call(partner, { status: 'active' }))).toEqual([428, 'version_required'])
})

test('what is created under one key is created once', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const member = (await owner.call('/members', { body: { name: 'Ada' } })).body.data
  const creations: [path: string, body: object][] = [
    ['/members', { name: 'Bea' }],
    ['/listings', { member_id: member.id, type: 'service', title: 'Bread', category: 'Kitchen' }],
    ['/categories', { name: 'Garden' }],
    ['/partners', { name: 'Post', scopes: ['users.read'] }],
    [`/partners/${bank.partner.partnerId}/clients`, { name: 'Second' }],
    ['/administrators', { name: 'Tess', email: 'tess@town.example', role: 'viewer' }],
    ['/test-communities', { name: 'Trial' }],
  ]
  for (const [path, form] of creations) {
    const body = { ...form, key: newKey() }
    const answers = await Promise.all([1, 2, 3].map(() => owner.call(path, { body })))
    expect(answers.map(({ status }) => status).toSorted(), path).toEqual([200, 200, 201])
    const ids = answers.map(({ body: { data } }) => data.id ?? data.client_id)
    expect(new Set(ids).size, path).toBe(1)
    const other = await owner.call(path, { body: { ...body, name: 'Other', title: 'Other' } })
    expect(outcome(other), path).toEqual([409, 'refused'])
  }
  const { data: partners } = (await owner.call('/partners')).body
  expect(partners.map(({ name }: { name: string }) => name)).toEqual(['Post', 'Bank'])
  expect((await owner.call('/invitations')).body.data).toHaveLength(1)
  const { communities } = (await owner.call('/session')).body.data
  expect(communities.filter(({ test: isTest }: { test: boolean }) => isTest)).toHaveLength(1)
})

test('after a lost response, the same key returns a secret that works', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const body = { name: 'Post', scopes: ['users.read'], key: newKey() }
  const lost = (await owner.call('/partners', { body })).body.data
  const { partner_id, client_id, client_secret } = (await owner.call('/partners', { body })).body.data
  expect([partner_id, client_id]).toEqual([lost.partner_id, lost.client_id])
  const isAccepted = async (secret: string) => {
    const credentials = { grant_type: 'client_credentials', client_id, client_secret: secret }
    return (await bank.call('/oauth/token', { body: credentials })).status === 200
  }
  expect([await isAccepted(client_secret), await isAccepted(lost.client_secret)]).toEqual([true, false])

  const rotation = { grace: '24h', key: newKey() }
  const rotate = async () => (await owner.call(`/clients/${client_id}/rotate`, { body: rotation })).body.data
  const unseen = await rotate()
  const seen = await rotate()
  // The secret that the partner uses outlives both tries.
  const accepted = [client_secret, unseen.client_secret, seen.client_secret].map(isAccepted)
  expect(await Promise.all(accepted)).toEqual([true, false, true])
})

test('after a lost response, the same key returns a link and a test secret that work', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const twice = async (path: string, form: object) => {
    const body = { ...form, key: newKey() }
    return [(await owner.call(path, { body })).body.data, (await owner.call(path, { body })).body.data]
  }
  const [lost, seen] = await twice('/administrators', { name: 'Tess', email: 'tess@town.example', role: 'viewer' })
  const inspect = async ({ link }: any) =>
    (await newBrowser(bank).call('/links/inspect', { body: { token: new URL(link.url).hash.slice(1) } })).status
  expect([await inspect(lost), await inspect(seen)]).toEqual([410, 200])

  const [unseen, shown] = await twice('/test-communities', { name: 'Trial' })
  expect(shown.slug).toBe(unseen.slug)
  const tokenFor = async ({ client_id, client_secret }: any) => {
    const body = { grant_type: 'client_credentials', client_id, client_secret }
    return (await bank.call('/oauth/token', { body })).status
  }
  expect([await tokenFor(unseen), await tokenFor(shown)]).toEqual([401, 200])
})

test('a partner that was never used can be deleted, another cannot', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const made = (await owner.call('/partners', { body: { name: 'Mistake', scopes: ['users.read'] } })).body.data
  const path = `/partners/${made.partner_id}`
  expect((await owner.call(path)).body.data.removable).toBe(true)
  expect((await owner.call(path, { method: 'DELETE' })).status).toBe(200)
  expect((await owner.call(path)).status).toBe(404)
  const deleted = (await owner.call('/audit?action=partner.deleted')).body.data
  expect(deleted[0]).toMatchObject({ detail: { name: 'Mistake' } })

  await bank.token()
  const used = `/partners/${bank.partner.partnerId}`
  expect((await owner.call(used)).body.data.removable).toBe(false)
  expect(outcome(await owner.call(used, { method: 'DELETE' }))).toEqual([409, 'refused'])
  const manager = await addAdmin(bank, 'manager')
  expect((await manager.call(used, { method: 'DELETE' })).status).toBe(403)
})
