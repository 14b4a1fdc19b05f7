import { describe, expect, onTestFinished, test } from 'vitest'
import { explain } from '../src/cli/explain.ts'
import { acceptInvitation, createInvitedAdmin } from '../src/features/admins/accept-invitation.ts'
import { createAdmin, resetAdmin } from '../src/features/admins/create-admin.ts'
import { inspectResetLink } from '../src/features/admins/links.ts'
import { listAdmins } from '../src/features/admins/queries.ts'
import { connect } from '../src/postgres/connect.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { addAdmin, inviteToken, joinByLink, newBrowser, PASSWORD, type TestAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { newEmptyDatabase } from './database.ts'
import { holdOpen, openTransaction, someoneWaits, waitingSessions } from './lock-table.ts'

const TREASURER = 'treasurer@town.example'

/** Two communities with an owner each, who know nothing of each other. */
async function startTwo() {
  const bank = await startBank()
  const elsewhere = await bank.addCommunity('elsewhere')
  const [ownerA, ownerB] = [await addAdmin(bank), await addAdmin(bank, 'owner', elsewhere, 'elsewhere')]
  return { bank, elsewhere, ownerA, ownerB }
}

type Browser = Pick<TestAdmin, 'call'>

const communitiesOf = async ({ call }: Browser): Promise<string[]> =>
  (await call('/session')).body.data.communities.map(({ slug }: { slug: string }) => slug).toSorted()

const emailsOf = async ({ call }: Browser, list = '/administrators'): Promise<string[]> =>
  (await call(list)).body.data.map(({ email }: { email: string }) => email)

async function signedIn(bank: Bank, email: string, password = PASSWORD) {
  const browser = newBrowser(bank)
  const { status } = await browser.call('/session', { body: { email, password } })
  return { ...browser, status }
}

test('an invitation is an offer: it grants nothing until it is accepted by its link, once', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const invited = await owner.call('/administrators', { body: { email: TREASURER, name: 'Tess', role: 'manager' } })
  expect(invited.status).toBe(201)
  const token = new URL(invited.body.data.link.url).hash.slice(1)
  expect(await emailsOf(owner)).toEqual([owner.email])
  expect(await emailsOf(owner, '/invitations')).toEqual([TREASURER])
  expect((await bank.sql`select from admins where email = ${TREASURER}`).length).toBe(0)

  const tess = newBrowser(bank)
  expect((await tess.call('/links/inspect', { body: { token } })).body.data).toEqual({
    purpose: 'invitation',
    email: TREASURER,
    invitation: { community: 'Town', role: 'manager', name: 'Tess' },
    expires_at: invited.body.data.link.expires_at,
  })
  const weak = await tess.call('/links/use', { body: { token, password: 'short' } })
  expect(weak.body.errors).toMatchObject([{ field: 'password' }])
  const uses = await Promise.all([
    tess.call('/links/use', { body: { token, password: PASSWORD, name: 'Tess Adams' } }),
    newBrowser(bank).call('/links/use', { body: { token, password: PASSWORD, name: 'Tess Adams' } }),
  ])
  expect(uses.map(({ status }) => status).toSorted()).toEqual([200, 410])
  expect((await newBrowser(bank).call('/links/inspect', { body: { token } })).body.error).toBe('link_expired')
  expect((await owner.call('/administrators')).body.data).toMatchObject([
    { email: TREASURER, name: 'Tess Adams', role: 'manager' },
    { email: owner.email },
  ])
  expect(await emailsOf(owner, '/invitations')).toEqual([])
})

test('attack: an account that another community made for an address gets no role without the link', async () => {
  const { bank, ownerA, ownerB } = await startTwo()
  // B's owner invites the treasurer and follows the link himself.
  const attacker = await joinByLink(bank, ownerB, TREASURER, 'elsewhere')
  const token = await inviteToken(ownerA, TREASURER)

  expect(await communitiesOf(attacker)).toEqual(['elsewhere'])
  expect((await attacker.call('/communities/town/administrators')).status).toBe(404)
  expect(await emailsOf(ownerA)).toEqual([ownerA.email])
  // The treasurer, who has A's link, does not know the password of the account: the link does not replace it.
  const treasurer = newBrowser(bank)
  const use = await treasurer.call('/links/use', { body: { token, password: 'another good password' } })
  expect([use.status, use.body.error]).toEqual([409, 'refused'])
  expect((await signedIn(bank, TREASURER)).status).toBe(200)
  // The operator gives the account to the treasurer, which ends the attacker's session.
  const { password } = await resetAdmin(bank.sql, TESTER, TREASURER)
  expect((await attacker.call('/session')).status).toBe(401)
  const helped = await signedIn(bank, TREASURER, password)
  expect((await helped.call('/links/accept', { body: { token } })).body.error).toBe('password_change_required')
  await helped.call('/password', { body: { current_password: password, new_password: 'another good password' } })
  expect((await helped.call('/links/accept', { body: { token } })).status).toBe(200)
  expect(await communitiesOf(helped)).toEqual(['elsewhere', 'town'])
})

test('attack: an unused invitation of one community opens no other, whatever was granted since', async () => {
  const { bank, ownerA, ownerB } = await startTwo()
  const fromB = await inviteToken(ownerB, TREASURER)
  const treasurer = await joinByLink(bank, ownerA, TREASURER)

  const attacker = newBrowser(bank)
  const use = await attacker.call('/links/use', { body: { token: fromB, password: 'the attacker chose it' } })
  expect([use.status, use.body.error]).toEqual([409, 'refused'])
  expect((await attacker.call('/session')).status).toBe(401)
  expect((await signedIn(bank, TREASURER, 'the attacker chose it')).status).toBe(401)
  // Nor does it work for another account, even that of B's own owner.
  const accept = await ownerB.call('/links/accept', { body: { token: fromB } })
  expect(accept.body.error_description).toContain(TREASURER)
  expect(await communitiesOf(ownerB)).toEqual(['elsewhere'])
  expect((await treasurer.call('/session')).status).toBe(200)
  // The treasurer may still accept what B offers.
  expect((await treasurer.call('/links/accept', { body: { token: fromB, name: 'T.' } })).status).toBe(200)
  expect(await communitiesOf(treasurer)).toEqual(['elsewhere', 'town'])
})

test('an owner learns nothing of a person in other communities: no name, no activity, not that there is an account', async () => {
  const { bank, elsewhere, ownerA, ownerB } = await startTwo()
  const account = { email: 'Treasurer@Town.example', name: 'Secret Name', role: 'owner' } as const
  const { password } = await createAdmin(bank.sql, TESTER, elsewhere, account)
  const treasurer = { ...(await signedIn(bank, TREASURER, password)) }
  await treasurer.call('/password', { body: { current_password: password, new_password: PASSWORD } })

  const invite = (email: string) => ownerA.call('/administrators', { body: { email, name: 'Tess', role: 'owner' } })
  const [known, unknown] = [await invite(TREASURER), await invite('unknown@town.example')]
  const shape = ({ status, body }: typeof known) => [status, Object.keys(body.data), typeof body.data.link.url]
  expect(shape(known)).toEqual(shape(unknown))
  const tokens = [known, unknown].map(({ body }) => new URL(body.data.link.url).hash.slice(1))
  const seen = await Promise.all(tokens.map((token) => ownerA.call('/links/inspect', { body: { token } })))
  const blank = ({ body }: (typeof seen)[0]) => ({ ...body.data, email: '', expires_at: '' })
  expect(blank(seen[0]!)).toEqual(blank(seen[1]!))
  const refused = await ownerA.call('/links/accept', { body: { token: tokens[0] } })
  expect(refused.body.error_description).toContain(TREASURER)

  expect((await treasurer.call('/links/accept', { body: { token: tokens[0] } })).status).toBe(200)
  await newBrowser(bank).call('/links/use', { body: { token: tokens[1], password: PASSWORD } })
  await treasurer.call('/communities/elsewhere/administrators')
  const list = await ownerA.call('/administrators')
  const others = list.body.data.filter(({ email }: { email: string }) => email !== ownerA.email)
  expect(others).toMatchObject([
    { email: TREASURER, name: 'Tess', last_seen_at: null },
    { email: 'unknown@town.example', name: 'Tess', last_seen_at: null },
  ])
  // Neither id tells that it is the older account.
  const small = await bank.sql`select from admins where id < 1000000000`
  expect(small.length).toBe(0)
  const audit = await ownerA.call('/audit?limit=100')
  expect(JSON.stringify([list.body, audit.body])).not.toMatch(/Secret Name|Treasurer@Town|elsewhere/)

  // After a change of the account and a visit, each community knows the person by the name and the time of its own.
  await treasurer.call('/password', { body: { current_password: PASSWORD, new_password: 'another good password' } })
  expect((await treasurer.call('/communities/town/administrators')).status).toBe(200)
  const seenHere = (await ownerA.call('/administrators')).body.data.find(
    ({ email }: { email: string }) => email === TREASURER,
  )
  expect(seenHere.last_seen_at).not.toBeNull()
  expect(JSON.stringify((await ownerA.call('/audit?limit=100')).body)).not.toContain('Secret Name')
  const inB = (await ownerB.call('/audit?action=admin.password_changed')).body.data
  expect(inB).toMatchObject([{ actor: { name: 'Secret Name' } }, { actor: { name: 'Secret Name' } }])
})

test('invitations are listed, renewed and withdrawn; an old link ends with each', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const isOpen = async (token: string) =>
    (await newBrowser(bank).call('/links/inspect', { body: { token } })).status === 200
  const first = await inviteToken(owner, TREASURER, 'viewer')
  const again = await inviteToken(owner, TREASURER.toUpperCase(), 'manager')
  expect([await isOpen(first), await isOpen(again)]).toEqual([false, true])
  const { data } = (await owner.call('/invitations')).body
  expect(data).toMatchObject([{ email: TREASURER.toUpperCase(), role: 'manager' }])
  const path = `/invitations/${data[0].id}`

  const renewed = await owner.call(`${path}/renew`, { method: 'POST' })
  const third = new URL(renewed.body.data.link.url).hash.slice(1)
  expect([await isOpen(again), await isOpen(third)]).toEqual([false, true])
  await bank.sql`update admin_invitations set expires_at = now()`
  expect(await isOpen(third)).toBe(false)
  expect((await owner.call('/invitations')).body.data).toHaveLength(1)
  const fourth = new URL((await owner.call(`${path}/renew`, { method: 'POST' })).body.data.link.url).hash.slice(1)
  expect((await owner.call(path, { method: 'DELETE' })).status).toBe(200)
  expect(await isOpen(fourth)).toBe(false)
  expect((await owner.call(path, { method: 'DELETE' })).status).toBe(404)
  expect((await owner.call('/invitations/x/renew', { method: 'POST' })).status).toBe(404)

  const known = await owner.call('/administrators', { body: { email: owner.email, name: 'Me', role: 'viewer' } })
  expect(known.body.errors).toMatchObject([{ field: 'email' }])
  const viewer = await addAdmin(bank, 'viewer')
  expect((await viewer.call('/invitations')).status).toBe(200)
  for (const [refused, method] of [
    [path, 'DELETE'],
    [`${path}/renew`, 'POST'],
  ] as const) {
    expect((await viewer.call(refused, { method })).body.error).toBe('role_insufficient')
  }
})

test('nobody returns by an invitation: those of a removed owner end, and those to a person end with their role', async () => {
  const bank = await startBank()
  const [stays, leaves] = [await addAdmin(bank), await addAdmin(bank)]
  const backDoor = await inviteToken(leaves, 'other@town.example', 'owner')
  const kept = await inviteToken(stays, 'third@town.example')
  expect((await stays.call(`/administrators/${leaves.id}`, { method: 'DELETE' })).status).toBe(200)
  const use = (token: string) => newBrowser(bank).call('/links/use', { body: { token, password: PASSWORD } })
  expect((await use(backDoor)).body.error).toBe('link_expired')

  // An owner who becomes a manager takes no invitation along either.
  const demoted = await addAdmin(bank)
  const another = await inviteToken(demoted, 'fourth@town.example', 'owner')
  await stays.call(`/administrators/${demoted.id}`, { method: 'PATCH', body: { role: 'manager' } })
  expect((await use(another)).body.error).toBe('link_expired')

  // The operator grants the role meanwhile: the open offer is void, so that it cannot undo a later removal.
  const { adminId } = await createAdmin(bank.sql, TESTER, bank.communityId, {
    email: 'third@town.example',
    name: 'Third',
    role: 'viewer',
  })
  await stays.call(`/administrators/${adminId}`, { method: 'DELETE' })
  expect((await use(kept)).body.error).toBe('link_expired')
})

describe('adding an administrator on the command line at the same moment as', () => {
  const tess = { email: TREASURER, name: 'Tess', role: 'owner' } as const
  const ALREADY =
    `${TREASURER} is an administrator of this community already. An owner can change the role in the console, under ` +
    `Community. If this person cannot sign in, run: npx hourbank admin reset --email ${TREASURER}`
  const rolesOf = ({ sql }: Bank) => sql`
    select r.community_id, r.role from community_admins r join admins a on a.id = r.admin_id
    where a.email = ${TREASURER} order by r.community_id`

  test('creating an account by invitation reports that the person is already an administrator', async () => {
    const { bank, ownerA } = await startTwo()
    const token = await inviteToken(ownerA, TREASURER)
    const accepting = await openTransaction(bank.sql)
    await createInvitedAdmin(accepting.tx, { token, password: PASSWORD }, () => true)
    const outcome = createAdmin(bank.sql, TESTER, bank.communityId, tess).catch(explain)
    await someoneWaits(bank.sql)
    await accepting.commit()
    expect(await outcome).toBe(ALREADY)
    expect(await rolesOf(bank)).toEqual([{ community_id: bank.communityId, role: 'manager' }])
  })

  test('creating an account by an invitation of another community gives that account the role', async () => {
    const { bank, elsewhere, ownerB } = await startTwo()
    const token = await inviteToken(ownerB, TREASURER)
    const accepting = await openTransaction(bank.sql)
    const { id } = await createInvitedAdmin(accepting.tx, { token, password: PASSWORD }, () => true)
    const outcome = createAdmin(bank.sql, TESTER, bank.communityId, tess).catch(explain)
    await someoneWaits(bank.sql)
    await accepting.commit()
    expect(await outcome).toEqual({ adminId: id, password: undefined })
    expect(await rolesOf(bank)).toEqual([
      { community_id: bank.communityId, role: 'owner' },
      { community_id: elsewhere, role: 'manager' },
    ])
  })

  test('accepting an invitation with an existing account keeps the role that was accepted', async () => {
    const { bank, ownerA, ownerB } = await startTwo()
    await joinByLink(bank, ownerB, TREASURER, 'elsewhere')
    const [admin] = await bank.sql<[{ id: number }]>`select id, email from admins where email = ${TREASURER}`
    const token = await inviteToken(ownerA, TREASURER)
    const accepting = await openTransaction(bank.sql)
    await acceptInvitation(accepting.tx, { admin } as never, { token })
    const outcome = createAdmin(bank.sql, TESTER, bank.communityId, tess).catch(explain)
    await someoneWaits(bank.sql)
    await accepting.commit()
    expect(await outcome).toBe(ALREADY)
    expect(await rolesOf(bank)).toMatchObject([{ role: 'manager' }, { role: 'manager' }])
  })

  test('clicking the invitation gives the person one role, and the click finds the invitation used', async () => {
    const { bank, ownerA, ownerB } = await startTwo()
    const treasurer = await joinByLink(bank, ownerB, TREASURER, 'elsewhere')
    const token = await inviteToken(ownerA, TREASURER)
    // Between the role and the end of the invitations.
    const links = await holdOpen(bank.sql, 'lock table admin_links in share mode')
    const outcome = createAdmin(bank.sql, TESTER, bank.communityId, tess).catch(explain)
    await someoneWaits(bank.sql)
    const click = treasurer.call('/links/accept', { body: { token } })
    await eventually(async () => (await waitingSessions(bank.sql)).length === 2)
    await links.release()
    expect(await outcome).toMatchObject({ password: undefined })
    expect((await click).body.error).toBe('link_expired')
    expect(await rolesOf(bank)).toMatchObject([{ role: 'owner' }, { role: 'manager' }])
  })
})

test('an administrator is not added again with another role', async () => {
  const { bank, ownerA } = await startTwo()
  const again = createAdmin(bank.sql, TESTER, bank.communityId, { email: ownerA.email, name: 'X', role: 'viewer' })
  expect(await again.catch(explain)).toContain(
    `${ownerA.email} is an administrator of this community already. An owner`,
  )
  expect((await ownerA.call('/administrators')).body.data).toMatchObject([{ name: 'The owner', role: 'owner' }])
})

test('links from before the upgrade end, and people who never followed theirs become invitations', async () => {
  const databaseUrl = await newEmptyDatabase()
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end())
  await migrate(sql, { upTo: '0022_one_time_passwords' })
  await sql.unsafe(`
    insert into communities (id, slug, name) values (1, 'town', 'Town'), (2, 'elsewhere', 'Elsewhere');
    insert into admins (id, email, name, password_hash, password_one_time) values
      (1, 'ada@town.example', 'Ada', 'x', false), (2, 'invited@town.example', 'Iris', 'x', true),
      (3, 'created@town.example', 'Cleo', 'x', true);
    insert into community_admins (community_id, admin_id, role) values
      (1, 1, 'owner'), (2, 1, 'viewer'), (1, 2, 'manager'), (2, 2, 'viewer'), (1, 3, 'viewer');
    insert into admin_sessions (admin_id, token_hash, expires_at) values (1, 's', now() + interval '1 day');
    insert into admin_links (token_hash, purpose, admin_id, expires_at) values
      ('a', 'invitation', 2, now() + interval '1 day'), ('b', 'reset', 1, now() + interval '1 day')`)
  await migrate(sql)
  expect(await sql`select from admin_links`).toHaveLength(0)
  expect(await sql`select community_id, email, name, role from admin_invitations order by community_id`).toEqual([
    { community_id: 1, email: 'invited@town.example', name: 'Iris', role: 'manager' },
    { community_id: 2, email: 'invited@town.example', name: 'Iris', role: 'viewer' },
  ])
  expect(
    await sql`select community_id, admin_id, name, last_seen_at from community_admins order by admin_id, community_id`,
  ).toEqual([
    { community_id: 1, admin_id: 1, name: 'Ada', last_seen_at: null },
    { community_id: 2, admin_id: 1, name: 'Ada', last_seen_at: null },
    { community_id: 1, admin_id: 3, name: 'Cleo', last_seen_at: null },
  ])
  expect((await sql`select id from admins order by id`).map(({ id }) => id)).toEqual([1, 3])

  // A node of the previous version that still runs invites as it used to.
  await sql.unsafe(`
    insert into admins (id, email, name, password_hash, password_one_time) values (4, 'late@town.example', 'Lea', 'x', true);
    insert into community_admins (community_id, admin_id, role) values (1, 4, 'viewer');
    insert into admin_links (token_hash, purpose, admin_id, expires_at)
    values (sha256('late'), 'invitation', 4, now() + interval '1 day')`)
  const listed = await listAdmins(sql, 1)
  expect(listed.find(({ id }) => id === 4)).toMatchObject({ name: 'late@town.example', email: 'late@town.example' })
  await expect(inspectResetLink(sql, 'late')).rejects.toMatchObject({ code: 'link_expired' })
})

test('an address that a mail program could read as another one is rejected', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const invite = (email: string) => owner.call('/administrators', { body: { email, name: 'Somebody', role: 'viewer' } })
  for (const email of [
    'v@x.example,',
    'v@x.example>',
    'x<v@x.example>',
    'a,b@x.example',
    'a(b)c@x.example',
    '"a b"@x.example',
    'a;b@x.example',
    'a:b@x.example',
    'v@x.example;w@x.example',
    'v@[127.0.0.1',
  ]) {
    const refused = await invite(email)
    expect([email, refused.status, refused.body.errors?.[0].field]).toEqual([email, 422, 'email'])
  }
  for (const email of ["o'brien+office@x.example", 'jürgen@grünau.example', 'v@[127.0.0.1]', 'v@[IPv6:2001:db8::1]']) {
    expect([email, (await invite(email)).status]).toEqual([email, 201])
  }
})
