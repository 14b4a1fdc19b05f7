import { expect, onTestFinished, test } from 'vitest'
import { createAdmin, resetAdmin } from '../src/features/admins/create-admin.ts'
import { makeLink } from '../src/features/admins/links.ts'
import { offerSetUp } from '../src/features/admins/set-up.ts'
import { findSecondStep, insertSecondStep } from '../src/features/second-factor/queries.ts'
import { hashSecret } from '../src/crypto/secrets.ts'
import { connect } from '../src/postgres/connect.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { callNode, eventually, startBank, startTestNode, TESTER } from './bank.ts'
import { newDatabase } from './database.ts'

test('a one-time password opens the console only to choose another', async () => {
  const bank = await startBank()
  const input = { email: 'ada@town.example', name: 'Ada', role: 'owner' } as const
  const { password } = await createAdmin(bank.sql, TESTER, bank.communityId, input)
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
  expect((await newBrowser(bank).call('/session', { body: { email: input.email, password } })).status).toBe(401)
})

test('a one-time password works once, for a day, and ends with a reset as do links', async () => {
  const bank = await startBank()
  const ada = { email: 'ada@town.example', name: 'Ada', role: 'owner' } as const
  const { adminId, password } = await createAdmin(bank.sql, TESTER, bank.communityId, ada)
  const enter = (secret: string | undefined) =>
    newBrowser(bank).call('/session', { body: { email: ada.email, password: secret } })
  const both = await Promise.all([enter(password), enter(password)])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401])
  expect((await enter(password)).body.error).toBe('sign_in_failed')

  const { token } = await makeLink(bank.sql, 'reset', adminId)
  const reset = await resetAdmin(bank.sql, TESTER, ada.email)
  expect((await newBrowser(bank).call('/links/inspect', { body: { token } })).body.error).toBe('link_expired')
  await bank.sql`update admins set one_time_until = now() - interval '1 second' where id = ${adminId}`
  expect((await enter(reset.password)).status).toBe(401)
})

test('a changed password ends other sessions, links, sign-ins under way and known browsers', async () => {
  const bank = await startBank()
  const ada = await addAdmin(bank)
  const other = newBrowser(bank)
  await other.call('/session', { body: { email: ada.email, password: PASSWORD } })
  const { token } = await makeLink(bank.sql, 'reset', ada.id)
  await insertSecondStep(bank.sql, ada.id, hashSecret('a sign-in under way'))
  const browsers = () => bank.sql`select from admin_browsers where admin_id = ${ada.id}`
  expect(await browsers()).toHaveLength(2)

  const body = { current_password: PASSWORD, new_password: 'lantern orbit mustard' }
  expect((await ada.call('/password', { body })).status).toBe(200)
  expect((await ada.call('/session')).status).toBe(200)
  expect((await other.call('/session')).body.error).toBe('sign_in_required')
  expect((await newBrowser(bank).call('/links/inspect', { body: { token } })).body.error).toBe('link_expired')
  expect(await findSecondStep(bank.sql, hashSecret('a sign-in under way'))).toBeUndefined()
  // The one in which it was changed.
  expect(await browsers()).toHaveLength(1)
})

test('a chosen password has twelve characters and is not easy to guess', async () => {
  const bank = await startBank()
  const ada = await addAdmin(bank)
  const choose = async (password: string) => {
    const body = { current_password: PASSWORD, new_password: password }
    return (await ada.call('/password', { body })).body
  }
  for (const weak of [
    'elevenchars',
    'password1234',
    'Password2026!',
    'qwertyuiop12',
    'abcabcabcabc',
    'Hourbank2026!',
    ada.email,
  ]) {
    expect(await choose(weak), weak).toMatchObject({ error: 'validation_failed', errors: [{ field: 'new_password' }] })
  }
  expect(await choose('lantern orbit mustard')).toHaveProperty('data')
})

test('sign-ins and failed sign-ins are in the audit log, with the address they came from', async () => {
  const bank = await startBank()
  const { email } = await addAdmin(bank)
  expect((await newBrowser(bank).call('/session', { body: { email, password: 'wrong one' } })).status).toBe(401)
  expect((await newBrowser(bank).call('/session', { body: { email, password: PASSWORD } })).status).toBe(200)
  const rows = () => bank.sql`
    select action, actor_kind, detail from audit_log
    where action in ('admin.sign_in_failed', 'admin.signed_in') order by action`
  // That of the helper, which signed in too.
  const detail = { address: '127.0.0.1' }
  await eventually(async () => (await rows()).length >= 3)
  expect(await rows()).toEqual([
    { action: 'admin.sign_in_failed', actor_kind: 'system', detail },
    { action: 'admin.signed_in', actor_kind: 'admin', detail },
    { action: 'admin.signed_in', actor_kind: 'admin', detail },
  ])
})

test('a wrong current password is in the audit log of each community', async () => {
  const bank = await startBank()
  const ada = await addAdmin(bank)
  const elsewhere = await bank.addCommunity('elsewhere')
  await createAdmin(bank.sql, TESTER, elsewhere, { email: ada.email, name: 'Volunteer 7', role: 'viewer' })
  const body = { current_password: 'a wrong password', new_password: 'lantern orbit mustard' }
  expect((await ada.call('/password', { body })).body.errors).toMatchObject([{ field: 'current_password' }])
  const rows = await bank.sql`
    select actor_id, actor_name, detail from audit_log where action = 'admin.proof_failed' order by community_id`
  const detail = { address: '127.0.0.1', method: 'password' }
  expect(rows).toEqual([
    { actor_id: ada.id, actor_name: 'The owner', detail },
    { actor_id: ada.id, actor_name: 'Volunteer 7', detail },
  ])
})

test('requests without a session, to another community or without the role are rejected', async () => {
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

test('the cookie is out of reach of scripts and of other sites, and bound to the host behind TLS', async () => {
  const bank = await startBank()
  const { email } = await addAdmin(bank)
  const answer = await newBrowser(bank).call('/session', { body: { email, password: PASSWORD } })
  const [cookie] = answer.headers.getSetCookie()
  expect(cookie).toMatch(/^hourbank_session=[\w-]{43};/)
  expect(cookie!.split('; ').slice(1).toSorted()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict'])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(JSON.stringify(answer.body)).not.toContain(cookie!.split(/[=;]/)[1])

  const { url, config } = await startTestNode(bank.databaseUrl, { config: { publicUrl: 'https://hours.example.org' } })
  const secure = await callNode(`http://127.0.0.1:${config.port}`, `${ADMIN_PREFIX}/session`, {
    headers: { origin: url },
    body: { email, password: PASSWORD },
  })
  expect(secure.status).toBe(200)
  expect(secure.headers.getSetCookie()[0]).toMatch(
    /^__Host-hourbank_session=.*; Path=\/; HttpOnly; Secure; SameSite=Strict/,
  )
})

test('a request from another site is rejected, whatever cookie it carries', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const input = { body: { email: 'new@town.example', name: 'New', role: 'owner' } }
  const port = new URL(bank.url).port
  const refused: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: '' },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: bank.url, 'sec-fetch-site': 'cross-site' },
    { origin: bank.url, 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of refused) {
    const answer = await owner.call('/administrators', { ...input, headers })
    expect([answer.status, answer.body.error], JSON.stringify(headers)).toEqual([403, 'origin_refused'])
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await owner.call('/administrators', { method: 'POST', body: 'email=x', headers: form })).status).toBe(415)
  expect((await owner.call('/administrators')).body.data).toHaveLength(1)
  expect((await owner.call('/administrators', { ...input, headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(
    201,
  )
})

test('a page of one person does nothing for another who signed in in the same browser, and ends no session', async () => {
  const bank = await startBank()
  const [ada, ben] = [await addAdmin(bank), await addAdmin(bank)]
  const asAda = { headers: { 'hourbank-admin': String(ada.id) } }
  const invitation = { body: { email: 'new@town.example', name: 'New', role: 'viewer' } }
  expect((await ada.call('/session', asAda)).status).toBe(200)
  for (const answer of [
    await ben.call('/administrators', { ...invitation, ...asAda }),
    await ben.call('/session', asAda),
    await ben.call('/session', { method: 'DELETE', ...asAda }),
  ]) {
    expect([answer.status, answer.body.error]).toEqual([401, 'sign_in_required'])
  }
  // Not even where the token is exchanged: the browser goes on with the new one.
  await bank.sql`update admin_sessions set rotated_at = now() - interval '16 minutes' where admin_id = ${ben.id}`
  const old = ben.cookie()
  expect((await ben.call('/session', asAda)).status).toBe(401)
  expect(ben.cookie()).not.toBe(old)
  expect((await ben.call('/invitations')).body.data).toEqual([])
})

test('a session that was planted in a browser is not the one that sign-in begins', async () => {
  const bank = await startBank()
  const { email, cookie } = await addAdmin(bank)
  const planted = cookie()!
  const answer = await newBrowser(bank).call('/session', {
    body: { email, password: PASSWORD },
    headers: { cookie: planted },
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.getSetCookie()[0]).not.toContain(planted)
  const invented = { cookie: `hourbank_session=${'A'.repeat(43)}` }
  expect((await newBrowser(bank).call('/session', { headers: invented })).body.error).toBe('sign_in_required')
})

test('a token is exchanged as the session goes on; the one before serves for a moment, then neither it nor an old one', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const first = admin.cookie()!
  const ask = (cookie: string) => newBrowser(bank).call('/session', { headers: { cookie } })

  await bank.sql`update admin_sessions set rotated_at = now() - interval '16 minutes' where admin_id = ${admin.id}`
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(first)))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
  const given = answers.flatMap(({ headers }) => headers.getSetCookie())
  expect(given).toHaveLength(1)
  const second = given[0]!.split(';')[0]!
  expect(second).not.toBe(first)
  expect((await ask(second)).status).toBe(200)
  expect((await ask(first)).status).toBe(200)

  await bank.sql`update admin_sessions set previous_token_until = now() where admin_id = ${admin.id}`
  expect((await ask(first)).status).toBe(401)
  expect((await ask(second)).status).toBe(200)
})

test('a session ends when it is idle, when it is old, and when its owner ends it', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  const open = async () => {
    const browser = newBrowser(bank)
    await browser.call('/session', { body: { email: admin.email, password: PASSWORD } })
    return browser
  }
  const [idle, old, ended, away] = [await open(), await open(), await open(), await open()]
  const id = async ({ call }: typeof idle) => (await call('/session')).body.data.session_id as number
  await bank.sql`update admin_sessions set last_seen_at = now() - interval '12 hours 1 second' where id = ${await id(idle)}`
  await bank.sql`update admin_sessions set expires_at = now() where id = ${await id(old)}`
  expect((await idle.call('/session')).body.error).toBe('sign_in_required')
  expect((await old.call('/session')).body.error).toBe('sign_in_required')

  const { data } = (await admin.call('/sessions')).body
  expect(data.filter(({ current }: { current: boolean }) => current)).toHaveLength(1)
  expect(data[0]).toMatchObject({ address: '127.0.0.1' })
  expect((await admin.call(`/sessions/${await id(ended)}`, { method: 'DELETE' })).status).toBe(200)
  expect((await ended.call('/session')).status).toBe(401)
  expect((await admin.call('/sessions/end-others', { method: 'POST' })).status).toBe(200)
  expect((await away.call('/session')).status).toBe(401)

  const other = await addAdmin(bank)
  expect((await admin.call(`/sessions/${await id(other)}`, { method: 'DELETE' })).status).toBe(404)
  expect((await admin.call('/session', { method: 'DELETE' })).headers.getSetCookie()[0]).toContain('hourbank_session=;')
  expect((await admin.call('/session')).status).toBe(401)
})

test('guessing ends after ten attempts, even concurrent ones, and locks out nobody elsewhere', async () => {
  const bank = await startBank({ config: { trustProxy: ['127.0.0.1/32'] } })
  const { email } = await addAdmin(bank)
  const guess = (password: string, address: string) =>
    newBrowser(bank).call('/session', { body: { email, password }, headers: { 'x-forwarded-for': address } })

  const guesses = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(`guess ${n}`, '192.0.2.1')))
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10)
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(20)
  const throttled = await guess(PASSWORD, '192.0.2.1')
  expect(throttled.body.error).toBe('rate_limited')
  expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(60)
  expect((await guess(PASSWORD, '192.0.2.2')).status).toBe(200)
})

test('an unknown address is answered like a wrong password, in words and with as much work', async () => {
  const bank = await startBank()
  const { email } = await addAdmin(bank)
  /** In processor time, because the machine may do other things at the same time. */
  const effort = async (address: string) => {
    const before = process.cpuUsage()
    const { status, body } = await newBrowser(bank).call('/session', {
      body: { email: address, password: 'wrong one' },
    })
    const { user } = process.cpuUsage(before)
    expect([status, body.error, body.error_description]).toEqual([401, 'sign_in_failed', expect.any(String)])
    return user
  }
  let [known, unknown, rounds] = [0, 0, 0]
  // The hash takes many times as long as the rest. What disturbs single attempts matters less with each further one, so
  // the ratio comes to rest where it belongs.
  await eventually(async () => {
    await bank.sql`delete from attempt_counts`
    known += await effort(email)
    unknown += await effort('nobody@town.example')
    rounds += 1
    const ratio = unknown / known
    return rounds >= 8 && ratio > 0.7 && ratio < 1.5
  })
})

test('the last owner stays, also when two owners remove each other at once', async () => {
  const bank = await startBank()
  const [one, two] = [await addAdmin(bank), await addAdmin(bank)]
  const removals = await Promise.all([
    one.call(`/administrators/${two.id}`, { method: 'DELETE' }),
    two.call(`/administrators/${one.id}`, { method: 'DELETE' }),
  ])
  expect(removals.filter(({ status }) => status === 200)).toHaveLength(1)
  const left = removals[0]!.status === 200 ? one : two
  expect((await left.call(`/administrators/${left.id}`, { method: 'DELETE' })).body.error).toBe('refused')
  const demotion = await left.call(`/administrators/${left.id}`, { method: 'PATCH', body: { role: 'viewer' } })
  expect(demotion.body.error).toBe('refused')
  expect((await left.call('/administrators')).body.data).toMatchObject([{ id: left.id, role: 'owner' }])
})

test('the first administrator comes in by the link that the server printed, once', async () => {
  const bank = await startBank()
  const browser = newBrowser(bank)
  expect((await browser.call('/setup')).body.data).toEqual({ needed: true, community_needed: false, mail: false })
  const link = (await offerSetUp(bank.sql))!.token
  const input = { link, name: 'Ada', email: 'ada@town.example', password: PASSWORD }
  expect((await browser.call('/setup', { body: { ...input, email: 'no address' } })).body.errors).toMatchObject([
    { field: 'email' },
  ])
  expect((await browser.call('/setup', { body: { ...input, link: 'x' } })).body.error).toBe('link_expired')
  const answers = await Promise.all(
    ['ada', 'eve'].map((name) =>
      newBrowser(bank).call('/setup', { body: { ...input, email: `${name}@town.example` } }),
    ),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 410])
  expect((await browser.call('/setup')).body.data).toEqual({ needed: false, community_needed: false, mail: false })
  expect(await offerSetUp(bank.sql)).toBeUndefined()
})

test('where there is no community yet, set-up makes one', async () => {
  const { url, sql } = await startEmptyNode()
  const link = (await offerSetUp(sql))!.token
  const body = { link, name: 'Ada', email: 'ada@town.example', password: PASSWORD }
  const post = (input: object) =>
    callNode(url, `${ADMIN_PREFIX}/setup`, { body: { ...body, ...input }, headers: { origin: url } })
  expect((await post({})).body.errors).toMatchObject([{ field: 'community_name' }])
  const made = await post({ community_name: 'Zeitbank Grünau', time_zone: 'Europe/Vienna' })
  expect(made.body.data.communities).toMatchObject([
    { slug: 'zeitbank-grunau', name: 'Zeitbank Grünau', role: 'owner', time_zone: 'Europe/Vienna' },
  ])
})

test('the console has a description of its own; the one for partners says nothing of it', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank, 'viewer')
  const { body } = await admin.call('/openapi.json')
  const paths = Object.keys(body.paths)
  expect(paths).toContain(`${ADMIN_PREFIX}/session`)
  expect(paths.every((path) => path.startsWith(ADMIN_PREFIX))).toBe(true)
  const forPartners = (await bank.call('/openapi.json')).body
  expect(Object.keys(forPartners.paths).filter((path) => path.startsWith(ADMIN_PREFIX))).toEqual([])
})

async function startEmptyNode() {
  const databaseUrl = await newDatabase()
  const sql = connect(databaseUrl, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())
  return { sql, ...(await startTestNode(databaseUrl)) }
}
