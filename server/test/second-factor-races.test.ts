import { expect, test } from 'vitest'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import {
  endWhatWasOpened,
  makeRecoveryCodes,
  removeApp,
  startApp,
} from '../src/features/second-factor/change-factor.ts'
import { activateApp } from '../src/features/second-factor/queries.ts'
import { codeOfStep, currentStep } from '../src/features/second-factor/totp.ts'
import type { AdminSession } from '../src/http/console/sessions.ts'
import { addAdmin, newBrowser, PASSWORD, type TestAdmin } from './admin.ts'
import { startBank, type Bank } from './bank.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'
import { addPasskey, named } from './passkey.ts'
import { addApp, beginSignIn } from './second-factor.ts'

/* Two changes of a second factor, or a change and a sign-in, at the same moment. */

const OTHER_BOX = createSecretBox('another of thirty-two characters!')

/** The only session of the person, for changes in a transaction of the test. */
async function sessionOf({ sql }: Bank, { id, email }: TestAdmin): Promise<AdminSession> {
  const [row] = await sql<[{ id: number }]>`select id from admin_sessions where admin_id = ${id}`
  return { id: row.id, admin: { id, email } } as Partial<AdminSession> as AdminSession
}

test('a sign-in during which the first second factor is added is asked for it', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const session = await sessionOf(bank, admin)
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from admins where id = ${admin.id} for update`
  const thief = newBrowser(bank)
  const signIn = thief.call('/session', { body: { email: admin.email, password: PASSWORD } })
  await someoneWaits(bank.sql, '%admin%')
  await startApp({ sql: held.tx, box: OTHER_BOX }, session)
  await activateApp(held.tx, admin.id)
  await endWhatWasOpened(held.tx, session)
  await held.commit()

  expect([(await signIn).body.error, (await thief.call('/members')).status]).toEqual(['second_step_required', 401])
})

test('a code confirms only the secret that it was made from', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const session = await sessionOf(bank, admin)
  const { secret } = (await admin.call('/second-factor/app', { method: 'POST' })).body.data
  const held = await openTransaction(bank.sql)
  await startApp({ sql: held.tx, box: OTHER_BOX }, session)
  const code = codeOfStep(secret, currentStep())
  const confirm = admin.call('/second-factor/app/confirm', { body: { code } })
  await someoneWaits(bank.sql, '%admin%')
  await held.commit()

  expect((await confirm).body).toMatchObject({ error: 'validation_failed', errors: [{ field: 'code' }] })
  expect((await admin.call('/second-factor')).body.data.app).toBeNull()
})

test('of two new sets of recovery codes made at once, one is valid', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  await addApp(admin)
  const session = await sessionOf(bank, admin)
  const held = await openTransaction(bank.sql)
  await makeRecoveryCodes(held.tx, session)
  const making = admin.call('/second-factor/recovery-codes', { method: 'POST' })
  await someoneWaits(bank.sql, '%admin%')
  await held.commit()

  expect((await making).body.data.recovery_codes).toHaveLength(10)
  expect((await admin.call('/second-factor')).body.data.recovery_codes_left).toBe(10)
})

test('a passkey that is added while the only other factor is removed gets recovery codes', async () => {
  const bank = named(await startBank())
  const admin = await addAdmin(bank)
  await addApp(admin)
  const session = await sessionOf(bank, admin)
  const held = await openTransaction(bank.sql)
  await removeApp(held.tx, session)
  const adding = addPasskey(bank, admin)
  await Promise.race([adding, someoneWaits(bank.sql, '%admin%')])
  await held.commit()

  expect((await adding).answer.body.data.recovery_codes).toHaveLength(10)
  expect((await admin.call('/second-factor')).body.data).toMatchObject({ app: null, recovery_codes_left: 10 })
})

test.each([
  ['/second-factor/app', undefined],
  ['/second-factor/recovery-codes', undefined],
  ['/password', { current_password: PASSWORD, new_password: 'lantern orbit mustard' }],
])('a session that the first second factor ends meanwhile changes nothing by %s', async (path, body) => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const session = await sessionOf(bank, admin)
  const thief = newBrowser(bank)
  await thief.call('/session', { body: { email: admin.email, password: PASSWORD } })
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from admins where id = ${admin.id} for update`
  const change = thief.call(path, { method: 'POST', body })
  await someoneWaits(bank.sql, '%admin%')
  await startApp({ sql: held.tx, box: OTHER_BOX }, session)
  await activateApp(held.tx, admin.id)
  await endWhatWasOpened(held.tx, session)
  await held.commit()

  expect((await change).body.error).toBe('sign_in_required')
  expect((await beginSignIn(bank, admin)).cookie()).toBeUndefined()
})
