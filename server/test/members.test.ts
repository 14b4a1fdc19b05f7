import { expect, test } from 'vitest'
import {
  addMember,
  changeMember,
  hideMember,
  leave,
  returnMember,
  showMember,
} from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { findMembers } from '../src/features/members/queries.ts'
import { closeListing, publishListing } from '../src/features/listings/change-listing.ts'
import { findBalances } from '../src/features/wallet/queries.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

const add = (bank: Bank, name: string, email?: string) =>
  addMember(bank.sql, TESTER, bank.communityId, { name, ...(email && { email }) })

const offer = (bank: Bank, member_id: number, title = 'Bread') =>
  publishListing(bank.sql, TESTER, bank.communityId, {
    member_id,
    type: 'service',
    title,
    description: 'Fresh from the oven',
    category: 'Kitchen',
    centihours: 150,
    external_id: null,
  })

async function seen(bank: Bank, path: string, token: string): Promise<number[]> {
  const { body } = await bank.call(path, { token })
  return body.data.map(({ id }: { id: number }) => id)
}

test('a member has exactly the fields of the contract, with email only for users.pii, in lists and alone', async () => {
  const bank = await startBank()
  const member = await add(bank, 'Ada 🌻', 'ada@example.org')
  const [plain, pii] = [await bank.token('users.read'), await bank.token('users.read users.pii')]
  const fields = ['id', 'joined_at', 'name', 'payment_reference', 'status', 'updated_at']
  for (const path of ['/users', `/users/${member.id}`]) {
    const without = [(await bank.call(path, { token: plain })).body.data].flat()[0]
    expect(Object.keys(without).toSorted()).toEqual(fields)
    const withEmail = [(await bank.call(path, { token: pii })).body.data].flat()[0]
    expect(Object.keys(withEmail).toSorted()).toEqual(['email', ...fields])
    expect(withEmail).toMatchObject({ id: member.id, name: 'Ada 🌻', email: 'ada@example.org', status: 'active' })
  }
})

test('a list and a single answer write a member the same way, whatever the name and the times', async () => {
  const bank = await startBank()
  const names = ['"quoted" \\ and\u2028so', 'Ada 🌻 \u202eלילה', '</script>&amp;', 'é\u0301', '{"id":1},']
  for (const [index, name] of names.entries())
    await add(bank, name, index % 2 === 0 ? `m${index}@example.org` : undefined)
  await bank.sql`update members set joined_at = '2024-02-29T00:00:00.5Z', updated_at = '2024-03-01T00:00:00Z' where name like 'Ada%'`
  for (const scope of ['users.read', 'users.read users.pii']) {
    const token = await bank.token(scope)
    for (const path of ['/users', '/users?updated_since=2020-01-01T00:00:00Z']) {
      const { body } = await bank.call(path, { token })
      expect(body.data.map(({ name }: { name: string }) => name).toSorted()).toEqual(names.toSorted())
      for (const listed of body.data) {
        const alone = await bank.call(`/users/${listed.id}`, { token })
        expect(JSON.stringify(listed)).toBe(JSON.stringify(alone.body.data))
      }
    }
  }
})

test('the audit log names whose email a call reads before the call is answered', async () => {
  const bank = await startBank()
  const members = [await add(bank, 'Ada', 'ada@example.org'), await add(bank, 'Ben', 'ben@example.org')]
  const ids = members.map(({ id }) => id)
  const token = await bank.token('users.read users.pii')
  const answers = [await bank.call('/users', { token }), await bank.call(`/users/${ids[1]}`, { token })]
  const reads = await bank.sql`
    select actor_name, member_ids, detail from audit_log where action = 'members.email_read' order by id`
  expect(reads.map(({ actor_name, member_ids, detail }) => ({ actor_name, member_ids, detail }))).toEqual([
    {
      actor_name: bank.partner.clientId,
      member_ids: ids,
      detail: { request_id: answers[0]!.headers.get('request-id') },
    },
    {
      actor_name: bank.partner.clientId,
      member_ids: [ids[1]],
      detail: { request_id: answers[1]!.headers.get('request-id') },
    },
  ])
  await bank.call('/users', { token: await bank.token('users.read') })
  const [count] = await bank.sql`select count(*)::int from audit_log where action = 'members.email_read'`
  expect(count).toEqual({ count: 2 })
})

test('an email address that could not be audited is not given out', async () => {
  const bank = await startBank()
  await add(bank, 'Ada', 'ada@example.org')
  const token = await bank.token('users.read users.pii')
  await bank.sql`alter table audit_log rename to audit_log_away`
  const { status, body } = await bank.call('/users', { token })
  expect({ status, text: JSON.stringify(body).includes('ada@') }).toEqual({ status: 500, text: false })
})

test('members are found by their payment reference, whose check digits are right', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const [ada, ben] = [await add(bank, 'Ada'), await add(bank, 'Ben')]
  const { body } = await bank.call(`/users/${ada.id}`, { token })
  const reference: string = body.data.payment_reference
  expect(reference).toMatch(/^RF\d{2}\d{12,21}$/)
  const rearranged = `${reference.slice(4)}2715${reference.slice(2, 4)}`
  expect(BigInt(rearranged) % 97n).toBe(1n)
  expect(await seen(bank, `/users?payment_reference=${reference}`, token)).toEqual([ada.id])
  expect(await seen(bank, '/users?payment_reference=RF00', token)).toEqual([])
  expect(ben.id).not.toBe(ada.id)
})

test('a member who is hidden or has left cannot be found until they return', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const [ada, ben] = [await add(bank, 'Ada'), await add(bank, 'Ben')]
  const absent = async (change: typeof hideMember, back: typeof showMember) => {
    await change(bank.sql, TESTER, bank.communityId, ada.id)
    expect(await seen(bank, '/users', token)).toEqual([ben.id])
    for (const path of [`/users/${ada.id}`, `/wallet/balance/${ada.id}`]) {
      expect(await bank.call(path, { token })).toMatchObject({ status: 404, body: { error: 'user_not_found' } })
    }
    // Calls that arrive together share a statement.
    const both = [ada.id, ben.id]
    const members = await findMembers(bank.sql, bank.communityId, both, { withEmail: false })
    const balances = await findBalances(bank.sql, bank.communityId, both)
    expect([members.map(({ id }) => id), balances.map(({ member_id }) => member_id)]).toEqual([[ben.id], [ben.id]])
    expect((await bank.call('/removals', { token })).body.data).toMatchObject([{ type: 'user', id: ada.id }])
    await back(bank.sql, TESTER, bank.communityId, ada.id)
    expect(await seen(bank, '/users', token)).toEqual([ada.id, ben.id])
    expect((await bank.call('/removals', { token })).body.data).toEqual([])
  }
  await absent(hideMember, showMember)
  await absent(leave, returnMember)
})

test("leaving closes the member's listings, each with its event; returning reopens just those", async () => {
  const bank = await startBank()
  const token = await bank.token()
  const ada = await add(bank, 'Ada')
  const [bread, closed, jam] = [
    await offer(bank, ada.id),
    await offer(bank, ada.id, 'Old'),
    await offer(bank, ada.id, 'Jam'),
  ]
  await closeListing(bank.sql, TESTER, bank.communityId, closed.id)
  await leave(bank.sql, TESTER, bank.communityId, ada.id)
  expect(await seen(bank, '/listings', token)).toEqual([])
  expect((await bank.call(`/listings/${bread.id}`, { token })).body.error).toBe('listing_not_found')
  const removed = (await bank.call('/removals?type=listing', { token })).body.data.map(({ id }: { id: number }) => id)
  expect(removed.toSorted()).toEqual([bread.id, closed.id, jam.id].toSorted())
  await returnMember(bank.sql, TESTER, bank.communityId, ada.id)
  expect(await seen(bank, '/listings', token)).toEqual([bread.id, jam.id])
  const events =
    await bank.sql`select type, listing_id, (data ->> 'version')::int as version from events where listing_id is not null order by id`
  expect(events.map(({ type, listing_id, version }) => `${type} ${listing_id} ${version}`)).toEqual([
    ...[bread, closed, jam].map(({ id }) => `listing.published ${id} 1`),
    `listing.closed ${closed.id} 2`,
    ...[bread, jam].map(({ id }) => `listing.closed ${id} 2`),
    ...[bread, jam].map(({ id }) => `listing.published ${id} 3`),
  ])
})

test('listings of a hidden member cannot be seen, and come back with their member', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const ada = await add(bank, 'Ada')
  const bread = await offer(bank, ada.id)
  await hideMember(bank.sql, TESTER, bank.communityId, ada.id)
  expect(await seen(bank, '/listings', token)).toEqual([])
  expect(await seen(bank, `/listings?user_id=${ada.id}`, token)).toEqual([])
  await offer(bank, ada.id, 'Made while hidden')
  expect(await seen(bank, '/listings', token)).toEqual([])
  await showMember(bank.sql, TESTER, bank.communityId, ada.id)
  expect((await seen(bank, '/listings', token))[0]).toBe(bread.id)
  expect(await seen(bank, '/listings', token)).toHaveLength(2)
})

test('erasing blanks the person everywhere and keeps the transfers', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const ada = await add(bank, 'Adelheid Unmistakable', 'adelheid@example.org')
  await changeMember(bank.sql, TESTER, bank.communityId, ada.id, { external_id: 'card-Unmistakable' })
  await offer(bank, ada.id, 'Unmistakable bread')
  const order = { user_id: ada.id, hours: 2, reference: 'tx-1', note: 'For Unmistakable' }
  await bank.call('/wallet/credit', { token, body: order })
  await bank.call('/wallet/credit', { token, body: { ...order, reference: 'tx-2' } })
  const reversal = { reference: 'tx-2', reversal_reference: 'back-2', reason: 'Returned by Unmistakable' }
  expect((await bank.call('/wallet/credits/reverse', { token, body: reversal })).status).toBe(201)
  await eraseMember(bank.sql, TESTER, bank.communityId, ada.id)
  const tables = await bank.sql`
    select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and not relispartition`
  for (const { relname } of tables) {
    const rows = await bank.sql.unsafe(`select t::text as text from ${relname} t`)
    for (const { text } of rows) expect(text.toLowerCase()).not.toMatch(/unmistakable|adelheid/)
  }
  expect((await bank.call('/wallet/credit', { token, body: order })).body.data).toMatchObject({
    hours: 2,
    note: null,
    replayed: true,
  })
  const events = await bank.sql`select type from events where member_id = ${ada.id} order by id`
  expect(events.at(-1)).toEqual({ type: 'user.erased' })
  expect(await bank.sql`select member_id from erasures`).toHaveLength(1)
  await expect(returnMember(bank.sql, TESTER, bank.communityId, ada.id)).rejects.toThrow('There is no member')
})

test('erasing forgets the digests of what was entered about the person, which would confirm a guess', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const ben = await add(bank, 'Ben')
  const enter = async (key: string, path: string, body: object) =>
    (await manager.call(path, { body: { ...body, key: `${key}-of-the-console` } })).body.data
  const listing = { type: 'service', title: 'Bread', category: 'Kitchen' }
  const adjustment = { hours: 1, reason: 'Moved to Graz' }
  const { id } = await enter('a-member', '/members', { name: 'Cleo', phone: '+43 1 555' })
  await enter('a-listing', '/listings', { ...listing, member_id: id })
  await enter('bens-listing', '/listings', { ...listing, member_id: ben.id })
  const slip = { giver_id: ben.id, receiver_id: id, hours: 1, occurred_on: '2026-01-05' }
  await enter('an-exchange', '/exchanges', { slips: [slip] })
  const adjusted = await enter('an-adjustment', '/adjustments', { ...adjustment, member_id: id })
  await enter('bens-adjustment', '/adjustments', { ...adjustment, member_id: ben.id })
  await eraseMember(bank.sql, TESTER, bank.communityId, id)
  const forgotten = await bank.sql`
    select key from admin_requests where digest = '' and not starts_with(key, 'bens') order by key`
  expect(forgotten).toHaveLength(4)
  const kept = await bank.sql`select key from admin_requests where digest <> ''`
  expect(kept).toContainEqual({ key: 'bens-adjustment-of-the-console' })
  // What is sent again is still not done twice.
  const again = await enter('an-adjustment', '/adjustments', { ...adjustment, member_id: id })
  expect(again).toEqual({ ...adjusted, replayed: true })
})

test('every endpoint rejects missing tokens, missing scopes and ids of other communities', async () => {
  const bank = await startBank()
  const village = await bank.addCommunity('village')
  const eve = await addMember(bank.sql, TESTER, village, { name: 'Eve' })
  const listing = await publishListing(bank.sql, TESTER, village, {
    member_id: eve.id,
    type: 'request',
    title: 'Help',
    description: '',
    category: 'Garden',
    centihours: null,
    external_id: null,
  })
  const endpoints: [method: string, path: string, scope: string, body?: object][] = [
    ['GET', '/users', 'users.read'],
    ['GET', `/users/${eve.id}`, 'users.read'],
    ['GET', '/listings', 'listings.read'],
    ['GET', `/listings/${listing.id}`, 'listings.read'],
    ['GET', '/removals?type=user', 'users.read'],
    ['GET', '/removals?type=listing', 'listings.read'],
    ['GET', `/wallet/balance/${eve.id}`, 'wallet.read'],
    ['GET', '/wallet/credits', 'wallet.read'],
    ['POST', '/wallet/credit', 'wallet.write', { user_id: eve.id, hours: 1, reference: 'x' }],
    ['POST', '/wallet/credits/reverse', 'wallet.write', { reference: 'x', reversal_reference: 'y' }],
  ]
  const lesser = await bank.token('aggregates.read')
  const full = await bank.token()
  for (const [method, path, scope, body] of endpoints) {
    const call = (token?: string) => bank.call(path, { method, token, ...(body && { body }) })
    expect({ path, ...(await call()) }).toMatchObject({ path, status: 401, body: { error: 'authentication_required' } })
    const refused = await call(lesser)
    expect({ path, ...refused }).toMatchObject({ path, status: 403, body: { error: 'insufficient_scope' } })
    expect(refused.headers.get('www-authenticate')).toContain(scope)
    const answer = await call(full)
    const isList = !/\d$/.test(path) && method === 'GET'
    expect({ path, status: answer.status }).toEqual({ path, status: isList ? 200 : 404 })
    if (isList) expect(answer.body.data).toEqual([])
  }
  for (const id of ['0', '-1', 'abc', '1.5', '1e3', '9007199254740993', '99999999999999999999', '%00', '١']) {
    expect((await bank.call(`/users/${id}`, { token: full })).body.error).toBe('user_not_found')
    expect((await bank.call(`/wallet/balance/${id}`, { token: full })).body.error).toBe('user_not_found')
    expect((await bank.call(`/listings/${id}`, { token: full })).body.error).toBe('listing_not_found')
  }
})

test('when a member left stays known through later changes, until they return', async () => {
  const bank = await startBank()
  const ada = await add(bank, 'Ada')
  const leftAt = async () => (await bank.sql`select left_at from members where id = ${ada.id}`)[0]!.left_at
  await leave(bank.sql, TESTER, bank.communityId, ada.id)
  const before = await leftAt()
  expect(before).toEqual(expect.any(String))
  await changeMember(bank.sql, TESTER, bank.communityId, ada.id, { name: 'Ada L.' })
  expect(await leftAt()).toBe(before)
  await returnMember(bank.sql, TESTER, bank.communityId, ada.id)
  expect(await leftAt()).toBeNull()
})
