import { expect, test } from 'vitest'
import { createAdmin, replacePassword, resetAdmin } from '../src/features/admins/create-admin.ts'
import { makeLink } from '../src/features/admins/links.ts'
import { hashPassword } from '../src/features/admins/passwords.ts'
import { transaction } from '../src/postgres/connect.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { holdOpen, openTransaction, someoneWaits, waitingSessions } from './lock-table.ts'
import { addApp, beginSignIn } from './second-factor.ts'

/*
 * A password is checked long before its session begins, because hashing is slow. Whatever changes the account in
 * between must count.
 */

const NEW_PASSWORD = 'lantern orbit mustard'

const newPassword = async () => ({ hash: await hashPassword(NEW_PASSWORD), oneTime: false })

/** Stops a sign-in of the person before its session begins. */
async function holdAccount(bank: Bank, adminId: number) {
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from admins where id = ${adminId} for update`
  return held
}

test('a sign-in with a password that is replaced meanwhile fails', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const signedIn = () => bank.sql`select from audit_log where action = 'admin.signed_in'`
  const before = await signedIn()
  const password = await newPassword()
  const held = await holdAccount(bank, admin.id)
  const thief = newBrowser(bank)
  const signIn = thief.call('/session', { body: { email: admin.email, password: PASSWORD } })
  await someoneWaits(bank.sql, '%admin%')
  await replacePassword(held.tx, admin.id, password)
  await held.commit()

  expect([(await signIn).body.error, (await thief.call('/members')).status]).toEqual(['sign_in_failed', 401])
  expect(await signedIn()).toHaveLength(before.length)
})

test('a second step that ends while its session begins does not sign in', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const app = await addApp(admin)
  const password = await newPassword()
  const thief = await beginSignIn(bank, admin)
  const held = await holdAccount(bank, admin.id)
  const finish = thief.call('/session/second-factor', { body: { code: app.code() } })
  await someoneWaits(bank.sql, '%admin%')
  await replacePassword(held.tx, admin.id, password)
  await held.commit()

  expect([(await finish).body.error, (await thief.call('/members')).status]).toEqual(['second_step_expired', 401])
})

test('a one-time password that is replaced meanwhile does not use up the new one', async () => {
  const bank = await startBank()
  const ada = { email: 'ada@town.example', name: 'Ada', role: 'owner' } as const
  const { password: old } = await createAdmin(bank.sql, TESTER, bank.communityId, ada)
  const enter = (password: string | undefined) =>
    newBrowser(bank).call('/session', { body: { email: ada.email, password } })
  const held = await openTransaction(bank.sql)
  const { password } = await resetAdmin(held.tx, TESTER, ada.email)
  const stale = enter(old)
  await someoneWaits(bank.sql, '%admins%')
  await held.commit()

  expect((await stale).body.error).toBe('sign_in_failed')
  expect((await enter(password)).status).toBe(200)
})

test('of two password changes, the one that was checked against the replaced password is rejected', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const password = await newPassword()
  const held = await openTransaction(bank.sql)
  await replacePassword(held.tx, admin.id, password)
  const body = { current_password: PASSWORD, new_password: 'another good passphrase' }
  const stale = admin.call('/password', { body })
  await someoneWaits(bank.sql, '%admins%')
  await held.commit()

  expect((await stale).body).toMatchObject({ error: 'validation_failed', errors: [{ field: 'current_password' }] })
  const enter = newBrowser(bank).call('/session', { body: { email: admin.email, password: NEW_PASSWORD } })
  expect((await enter).status).toBe(200)
})

test('a reset link that ends by another password change is rejected without a deadlock', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const password = await newPassword()
  const { token } = await makeLink(bank.sql, 'reset', admin.id)
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from admin_sessions where admin_id = ${admin.id} for update`
  const change = transaction(bank.sql, (tx) => replacePassword(tx, admin.id, password))
  await someoneWaits(bank.sql, '%admin_sessions%')
  const use = newBrowser(bank).call('/links/use', { body: { token, password: 'another good passphrase' } })
  await eventually(async () => (await waitingSessions(bank.sql)).length === 2)
  await held.release()

  await change
  expect((await use).body.error).toBe('link_expired')
})

test('of two reset links made at once, one works', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  await makeLink(bank.sql, 'reset', admin.id)
  const held = await openTransaction(bank.sql)
  const first = await makeLink(held.tx, 'reset', admin.id)
  const making = transaction(bank.sql, (tx) => makeLink(tx, 'reset', admin.id))
  await someoneWaits(bank.sql, '%admin%')
  await held.commit()

  const tokens = [first.token, (await making).token]
  const inspect = (token: string) => newBrowser(bank).call('/links/inspect', { body: { token } })
  expect((await Promise.all(tokens.map(inspect))).map(({ status }) => status)).toEqual([410, 200])
})

test('a session that is ended while it begins is a failed sign-in', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const held = await holdOpen(bank.sql, 'lock table admin_browsers in exclusive mode')
  const signIn = newBrowser(bank).call('/session', { body: { email: admin.email, password: PASSWORD } })
  await someoneWaits(bank.sql, '%admin_browsers%')
  expect((await admin.call('/sessions/end-others', { method: 'POST' })).status).toBe(200)
  await held.release()

  expect((await signIn).body.error).toBe('sign_in_failed')
})
