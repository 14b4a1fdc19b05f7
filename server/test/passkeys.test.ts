import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { resetAdmin } from '../src/features/admins/create-admin.ts'
import { makeLink } from '../src/features/admins/links.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { addPasskey, named, newPasskey, optionsFor, type Lies } from './passkey.ts'
import { addApp, beginSignIn } from './second-factor.ts'

const startNamed = async () => named(await startBank())
const auditOf = (bank: Bank, action: string) =>
  bank.sql`select actor_kind, detail from audit_log where action = ${action} order by id`
const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

test('with a passkey, the password alone opens nothing; the passkey completes the sign-in', async () => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const { passkey, answer } = await addPasskey(bank, owner, 'Laptop')
  expect(answer.body.data.recovery_codes).toHaveLength(10)
  expect((await owner.call('/session')).body.data.second_factor).toBe(true)
  expect((await owner.call('/second-factor')).body.data).toMatchObject({
    app: null,
    passkeys: [{ name: 'Laptop', last_used_at: null }],
    recovery_codes_left: 10,
  })

  const browser = await beginSignIn(bank, owner)
  expect((await browser.call('/session')).status).toBe(401)
  expect((await browser.call('/session/second-factor')).body.data).toEqual({
    app: false,
    passkey: true,
    recovery_code: true,
  })
  const options = await optionsFor(browser, '/session/second-factor')
  const finished = await browser.call('/session/second-factor', { body: { passkey: passkey.sign(options) } })
  expect(finished.body.data).toMatchObject({ admin: { email: owner.email }, second_factor: true })
  expect((await browser.call('/members')).status).toBe(200)
  expect((await auditOf(bank, 'admin.signed_in')).at(-1)).toMatchObject({ detail: { second_factor: 'passkey' } })
  expect((await owner.call('/second-factor')).body.data.passkeys[0].last_used_at).not.toBeNull()

  // Without a sign-in under way there is no challenge.
  const stranger = newBrowser(bank)
  expect((await stranger.call('/session/second-factor')).body.error).toBe('second_step_expired')
  const refused = await stranger.call('/session/second-factor/passkey-options', { method: 'POST' })
  expect(refused.body.error).toBe('second_step_expired')
})

test.each<[what: string, lies: Lies]>([
  ['a wrong challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ['another origin', { origin: 'https://hourbank.example' }],
  ['another port of the same host', { origin: 'http://localhost:1' }],
  ['another RP id', { rpId: 'hourbank.example' }],
  ['another key', { key: otherKey }],
  ['a signature for a new passkey', { type: 'webauthn.create' }],
  ['a counter that went backwards', { counter: 1 }],
])('a sign-in is rejected with %s', async (_what, lies) => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const { passkey } = await addPasskey(bank, owner)
  const finish = async (given: Lies) => {
    const browser = await beginSignIn(bank, owner)
    const options = await optionsFor(browser, '/session/second-factor')
    return (await browser.call('/session/second-factor', { body: { passkey: passkey.sign(options, given) } })).status
  }
  expect(await finish({})).toBe(200)
  expect(await finish(lies)).toBe(422)
  expect(await auditOf(bank, 'admin.second_factor_failed')).toMatchObject([{ detail: { method: 'passkey' } }])
  expect(await finish({})).toBe(200)
})

test.each<[what: string, lies: Lies]>([
  ['a wrong challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ['another origin', { origin: 'https://hourbank.example' }],
  ['another RP id', { rpId: 'hourbank.example' }],
  ['a signature for a sign-in', { type: 'webauthn.get' }],
])('no passkey is added with %s', async (_what, lies) => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const made = newPasskey(bank.url).create(await optionsFor(owner, '/second-factor'), lies)
  expect((await owner.call('/second-factor/passkeys', { body: { name: 'Key', passkey: made } })).status).toBe(409)
  expect((await owner.call('/second-factor')).body.data.passkeys).toEqual([])
})

test('a challenge works once, for five minutes, in the sign-in or session that asked for it', async () => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const { passkey } = await addPasskey(bank, owner)
  const prove = (body: object, admin = owner) => admin.call('/session/proof', { body: { passkey: body } })

  const first = await optionsFor(owner, '/session/proof')
  expect((await prove(passkey.sign(first))).status).toBe(200)
  expect((await prove(passkey.sign(first))).status).toBe(422)
  // A failed use counts too.
  const second = await optionsFor(owner, '/session/proof')
  expect((await prove(passkey.sign(second, { rpId: 'hourbank.example' }))).status).toBe(422)
  expect((await prove(passkey.sign(second))).status).toBe(422)
  // Of two uses at once, one succeeds.
  const third = await optionsFor(owner, '/session/proof')
  const both = await Promise.all([prove(passkey.sign(third)), prove(passkey.sign(third))])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422])
  // Only the last one counts, and not for long.
  const [fourth, fifth] = [await optionsFor(owner, '/session/proof'), await optionsFor(owner, '/session/proof')]
  expect(fourth.challenge).not.toBe(fifth.challenge)
  await bank.sql`update admin_sessions set challenge_until = now()`
  expect((await prove(passkey.sign(fifth))).status).toBe(422)

  const browser = await beginSignIn(bank, owner)
  const otherBrowser = await beginSignIn(bank, owner)
  const theirs = await optionsFor(browser, '/session/second-factor')
  await optionsFor(otherBrowser, '/session/second-factor')
  const ofSession = await optionsFor(owner, '/session/proof')
  const finish = async (options: typeof theirs) =>
    (await otherBrowser.call('/session/second-factor', { body: { passkey: passkey.sign(options) } })).status
  expect(await finish(theirs)).toBe(422)
  await optionsFor(otherBrowser, '/session/second-factor')
  expect(await finish(ofSession)).toBe(422)
  expect((await browser.call('/session/second-factor', { body: { passkey: passkey.sign(theirs) } })).status).toBe(200)
  // Another session of the same person.
  await optionsFor(owner, '/session/proof')
  expect((await prove(passkey.sign(await optionsFor({ call: browser.call }, '/session/proof')))).status).toBe(422)
})

test("another person's passkey completes no sign-in and proves nothing", async () => {
  const bank = await startNamed()
  const [owner, other] = [await addAdmin(bank), await addAdmin(bank)]
  await addPasskey(bank, owner)
  const { passkey: theirs } = await addPasskey(bank, other)
  const browser = await beginSignIn(bank, owner)
  const options = await optionsFor(browser, '/session/second-factor')
  expect((await browser.call('/session/second-factor', { body: { passkey: theirs.sign(options) } })).status).toBe(422)
  const proof = theirs.sign(await optionsFor(owner, '/session/proof'))
  expect((await owner.call('/session/proof', { body: { passkey: proof } })).status).toBe(422)
  // Nor can it be added a second time.
  const again = theirs.create(await optionsFor(owner, '/second-factor'))
  expect((await owner.call('/second-factor/passkeys', { body: { name: 'Key', passkey: again } })).status).toBe(409)
  // Nor renamed or removed by others.
  const { id } = (await other.call('/second-factor')).body.data.passkeys[0]
  const path = `/second-factor/passkeys/${id}`
  expect((await owner.call(path, { method: 'PATCH', body: { name: 'Mine' } })).status).toBe(404)
  expect((await owner.call(path, { method: 'DELETE' })).status).toBe(404)
  expect((await other.call('/second-factor')).body.data.passkeys).toMatchObject([{ id, name: 'Key' }])
})

test('a person has several passkeys, renames them and removes them; other sessions, links and sign-ins end', async () => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const other = newBrowser(bank)
  await other.call('/session', { body: { email: owner.email, password: PASSWORD } })
  const { token } = await makeLink(bank.sql, 'reset', owner.id)
  await addPasskey(bank, owner, 'Laptop')
  expect((await other.call('/session')).status).toBe(401)
  expect((await newBrowser(bank).call('/links/inspect', { body: { token } })).body.error).toBe('link_expired')
  const { passkey, answer } = await addPasskey(bank, owner, 'Phone')
  expect(answer.body.data.recovery_codes).toEqual([])

  const [laptop, phone] = (await owner.call('/second-factor')).body.data.passkeys
  const rename = (name: string, version: string) => {
    const headers = { 'if-match': `"${version}"` }
    return owner.call(`/second-factor/passkeys/${laptop.id}`, { method: 'PATCH', body: { name }, headers })
  }
  expect((await rename('Desk', phone.version)).status).toBe(412)
  expect((await rename('Desk', laptop.version)).status).toBe(200)
  expect((await rename(' ', '*')).status).toBe(422)
  const names = async () => (await owner.call('/second-factor')).body.data.passkeys.map(({ name }: any) => name)
  expect(await names()).toEqual(['Desk', 'Phone'])

  const halfway = await beginSignIn(bank, owner)
  const options = await optionsFor(halfway, '/session/second-factor')
  expect((await owner.call(`/second-factor/passkeys/${laptop.id}`, { method: 'DELETE' })).status).toBe(200)
  const late = await halfway.call('/session/second-factor', { body: { passkey: passkey.sign(options) } })
  expect(late.body.error).toBe('second_step_expired')
  expect((await owner.call('/second-factor')).body.data).toMatchObject({ recovery_codes_left: 10 })
  expect((await owner.call(`/second-factor/passkeys/${phone.id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await owner.call('/second-factor')).body.data).toMatchObject({ passkeys: [], recovery_codes_left: 0 })
  expect((await owner.call('/session')).body.data.second_factor).toBe(false)
  expect(await auditOf(bank, 'admin.second_factor_removed')).toMatchObject([
    { detail: { method: 'passkey', name: 'Desk' } },
    { detail: { method: 'passkey', name: 'Phone' } },
  ])
})

test('an app and a passkey stand side by side: removing one leaves the other and the recovery codes', async () => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  await addPasskey(bank, owner)
  const app = await addApp(owner)
  expect(app.recoveryCodes).toEqual([])
  const { passkeys } = (await owner.call('/second-factor')).body.data
  await owner.call(`/second-factor/passkeys/${passkeys[0].id}`, { method: 'DELETE' })
  expect((await owner.call('/second-factor')).body.data).toMatchObject({ passkeys: [], recovery_codes_left: 10 })
  const browser = await beginSignIn(bank, owner)
  expect((await browser.call('/session/second-factor', { body: { code: app.code() } })).status).toBe(200)
})

test('a passkey gives the fresh proof, counts for a community that requires one, and is gone after a reset', async () => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const { passkey } = await addPasskey(bank, owner)
  const required = { method: 'PATCH', body: { second_factor_required: true } }
  expect((await owner.call('/communities/town', required)).status).toBe(200)
  expect((await owner.call('/members')).status).toBe(200)
  expect((await owner.call('/administrators')).body.data).toMatchObject([{ second_factor: true }])

  await bank.sql`update admin_sessions set proven_at = now() - interval '15 minutes'`
  const begin = () => owner.call('/second-factor/passkey-options', { method: 'POST' })
  expect((await begin()).body.error).toBe('proof_required')
  const proof = passkey.sign(await optionsFor(owner, '/session/proof'))
  expect((await owner.call('/session/proof', { body: { passkey: proof } })).status).toBe(200)
  expect((await begin()).status).toBe(201)

  const { hadSecondFactor, password } = await resetAdmin(bank.sql, TESTER, owner.email)
  expect(hadSecondFactor).toBe(true)
  expect(await bank.sql`select from admin_passkeys`).toHaveLength(0)
  expect((await newBrowser(bank).call('/session', { body: { email: owner.email, password } })).status).toBe(200)
})

test('a passkey is added with the transports that a browser names, and none with anything else in their place', async () => {
  const bank = await startNamed()
  const owner = await addAdmin(bank)
  const addWith = async (transports: string[]) => {
    const passkey: any = newPasskey(bank.url).create(await optionsFor(owner, '/second-factor'))
    const body = { name: 'Key', passkey: { ...passkey, response: { ...passkey.response, transports } } }
    return (await owner.call('/second-factor/passkeys', { body })).status
  }
  for (const transport of ['usb\0', '\ud800', 'x'.repeat(41)]) expect(await addWith([transport])).toBe(422)
  expect(await addWith(['usb', 'smart-card'])).toBe(201)
})

test('there are no passkeys for addresses, and none that were made under another name', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const begin = await owner.call('/second-factor/passkey-options', { method: 'POST' })
  expect(begin.body).toMatchObject({ error: 'refused', error_description: expect.stringContaining('host name') })
  await bank.sql`
    insert into admin_passkeys (id, admin_id, name, credential_id, public_key, counter, transports, rp_id)
    values (1, ${owner.id}, 'Elsewhere', '\\x01', '\\x01', 0, '{}', 'hourbank.example')`
  const browser = await beginSignIn(bank, owner)
  const options = await browser.call('/session/second-factor/passkey-options', { method: 'POST' })
  expect(options.body.error).toBe('refused')
})
