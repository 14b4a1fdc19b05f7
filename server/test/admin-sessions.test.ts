import { expect, test } from 'vitest'
import { createAdmin } from '../src/admins/create-admin.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { startBank, TESTER } from './bank.ts'

test('a one-time password opens the console only to choose another', async () => {
  const bank = await startBank()
  const wish = { email: 'ada@town.example', name: 'Ada', role: 'owner' } as const
  const { password } = await createAdmin(bank.sql, TESTER, bank.communityId, wish)
  const ada = newBrowser(bank)

  const signedIn = await ada.call('/session', { body: { email: 'ADA@town.example', password } })
  expect(signedIn.status).toBe(200)
  expect(signedIn.body.data).toMatchObject({
    admin: { email: 'ada@town.example', name: 'Ada' },
    password_change_required: true,
    communities: [{ slug: 'town', role: 'owner' }],
  })
  expect((await ada.call('/administrators')).body.error).toBe('password_change_required')

  const changed = await ada.call('/password', { body: { current_password: password, new_password: PASSWORD } })
  expect(changed.body.data).toMatchObject({ password_change_required: false })
  expect((await ada.call('/administrators')).status).toBe(200)
  expect((await newBrowser(bank).call('/session', { body: { email: wish.email, password } })).status).toBe(401)
})

test('nobody comes in without a session, to another community, or with another role', async () => {
  const bank = await startBank()
  await bank.addCommunity('elsewhere')
  const viewer = await addAdmin(bank, 'viewer')
  const invitation = { body: { email: 'new@town.example', name: 'New', role: 'owner' } }

  expect((await newBrowser(bank).call('/administrators')).body.error).toBe('sign_in_required')
  expect((await viewer.call('/administrators')).status).toBe(200)
  expect((await viewer.call('/communities/elsewhere/administrators')).body.error).toBe('not_found')
  expect((await viewer.call('/communities/nowhere/administrators')).body.error).toBe('not_found')
  expect((await viewer.call('/administrators', invitation)).body.error).toBe('role_insufficient')
})
