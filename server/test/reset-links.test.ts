import { expect, test } from 'vitest'
import { createAdmin, resetAdmin } from '../src/features/admins/create-admin.ts'
import { addAdmin, joinByLink, newBrowser } from './admin.ts'
import { startBank, TESTER } from './bank.ts'

const TREASURER = 'treasurer@town.example'

test('attack: a reset link ends when its person gets another role, and needs an owner of every community', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const treasurer = await joinByLink(bank, owner, TREASURER)
  const { id } = (await treasurer.call('/session')).body.data.admin
  const resetPath = `/administrators/${id}/reset-link`
  const makeLink = async () => {
    const { body } = await owner.call(resetPath, { method: 'POST' })
    return new URL(body.data.url).hash.slice(1)
  }
  const isValid = async (token: string) => {
    const { status } = await newBrowser(bank).call('/links/inspect', { body: { token } })
    return status === 200
  }
  // While there is one community, its owner can help.
  expect((await owner.call('/session')).body.data.owns_every_community).toBe(true)
  const first = await makeLink()
  expect((await newBrowser(bank).call('/links/inspect', { body: { token: first } })).body.data).toMatchObject({
    purpose: 'reset',
    email: TREASURER,
    invitation: null,
  })
  const use = { token: first, password: 'a new good password' }
  expect((await newBrowser(bank).call('/links/use', { body: use })).status).toBe(200)
  expect((await treasurer.call('/session')).status).toBe(401)

  const second = await makeLink()
  expect(await isValid(second)).toBe(true)
  await owner.call(`/administrators/${id}`, { method: 'PATCH', body: { role: 'viewer' } })
  expect(await isValid(second)).toBe(false)
  const third = await makeLink()
  const elsewhere = await bank.addCommunity('elsewhere')
  await createAdmin(bank.sql, TESTER, elsewhere, { email: TREASURER, name: 'Tess', role: 'owner' })
  expect(await isValid(third)).toBe(false)

  expect((await owner.call('/session')).body.data.owns_every_community).toBe(false)

  // Whether the person runs the other community makes no difference.
  const local = await joinByLink(bank, owner, 'local@town.example')
  const { id: localId } = (await local.call('/session')).body.data.admin
  const refusals = await Promise.all(
    [id, localId].map((one) => owner.call(`/administrators/${one}/reset-link`, { method: 'POST' })),
  )
  const [shared, own] = refusals.map(({ status, body: { request_id: _differs, ...body } }) => ({ status, body }))
  expect(shared).toEqual(own)
  expect(shared).toMatchObject({ status: 409, body: { error: 'refused' } })
})

test.each([
  ['removed', { method: 'DELETE' }],
  ['no longer an owner', { method: 'PATCH', body: { role: 'manager' } }],
])('attack: a reset link ends when the owner who made it is %s', async (_what, withdrawal) => {
  const bank = await startBank()
  const [eve, bob] = [await addAdmin(bank), await addAdmin(bank)]
  const { body } = await eve.call(`/administrators/${bob.id}/reset-link`, { method: 'POST' })
  const token = new URL(body.data.url).hash.slice(1)
  expect((await bob.call(`/administrators/${eve.id}`, withdrawal)).status).toBe(200)
  const used = await newBrowser(bank).call('/links/use', { body: { token, password: 'a password of Eve' } })
  expect([used.status, used.body.error]).toEqual([410, 'link_expired'])
  expect((await bob.call('/session')).status).toBe(200)
})

test('attack: a reset link ends with the password of the owner who made it', async () => {
  const bank = await startBank()
  const [eve, bob] = [await addAdmin(bank), await addAdmin(bank)]
  await eve.call(`/administrators/${bob.id}/reset-link`, { method: 'POST' })
  await resetAdmin(bank.sql, TESTER, eve.email)
  expect(await bank.sql`select from admin_links where purpose = 'reset'`).toEqual([])
})
