import { expect, test } from 'vitest'
import { resetAdmin } from '../src/features/admins/create-admin.ts'
import { makeLink } from '../src/features/admins/links.ts'
import { checkSecretKey } from '../src/features/subscriptions/check-secret-key.ts'
import { codeOfStep, currentStep, stepOfCode } from '../src/features/second-factor/totp.ts'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { BEHIND_PROXY, from } from './oauth.ts'
import { addApp, beginSignIn } from './second-factor.ts'

test('codes are those of RFC 6238, with one step of leeway', () => {
  // The secret of RFC 6238 appendix B, '12345678901234567890'; its codes have eight digits, ours are their last six.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  expect([59, 1111111109, 20000000000].map((time) => codeOfStep(secret, Math.floor(time / 30)))).toEqual([
    '287082',
    '081804',
    '353130',
  ])
  const at = (seconds: number) => stepOfCode(secret, '081804', seconds * 1000)
  const step = Math.floor(1111111109 / 30)
  const starts = [-2, -1, 0, 1, 2].map((steps) => (step + steps) * 30)
  expect(starts.map(at)).toEqual([undefined, step, step, step, undefined])
})

const auditOf = async (bank: Bank, action: string) =>
  bank.sql`select actor_kind, detail from audit_log where action = ${action} order by id`

test('with an authenticator app, the password alone opens nothing', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const app = await addApp(owner)
  expect((await owner.call('/session')).body.data.second_factor).toBe(true)
  const before = await auditOf(bank, 'admin.signed_in')

  const browser = await beginSignIn(bank, owner)
  expect(browser.cookie()).toBeUndefined()
  for (const path of ['/session', '/sessions', '/second-factor', '/members']) {
    expect((await browser.call(path)).body.error).toBe('sign_in_required')
  }
  expect(await auditOf(bank, 'admin.signed_in')).toEqual(before)

  const wrong = await browser.call('/session/second-factor', { body: { code: '000000' } })
  expect(wrong.body).toMatchObject({ error: 'validation_failed', errors: [{ field: 'code' }] })
  expect(await auditOf(bank, 'admin.second_factor_failed')).toMatchObject([
    { actor_kind: 'system', detail: { address: '127.0.0.1', method: 'app' } },
  ])
  expect((await browser.call('/session/second-factor', { body: {} })).status).toBe(422)
  const finished = await browser.call('/session/second-factor', { body: { code: app.code() } })
  expect(finished.body.data).toMatchObject({ admin: { email: owner.email }, second_factor: true })
  expect((await browser.call('/members')).status).toBe(200)
  expect((await auditOf(bank, 'admin.signed_in')).at(-1)).toMatchObject({ detail: { second_factor: 'app' } })
  expect((await browser.call('/session/second-factor', { body: { code: app.code() } })).body.error).toBe(
    'second_step_expired',
  )
})

test('each code works once, also when it is used twice at the same time', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const app = await addApp(owner)
  const finish = async (code: string) => {
    const browser = await beginSignIn(bank, owner)
    return (await browser.call('/session/second-factor', { body: { code } })).status
  }
  // It has confirmed the app.
  expect(await finish(app.lastCode())).toBe(422)
  const code = app.code()
  expect((await Promise.all([finish(code), finish(code)])).toSorted()).toEqual([200, 422])
  expect(await finish(code)).toBe(422)
})

test('a code may be typed with the digits of an Arabic or Persian keyboard', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const { secret } = (await owner.call('/second-factor/app', { method: 'POST' })).body.data
  let step = currentStep()
  const nextCode = (zero: string) =>
    codeOfStep(secret, step++).replaceAll(/\d/g, (digit) => String.fromCharCode(zero.charCodeAt(0) + Number(digit)))

  const inGroups = nextCode('٠').replace(/^.{3}/, '$& ')
  expect((await owner.call('/second-factor/app/confirm', { body: { code: inGroups } })).status).toBe(200)
  const browser = await beginSignIn(bank, owner)
  expect((await browser.call('/session/second-factor', { body: { code: nextCode('۰') } })).status).toBe(200)
})

test('an app counts for nothing until a code confirms it', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  expect((await owner.call('/second-factor/app', { method: 'POST' })).status).toBe(201)
  const unconfirmed = await owner.call('/second-factor/app/confirm', { body: { code: '000000' } })
  expect(unconfirmed.body).toMatchObject({ error: 'validation_failed', errors: [{ field: 'code' }] })
  expect((await owner.call('/second-factor')).body.data).toEqual({ app: null, passkeys: [], recovery_codes_left: 0 })
  expect((await newBrowser(bank).call('/session', { body: { email: owner.email, password: PASSWORD } })).status).toBe(
    200,
  )

  await addApp(owner)
  expect((await owner.call('/second-factor/app', { method: 'POST' })).status).toBe(409)
})

test('ten recovery codes work once each, in any spelling, until they are replaced', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const { recoveryCodes } = await addApp(owner)
  expect(new Set(recoveryCodes).size).toBe(10)
  const [stored] = await bank.sql`select string_agg(encode(code_hash, 'escape'), ' ') as text from admin_recovery_codes`
  expect(stored!.text).not.toContain(recoveryCodes[0])
  const finish = async (recovery_code: string) => {
    const browser = await beginSignIn(bank, owner)
    return (await browser.call('/session/second-factor', { body: { recovery_code } })).status
  }
  const [first, second, third] = recoveryCodes as [string, string, string]
  expect(await finish(first)).toBe(200)
  expect(await finish(first)).toBe(422)
  expect(await finish(second.toUpperCase().replaceAll('-', ' '))).toBe(200)
  expect((await owner.call('/second-factor')).body.data.recovery_codes_left).toBe(8)

  const made = await owner.call('/second-factor/recovery-codes', { method: 'POST' })
  expect(made.body.data.recovery_codes).toHaveLength(10)
  expect(await finish(third)).toBe(422)
  expect(await finish(made.body.data.recovery_codes[0])).toBe(200)
})

const guess = async (browser: Awaited<ReturnType<typeof beginSignIn>>, code = '000000', headers = {}) => {
  const { body } = await browser.call('/session/second-factor', { body: { code }, headers })
  return body.error ?? 'entered'
}

test('codes cannot be guessed: five tries for each password, ten from each address', async () => {
  const bank = await startBank(BEHIND_PROXY)
  const owner = await addAdmin(bank)
  const app = await addApp(owner)
  const first = await beginSignIn(bank, owner)
  for (let tries = 0; tries < 5; tries++) expect(await guess(first)).toBe('validation_failed')
  expect(await guess(first, app.code())).toBe('second_step_expired')
  // A correct password in between forgives nothing.
  const second = await beginSignIn(bank, owner)
  for (let tries = 0; tries < 5; tries++) expect(await guess(second)).toBe('validation_failed')
  const third = await beginSignIn(bank, owner)
  expect(await guess(third, app.lastCode())).toBe('rate_limited')
  expect(await guess(third, app.lastCode(), from('203.0.113.7'))).toBe('entered')
})

test('changing the second factor ends the other sessions, links and sign-ins under way, and is audited', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const enter = async (browser = newBrowser(bank)) => {
    await browser.call('/session', { body: { email: owner.email, password: PASSWORD } })
    return browser
  }
  const other = await enter()
  const { token } = await makeLink(bank.sql, 'reset', owner.id)
  const app = await addApp(owner)
  expect((await other.call('/session')).status).toBe(401)
  expect((await newBrowser(bank).call('/links/inspect', { body: { token } })).body.error).toBe('link_expired')
  expect((await owner.call('/session')).status).toBe(200)

  const halfway = await beginSignIn(bank, owner)
  expect((await owner.call('/second-factor/app', { method: 'DELETE' })).status).toBe(200)
  expect((await halfway.call('/session/second-factor', { body: { code: app.code() } })).body.error).toBe(
    'second_step_expired',
  )
  expect((await owner.call('/second-factor')).body.data).toEqual({ app: null, passkeys: [], recovery_codes_left: 0 })
  expect((await (await enter()).call('/session')).status).toBe(200)
  for (const action of ['admin.second_factor_added', 'admin.second_factor_removed']) {
    expect(await auditOf(bank, action)).toMatchObject([{ actor_kind: 'admin', detail: { method: 'app' } }])
  }
})

test('a reset link does not replace the second factor; a reset by the operator removes it', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const app = await addApp(owner)
  const { token } = await makeLink(bank.sql, 'reset', owner.id)
  const browser = newBrowser(bank)
  const used = await browser.call('/links/use', { body: { token, password: 'lantern orbit mustard' } })
  expect(used.body.error).toBe('second_step_required')
  expect((await browser.call('/session')).status).toBe(401)
  expect((await browser.call('/session/second-factor', { body: { code: app.code() } })).status).toBe(200)

  const { password, hadSecondFactor } = await resetAdmin(bank.sql, TESTER, owner.email)
  expect(hadSecondFactor).toBe(true)
  expect((await newBrowser(bank).call('/session', { body: { email: owner.email, password } })).status).toBe(200)
  expect(await bank.sql`select from admin_recovery_codes`).toHaveLength(0)
})

test('the secret is stored encrypted, and encrypted again with a new SECRET_KEY', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const { secret } = (await owner.call('/second-factor/app', { method: 'POST' })).body.data
  const sealed = async () => (await bank.sql<[{ secret: Buffer }]>`select secret from admin_apps`)[0].secret
  expect((await sealed()).toString('latin1')).not.toContain(secret)
  const box = createSecretBox('one key of thirty-two characters!')
  await bank.sql`update admin_apps set secret = ${box.seal(secret)}`
  await bank.sql`update installation set secret_key_check = ${box.seal('hourbank')}`
  const next = createSecretBox('another of thirty-two characters!', 'one key of thirty-two characters!')
  await checkSecretKey(bank.sql, next)
  expect(createSecretBox('another of thirty-two characters!').open(await sealed())).toBe(secret)

  // After a lost key it stays as it is, and does not keep the service from starting.
  const lost = createSecretBox('a lost one of thirty-two letters!').seal(secret)
  await bank.sql`update admin_apps set secret = ${lost}`
  await checkSecretKey(bank.sql, next)
  expect(await sealed()).toEqual(lost)
})

test('after fifteen minutes, a sensitive action asks for the password or a code again', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const app = await addApp(owner)
  const grow = (minutes: number) => bank.sql`
    update admin_sessions set proven_at = now() - make_interval(mins => ${minutes}) where admin_id = ${owner.id}`
  const remake = async () => (await owner.call('/second-factor/recovery-codes', { method: 'POST' })).body.error
  await grow(14)
  expect(await remake()).toBeUndefined()
  await grow(15)
  expect(await remake()).toBe('proof_required')
  expect((await owner.call('/session/proof')).body.error).toBe('proof_required')
  expect((await owner.call('/members')).status).toBe(200)

  const wrong = await owner.call('/session/proof', { body: { password: 'wrong one' } })
  expect(wrong.body).toMatchObject({ error: 'validation_failed', errors: [{ field: 'password' }] })
  expect(await auditOf(bank, 'admin.proof_failed')).toMatchObject([{ detail: { method: 'password' } }])
  expect((await owner.call('/session/proof', { body: {} })).status).toBe(422)
  expect(await remake()).toBe('proof_required')
  expect((await owner.call('/session/proof', { body: { code: app.code() } })).status).toBe(200)
  expect(await remake()).toBeUndefined()
  await grow(16)
  expect((await owner.call('/session/proof', { body: { password: PASSWORD } })).status).toBe(200)
  expect(await remake()).toBeUndefined()
})
