import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { removeAdmin, changeRole } from '../src/features/admins/change-admin.ts'
import { createAdmin } from '../src/features/admins/create-admin.ts'
import { hashPassword } from '../src/features/admins/passwords.ts'
import { updatePassword } from '../src/features/admins/queries.ts'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { addMember, hideMember } from '../src/features/members/change-member.ts'
import { revokeClient, rotateSecret } from '../src/features/partners/change-client.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { connect } from '../src/postgres/connect.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { callNode, fetchToken, startBank, startTestNode, TESTER, type Bank, type TestPartner } from './bank.ts'
import { hourbank, hourbankEmbedded, hourbankWith } from './command-line.ts'
import { newEmptyDatabase } from './database.ts'

/** Several commands, each a process of its own. */
const TIMEOUT_MS = 300_000
const NEW_PASSWORD = 'another horse entirely'

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-restore-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function subscribe(bank: Bank, partner: TestPartner, path: string): Promise<number> {
  const { status, body } = await bank.call('/webhooks/subscriptions', {
    token: await bank.token(undefined, partner),
    body: { event_types: ['user.*'], target_url: `https://receiver.example/${path}` },
  })
  expect(status).toBe(201)
  return body.data.id
}

async function tokenStatus(url: string, { clientId, clientSecret }: TestPartner, scope?: string): Promise<number> {
  const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope }
  return (await callNode(url, '/oauth/token', { body })).status
}

/** Signs in on another node than the bank's. */
async function signIn(bank: Bank, url: string, email: string, password: string) {
  const browser = newBrowser({ ...bank, url })
  const { status } = await browser.call('/session', { body: { email, password } })
  return { status, browser }
}

/** A town with one of everything that can be withdrawn, backed up. */
async function startTown() {
  const bank = await startBank()
  const [owner, left, lowered] = [await addAdmin(bank), await addAdmin(bank, 'owner'), await addAdmin(bank, 'owner')]
  const [revoked, suspended, narrowed, rotated] = [
    await bank.addPartner({ name: 'Revoked' }),
    await bank.addPartner({ name: 'Suspended' }),
    await bank.addPartner({ name: 'Narrowed' }),
    await bank.addPartner({ name: 'Rotated' }),
  ]
  const off = await bank.addCommunity('off')
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const subscriptions = {
    deleted: await subscribe(bank, narrowed, 'deleted'),
    paused: await subscribe(bank, narrowed, 'paused'),
    moved: await subscribe(bank, narrowed, 'moved'),
  }
  const { password: oneTime } = await createAdmin(bank.sql, TESTER, bank.communityId, {
    email: 'new@town.example',
    name: 'New',
    role: 'viewer',
  })
  const token = await bank.token()
  const file = join(await newFolder(), 'town.backup')
  await hourbank(bank.databaseUrl, 'backup', file)
  return {
    bank,
    file,
    token,
    oneTime: oneTime!,
    owner,
    left,
    lowered,
    revoked,
    suspended,
    narrowed,
    rotated,
    off,
    member,
    subscriptions,
  }
}

type Town = Awaited<ReturnType<typeof startTown>>

const subscriptionPath = (id: number) => `/webhooks/subscriptions/${id}`

/** Returns the new secret of the client that was rotated. */
async function withdrawEverything(town: Town): Promise<TestPartner> {
  const { bank, owner, left, lowered, revoked, suspended, narrowed, rotated, off, subscriptions } = town
  const { sql, communityId } = bank
  await revokeClient(sql, TESTER, revoked.clientId)
  await changePartner(sql, TESTER, communityId, suspended.partnerId, { status: 'suspended' })
  await changePartner(sql, TESTER, communityId, bank.partner.partnerId, { allowed_networks: ['192.0.2.0/24'] })
  const token = await bank.token(undefined, narrowed)
  await bank.call(subscriptionPath(subscriptions.deleted), { method: 'DELETE', token })
  await bank.call(subscriptionPath(subscriptions.paused), { method: 'PATCH', token, body: { status: 'paused' } })
  await bank.call(subscriptionPath(subscriptions.moved), {
    method: 'PATCH',
    token,
    body: { target_url: 'https://elsewhere.example/moved' },
  })
  await changePartner(sql, TESTER, communityId, narrowed.partnerId, { scopes: ['users.read'] })
  const { clientSecret } = await rotateSecret(sql, TESTER, rotated.clientId, 'none')
  await removeAdmin(sql, TESTER, communityId, left.id)
  await changeRole(sql, TESTER, communityId, lowered.id, 'viewer')
  await updatePassword(sql, owner.id, { hash: await hashPassword(NEW_PASSWORD), oneTime: false })
  await switchPartnerApi(sql, TESTER, off, { enabled: false, reason: 'Closed' })
  await hideMember(sql, TESTER, communityId, town.member.id)
  return { ...rotated, clientSecret }
}

test('a restore with --replacing revives nothing that was withdrawn', { timeout: TIMEOUT_MS }, async () => {
  const town = await startTown()
  const { bank, file } = town
  const renewed = await withdrawEverything(town)
  const copy = await newEmptyDatabase()
  expect(await hourbankWith({ REPLACED_DATABASE_URL: bank.databaseUrl }, copy, 'restore', file)).toMatch(
    /Withdrawn again: [1-9]\d*\./,
  )
  const { url } = await startTestNode(copy)
  const sql = connect(copy, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())

  expect((await callNode(url, '/users', { token: town.token })).status, 'a token from before').toBe(401)
  expect((await town.owner.call('/members')).status).toBe(200)
  const session = await newBrowser({ ...bank, url }).call('/members', { headers: { cookie: town.owner.cookie()! } })
  expect(session.status, 'a session from before').toBe(401)
  expect((await signIn(bank, url, 'new@town.example', town.oneTime)).status, 'a one-time password').toBe(401)

  expect(await tokenStatus(url, town.revoked), 'a revoked client').toBe(401)
  expect(await tokenStatus(url, town.suspended), 'a suspended partner').not.toBe(200)
  expect(await tokenStatus(url, town.rotated), 'a rotated secret').toBe(401)
  expect(await tokenStatus(url, renewed), 'the new secret').toBe(200)
  expect(await tokenStatus(url, town.narrowed, 'wallet.write'), 'a removed scope').toBe(400)
  expect(await tokenStatus(url, town.narrowed, 'users.read'), 'a scope that stayed').toBe(200)
  expect(await tokenStatus(url, bank.partner), 'an address that is no longer allowed').toBe(403)

  expect((await signIn(bank, url, town.owner.email, PASSWORD)).status, 'a changed password').toBe(401)
  const owner = await signIn(bank, url, town.owner.email, NEW_PASSWORD)
  expect(owner.status).toBe(200)
  const left = await signIn(bank, url, town.left.email, PASSWORD)
  expect((await left.browser.call('/members')).status, 'a removed administrator').not.toBe(200)
  const lowered = await signIn(bank, url, town.lowered.email, PASSWORD)
  const change = { method: 'PATCH', body: { name: 'Mine' } }
  expect((await lowered.browser.call('/communities/town', change)).status, 'a lowered role').toBe(403)

  expect(await sql`select partner_api_enabled as on, review_backup_at from communities order by id`).toEqual([
    { on: true, review_backup_at: null },
    { on: false, review_backup_at: null },
  ])
  expect(await sql`select id, status, target_url from subscriptions order by id`).toEqual([
    { id: town.subscriptions.paused, status: 'paused', target_url: 'https://receiver.example/paused' },
    { id: town.subscriptions.moved, status: 'active', target_url: 'https://elsewhere.example/moved' },
  ])
  expect(await sql`select hidden from members`).toEqual([{ hidden: true }])
  const { data } = (await owner.browser.call('/overview')).body
  expect(data.review).toBeNull()
  const audit =
    await sql`select detail from audit_log where action = 'community.restored' and community_id = ${bank.communityId}`
  expect(audit).toMatchObject([{ detail: { clients: 2, administrators: 2, webhooks: 3, members_hidden: 1 } }])
})

test('nothing changes for those whose access was not withdrawn', { timeout: TIMEOUT_MS }, async () => {
  const { bank, file, owner } = await startTown()
  const copy = await newEmptyDatabase()
  expect(await hourbankWith({ REPLACED_DATABASE_URL: bank.databaseUrl }, copy, 'restore', file)).toContain(
    'Withdrawn again: 0.',
  )
  const { url } = await startTestNode(copy)
  expect((await callNode(url, '/users', { token: await fetchToken(url, bank.partner) })).status).toBe(200)
  expect((await signIn(bank, url, owner.email, PASSWORD)).status).toBe(200)
})

test(
  'without --replacing the partner API is off, the overview lists what to review, and switching it on ends that',
  { timeout: TIMEOUT_MS },
  async () => {
    const town = await startTown()
    const { bank, file } = town
    const copy = await newEmptyDatabase()
    expect(await hourbank(copy, 'restore', file)).toContain('The partner API is switched off in every community')
    const { url } = await startTestNode(copy)
    const refused = await callNode(url, '/oauth/token', {
      body: {
        grant_type: 'client_credentials',
        client_id: bank.partner.clientId,
        client_secret: bank.partner.clientSecret,
      },
    })
    expect(refused.status).toBe(503)
    expect(refused.body.error_description).toMatch(/restored from a backup of 20.*being reviewed/)
    expect((await callNode(url, '/users', { token: town.token })).status).toBe(401)

    const { browser } = await signIn(bank, url, town.owner.email, PASSWORD)
    const { review } = (await browser.call('/overview')).body.data
    expect(review.partners.map(({ name }: { name: string }) => name)).toEqual([
      'Bank',
      'Narrowed',
      'Revoked',
      'Rotated',
      'Suspended',
    ])
    expect(review.partners[1]).toMatchObject({ clients: 1, webhooks: 3 })
    expect(review.administrators).toHaveLength(4)
    expect(Date.parse(review.backup_at)).toBeLessThanOrEqual(Date.now())
    expect((await browser.call('/partner-api', { body: { enabled: true } })).status).toBe(200)
    expect((await browser.call('/overview')).body.data.review).toBeNull()
    expect(await tokenStatus(url, bank.partner)).toBe(200)
  },
)

test('--replacing with another installation is refused, and nothing is written', { timeout: TIMEOUT_MS }, async () => {
  const [{ file }, other] = [await startTown(), await startBank()]
  const copy = await newEmptyDatabase()
  await expect(hourbankWith({ REPLACED_DATABASE_URL: other.databaseUrl }, copy, 'restore', file)).rejects.toThrow(
    /no community in common with this backup/,
  )
  const sql = connect(copy, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())
  expect(await sql`select from pg_class where relname = 'communities'`).toHaveLength(0)
})

test('a password is not accepted as an argument, where other users can see it', { timeout: TIMEOUT_MS }, async () => {
  const url = 'postgres://hourbank:hunter2@127.0.0.1:1/hourbank'
  const attempt = hourbank(await newEmptyDatabase(), 'restore', 'town.backup', '--replacing', url)
  await expect(attempt).rejects.toThrow(/Set REPLACED_DATABASE_URL/)
})

test('the commands encrypt, and reject backups that the key does not verify', { timeout: TIMEOUT_MS }, async () => {
  const bank = await startBank()
  const folder = await newFolder()
  const [locked, passphrase, short] = [join(folder, 'locked'), join(folder, 'passphrase'), join(folder, 'short')]
  await writeFile(passphrase, 'correct horse battery staple\n')
  await writeFile(short, 'short\n')
  const options = ['--passphrase-file', passphrase]
  await expect(hourbank(bank.databaseUrl, 'backup', locked, '--passphrase-file', short)).rejects.toThrow('at least 12')
  await hourbank(bank.databaseUrl, 'backup', locked, ...options)
  const copy = await newEmptyDatabase()
  await expect(hourbank(copy, 'restore', locked)).rejects.toThrow('--passphrase-file')
  const elsewhere = { SECRET_KEY: 'e'.repeat(32) }
  await hourbankWith(elsewhere, copy, 'restore', locked, ...options)

  const sealed = join(folder, 'sealed')
  await hourbank(bank.databaseUrl, 'backup', sealed, '--encrypt')
  const other = await newEmptyDatabase()
  await expect(hourbankWith(elsewhere, other, 'restore', sealed, '--unverified')).rejects.toThrow(
    'encrypted with another SECRET_KEY',
  )
  await hourbank(other, 'restore', sealed)
})

test('a folder that is replaced hands its key on', { timeout: TIMEOUT_MS }, async () => {
  const folder = await newFolder()
  const [before, after, file] = [join(folder, 'before'), join(folder, 'after'), join(folder, 'backup')]
  await hourbankEmbedded(before, 'migrate')
  await hourbankEmbedded(before, 'community', 'create', '--slug', 'town', '--name', 'Town')
  await hourbankEmbedded(before, 'backup', file)
  await expect(hourbankEmbedded(after, 'restore', file)).rejects.toThrow('there is no key yet')
  expect(await hourbankEmbedded(after, 'restore', file, '--replacing', before)).toContain('Withdrawn again: 0.')
  expect((await stat(join(after, 'secret-key'))).mode & 0o777).toBe(0o600)
})
