import { expect, test } from 'vitest'
import { addAdmin } from './admin.ts'
import { startBank } from './bank.ts'
import { addApp } from './second-factor.ts'

test('a community that requires a second factor lets nobody without one do anything there', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const manager = await addAdmin(bank, 'manager')
  const require = (second_factor_required: boolean) =>
    owner.call('/communities/town', { method: 'PATCH', body: { second_factor_required } })
  const list = async () => (await owner.call('/administrators')).body.data
  expect((await owner.call('/communities/town')).body.data.second_factor_required).toBe(false)
  expect((await require(true)).body).toMatchObject({
    error: 'validation_failed',
    errors: [{ field: 'second_factor_required' }],
  })
  await addApp(owner)
  expect((await list()).map((one: any) => one.second_factor)).toEqual([null, null])
  expect((await require(true)).body.data.second_factor_required).toBe(true)
  expect(await list()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: owner.id, second_factor: true }),
      expect.objectContaining({ id: manager.id, second_factor: false }),
    ]),
  )

  const calls = [
    manager.call('/members'),
    manager.call('/communities/town'),
    manager.call('/members', { body: { name: 'New' } }),
    manager.call('/members/export'),
  ]
  for (const { status, body } of await Promise.all(calls)) {
    expect([status, body.error]).toEqual([403, 'second_factor_required'])
  }
  const { data } = (await manager.call('/session')).body
  expect(data).toMatchObject({ second_factor: false, communities: [{ slug: 'town', second_factor_required: true }] })
  await addApp(manager)
  expect((await manager.call('/members')).status).toBe(200)
  expect((await manager.call('/second-factor/app', { method: 'DELETE' })).status).toBe(200)
  expect((await manager.call('/members')).status).toBe(403)

  await bank.sql`update admin_sessions set proven_at = now() - interval '15 minutes'`
  expect((await require(false)).body.error).toBe('proof_required')
  const renamed = await owner.call('/communities/town', { method: 'PATCH', body: { name: 'Town' } })
  expect(renamed.status).toBe(200)
})
