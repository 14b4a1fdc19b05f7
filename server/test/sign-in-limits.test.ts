import { expect, test } from 'vitest'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { callNode, eventually, startBank, startTestNode, type Bank } from './bank.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { prune } from '../src/postgres/prune.ts'

const BEHIND_PROXY = { trustProxy: ['127.0.0.1/32'] }
const ACCOUNT_MAX = 30
const PAIR_MAX = 10
const ADDRESS_MAX = 100
const HOUR_MS = 60 * 60 * 1000

function guessAt(url: string, email: string, address: string, password = 'a wrong password') {
  return callNode(url, `${ADMIN_PREFIX}/session`, {
    body: { email, password },
    headers: { origin: url, 'x-forwarded-for': address },
  })
}

const addressOf = (n: number) => `2001:db8:0:1::${n.toString(16)}`

/** Guesses from many addresses until the account's own limit is reached. */
async function exhaust(bank: Bank, email: string): Promise<void> {
  for (let n = 0; n < ACCOUNT_MAX; n++) {
    expect((await guessAt(bank.url, email, `192.0.2.${n + 1}`)).status).toBe(401)
  }
}

async function countRows(bank: Bank): Promise<number> {
  const [row] = await bank.sql<[{ count: number }]>`select count(*) from attempt_counts`
  return row.count
}

test('guesses from many addresses end at a limit per account, which its owner does not feel', async () => {
  const bank = await startBank({ config: BEHIND_PROXY })
  const owner = await addAdmin(bank)
  await exhaust(bank, owner.email)
  const stranger = await guessAt(bank.url, owner.email, '198.51.100.1', PASSWORD)
  expect([stranger.status, stranger.body.error]).toEqual([429, 'rate_limited'])
  expect(Number(stranger.headers.get('retry-after'))).toBeGreaterThan(60)
  // Other accounts are not concerned, and an unknown one is limited in the same way.
  const other = await addAdmin(bank)
  expect((await guessAt(bank.url, other.email, '198.51.100.1', PASSWORD)).status).toBe(200)
  await exhaust(bank, 'nobody@town.example')
  const unknown = await guessAt(bank.url, 'nobody@town.example', '198.51.100.2')
  expect(unknown.body.error_description).toBe(stranger.body.error_description)

  // The browser in which the owner has signed in before is admitted, from any address.
  const headers = { 'x-forwarded-for': '198.51.100.1' }
  const body = { email: owner.email, password: PASSWORD }
  expect((await owner.call('/session', { body, headers })).status).toBe(200)
  // Another person's browser is no reason.
  expect((await other.call('/session', { body, headers })).status).toBe(429)
  // Nor is one from before the password was changed elsewhere.
  await owner.call('/password', { body: { current_password: PASSWORD, new_password: 'another good password' } })
  await bank.sql`delete from admin_browsers where admin_id = ${owner.id}`
  expect((await owner.call('/session', { body, headers })).status).toBe(429)
})

test('a known browser has a limit of its own, and each sign-in gives it another token', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const tokens = () => bank.sql<{ token_hash: Buffer }[]>`
    select token_hash from admin_browsers where admin_id = ${owner.id}`
  const [before] = await tokens()
  const good = { email: owner.email, password: PASSWORD }
  const answer = await owner.call('/session', { body: good })
  expect(answer.headers.getSetCookie()[1]).toMatch(/^hourbank_browser=[\w-]{43}; Max-Age=31536000; .*HttpOnly/)
  const after = await tokens()
  expect(after).toHaveLength(1)
  expect(after[0]!.token_hash.equals(before!.token_hash)).toBe(false)

  const bad = { email: owner.email, password: 'a wrong password' }
  for (let n = 0; n < PAIR_MAX; n++) expect((await owner.call('/session', { body: bad })).status).toBe(401)
  expect((await owner.call('/session', { body: good })).status).toBe(429)
})

test('limits are exact with several processes that share nothing but the database', async () => {
  const bank = await startBank({ config: BEHIND_PROXY })
  const second = await startTestNode(bank.databaseUrl, { config: BEHIND_PROXY })
  const { email } = await addAdmin(bank)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) => guessAt(n % 2 ? bank.url : second.url, email, '192.0.2.1')),
  )
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(PAIR_MAX)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30 - PAIR_MAX)
})

test('the IPv6 addresses of one customer count as one, for an account and for all accounts together', async () => {
  const bank = await startBank({ config: BEHIND_PROXY })
  const { email } = await addAdmin(bank)
  for (let n = 0; n < PAIR_MAX; n++) expect((await guessAt(bank.url, email, addressOf(n))).status).toBe(401)
  expect((await guessAt(bank.url, email, addressOf(PAIR_MAX), PASSWORD)).status).toBe(429)
  expect((await guessAt(bank.url, email, '2001:db8:0:2::1', PASSWORD)).status).toBe(200)
  // Without hashing a hundred passwords.
  await bank.sql`update attempt_counts set count = ${ADDRESS_MAX}`
  expect((await guessAt(bank.url, 'ben@town.example', addressOf(ADDRESS_MAX))).status).toBe(429)
  expect((await guessAt(bank.url, 'ben@town.example', '2001:db8:0:3::1')).status).toBe(401)
})

test('rejected attempts leave nothing behind, however many accounts they name', async () => {
  const bank = await startBank({ config: BEHIND_PROXY })
  const guess = (n: number) => guessAt(bank.url, `${n}-${'x'.repeat(200)}@town.example`, '192.0.2.1')
  for (let n = 0; n < ADDRESS_MAX; n++) expect((await guess(n)).status).toBe(401)
  const rows = await countRows(bank)
  for (let n = ADDRESS_MAX; n < ADDRESS_MAX + 50; n++) expect((await guess(n)).status).toBe(429)
  expect(await countRows(bank)).toBe(rows)
  const [address] = await bank.sql<[{ count: number }]>`select max(count) as count from attempt_counts`
  expect(address.count).toBe(ADDRESS_MAX + 1)

  await prune(bank.sql, { callLogDays: 90, now: new Date(Date.now() + 2 * HOUR_MS) })
  expect(await countRows(bank)).toBe(0)
})

test('sign-ins that a limit rejects are in the audit log, as the first, the tenth and so on', async () => {
  const bank = await startBank({ config: BEHIND_PROXY })
  const { email } = await addAdmin(bank)
  const entries = () => bank.sql<{ detail: { times: number; address: string } }[]>`
    select detail from audit_log where action = 'admin.sign_in_limited' order by id`
  for (let n = 0; n < PAIR_MAX; n++) await guessAt(bank.url, email, '192.0.2.1')
  for (let n = 0; n < 15; n++) expect((await guessAt(bank.url, email, '192.0.2.1')).status).toBe(429)
  const counted = async () => {
    const rows = await bank.sql`select from attempt_counts where count = 15`
    return rows.length > 0
  }
  await eventually(counted)
  await eventually(async () => (await entries()).length === 2)
  expect((await entries()).map(({ detail }) => detail)).toEqual([
    { address: '192.0.2.1', times: 1 },
    { address: '192.0.2.1', times: 10 },
  ])
})

test('calls that a role does not allow are in the audit log, and repeating them does not flood it', async () => {
  const bank = await startBank()
  const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  const invitation = { body: { email: 'new@town.example', name: 'New', role: 'owner' } }
  for (let n = 0; n < 12; n++) {
    expect((await viewer.call('/administrators', invitation)).body.error).toBe('role_insufficient')
  }
  await viewer.call('/categories', { body: { name: 'Garden' } })
  // What the person may see is not a rejection, nor is a community that they do not run.
  await viewer.call('/administrators')
  await viewer.call('/communities/nowhere/administrators')
  const read = async () => (await owner.call('/audit?action=admin.rejected')).body.data
  await eventually(async () => (await read()).length === 3)
  const described = (await read()).map(({ actor, detail }: { actor: { id: number }; detail: object }) => ({
    by: actor.id,
    ...detail,
  }))
  const reason = 'role_insufficient'
  const call = `POST ${ADMIN_PREFIX}/communities/:slug/administrators`
  expect(described).toEqual(
    expect.arrayContaining([
      { by: viewer.id, reason, call, times: 1 },
      { by: viewer.id, reason, call, times: 10 },
      { by: viewer.id, reason, call: `POST ${ADMIN_PREFIX}/communities/:slug/categories`, times: 1 },
    ]),
  )
})

test('attack: signing in to a shared browser does not renew the attempts on another account', async () => {
  const bank = await startBank()
  const [bob, eve] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  const browser = newBrowser(bank)
  const signIn = async (email: string, password: string) =>
    (await browser.call('/session', { body: { email, password } })).status
  expect([await signIn(bob.email, PASSWORD), await signIn(eve.email, PASSWORD)]).toEqual([200, 200])
  const guesses: number[] = []
  for (let n = 0; n < ACCOUNT_MAX + PAIR_MAX; n++) {
    if (n % PAIR_MAX === 0) expect(await signIn(eve.email, PASSWORD)).toBe(200)
    guesses.push(await signIn(bob.email, 'a wrong password'))
  }
  expect(guesses.filter((status) => status === 401)).toHaveLength(ACCOUNT_MAX)
  expect(guesses.at(-1)).toBe(429)
})

test('attack: another spelling of an address has no attempts of its own', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  await bank.sql`update admins set email = 'mini@town.example' where id = ${owner.id}`
  const guess = async (email: string) => (await guessAt(bank.url, email, '192.0.2.1')).status
  const spellings = ['mini', 'MINI', 'mİni', 'minİ', 'mİnİ'].map((name) => `${name}@town.example`)
  const guesses: number[] = []
  for (let n = 0; n < PAIR_MAX + spellings.length; n++) guesses.push(await guess(spellings[n % spellings.length]!))
  expect(guesses.filter((status) => status === 401)).toHaveLength(PAIR_MAX)
})
