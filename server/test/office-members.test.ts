import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { findCommunity } from '../src/features/communities/queries.ts'
import type { Sql, Transaction } from '../src/postgres/connect.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'

const SECRETS = ['+43 1 234 56', 'Ringstraße 1', 'Calls on Mondays only', 'driver-of-the-bus']
const [PHONE, STREET, NOTES, TAG] = SECRETS as [string, string, string, string]
const CONTACT = { phone: ` ${PHONE}, 0664 7 `, address: `${STREET}\r\n1010 Wien`, notes: `${NOTES}\nand reads no mail` }

const add = (bank: Bank, name: string, communityId = bank.communityId) =>
  addMember(bank.sql, TESTER, communityId, { name })

async function auditOf(bank: Bank, id: number) {
  const rows = await bank.sql<{ action: string; detail: { fields?: string[] } }[]>`
    select action, detail from audit_log
    where community_id = ${bank.communityId} and subject_kind = 'member' and subject_id = ${id} order by id`
  return rows.map(({ action, detail }) => [action, ...(detail.fields ?? [])])
}

/** Everything that could tell a partner or a later reader about the person. */
async function storedText(bank: Bank): Promise<string> {
  const tables = ['events', 'audit_log', 'members', 'member_tags', 'deliveries', 'transfer_notes']
  const parts: string[] = []
  for (const table of tables) parts.push(JSON.stringify(await bank.sql.unsafe(`select * from ${table}`)))
  return parts.join('\n')
}

test('phone, address, notes and tags are for the office alone, and a change of them tells partners nothing', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const ada = await add(bank, 'Ada')
  const token = await bank.token()
  const before = (await bank.call(`/users/${ada.id}`, { token })).body
  const countEvents = async () => (await bank.sql<[{ count: number }]>`select count(*) from events`)[0].count
  const eventsBefore = await countEvents()

  const changed = await manager.call(`/members/${ada.id}`, { method: 'PATCH', body: CONTACT })
  expect(changed.body.data).toMatchObject({
    phone: `${PHONE}, 0664 7`,
    address: `${STREET}\n1010 Wien`,
    notes: `${NOTES}\nand reads no mail`,
  })
  const tag = { member_ids: [ada.id], add: [` ${TAG} `] }
  expect((await manager.call('/tags', { body: tag })).status).toBe(200)
  expect((await manager.call('/tags', { body: tag })).status).toBe(200)
  expect((await manager.call(`/members/${ada.id}`)).body.data.tags).toEqual([TAG])
  const listed = (await manager.call('/members')).body.data[0]
  expect(listed).toMatchObject({ phone: `${PHONE}, 0664 7`, tags: [TAG] })
  expect(Object.keys(listed)).not.toEqual(expect.arrayContaining(['notes']))

  expect((await bank.call(`/users/${ada.id}`, { token })).body).toEqual(before)
  expect(await countEvents()).toBe(eventsBefore)
  const partnersSee = JSON.stringify([
    (await bank.call('/users', { token })).body,
    await bank.sql`select data from events`,
  ])
  for (const secret of SECRETS) expect(partnersSee).not.toContain(secret)
  expect(await auditOf(bank, ada.id)).toEqual([
    ['member.added'],
    ['member.changed', 'phone', 'address', 'notes'],
    ['member.changed', 'tags'],
  ])

  // What partners may see is announced as before.
  await manager.call(`/members/${ada.id}`, { method: 'PATCH', body: { name: 'Ada Lang', phone: '1' } })
  expect(await countEvents()).toBe(eventsBefore + 1)

  const file = await manager.call('/members/export')
  expect(file.body).toContain(TAG)
  expect((await manager.call(`/members/${ada.id}/erase`, { method: 'POST' })).status).toBe(200)
  const left = await storedText(bank)
  for (const secret of SECRETS) expect(left).not.toContain(secret)
})

test('invalid text is reported beside its field, and changes nothing', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const manager = await addAdmin(bank, 'manager')
  const ada = await add(bank, 'Ada')
  const body = { phone: '1\n2', address: 'x'.repeat(501), notes: 'x'.repeat(5001) }
  const refused = await manager.call(`/members/${ada.id}`, { method: 'PATCH', body })
  expect(refused.status).toBe(422)
  expect(refused.body.errors.map(({ field }: { field: string }) => field)).toEqual(['phone', 'address', 'notes'])
  for (const tag of ['', 'a,b', 'a;b', 'x'.repeat(51), 'a\nb']) {
    const answer = await manager.call('/tags', { body: { member_ids: [ada.id], add: ['good', tag] } })
    expect(answer.body.errors, tag).toMatchObject([{ field: 'add' }])
  }
  expect(
    (await manager.call('/tags', { body: { member_ids: [ada.id, 999], add: ['good'] } })).body.errors,
  ).toMatchObject([{ field: 'member_ids' }])
  expect((await manager.call('/tags')).body.data).toEqual([])
  expect((await manager.call(`/members/${ada.id}`)).body.data).toMatchObject({ phone: null, notes: null, tags: [] })
})

test('tags keep the spelling they had first, are taken away, and stay within the community and the role', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const elsewhere = await bank.addCommunity('elsewhere')
  const [manager, viewer] = [await addAdmin(bank, 'manager'), await addAdmin(bank, 'viewer')]
  const other = await addAdmin(bank, 'manager', elsewhere, 'elsewhere')
  const [ada, ben, stranger] = [await add(bank, 'Ada'), await add(bank, 'Ben'), await add(bank, 'Sam', elsewhere)]
  const tag = (ids: number[], more: object) => manager.call('/tags', { body: { member_ids: ids, ...more } })

  await tag([ada.id], { add: ['Driver', 'Board'] })
  await tag([ada.id, ben.id], { add: ['driver'], remove: ['Board'] })
  expect((await manager.call('/tags')).body.data).toEqual(['Driver'])
  const tagged = (await manager.call('/members?tag=Driver&with_total=true')).body
  expect(tagged.data.map(({ name }: { name: string }) => name)).toEqual(['Ben', 'Ada'])
  expect(tagged.meta).toMatchObject({ total: 2, total_is_minimum: false })

  expect((await tag([stranger.id], { add: ['x'] })).status).toBe(422)
  expect((await other.call('/tags')).body.data).toEqual([])
  expect((await viewer.call('/tags')).status).toBe(200)
  expect((await newBrowser(bank).call('/tags')).status).toBe(401)
  expect((await viewer.call('/tags', { body: { member_ids: [ada.id], add: ['x'] } })).body.error).toBe(
    'role_insufficient',
  )
  const chosen = (await manager.call(`/members/export?ids=${ben.id},${stranger.id}`)).body.trim().split('\r\n')
  expect(chosen).toHaveLength(2)
  expect(chosen[1]).toContain('Ben')
  expect((await manager.call('/members/export?ids=1;drop')).status).toBe(422)
})

const manyTags = (letter: string, count: number) => Array.from({ length: count }, (_, n) => `${letter}${n}`)

test('a member has up to twenty tags, however many calls add them, and an export of them imports as unchanged', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const manager = await addAdmin(bank, 'manager')
  const [ada, ben] = [await add(bank, 'Ada'), await add(bank, 'Ben')]
  const tag = (ids: number[], more: object) => manager.call('/tags', { body: { member_ids: ids, ...more } })
  const tagsOf = async ({ id }: { id: number }) => (await manager.call(`/members/${id}`)).body.data.tags

  expect((await tag([ada.id], { add: manyTags('a', 15) })).status).toBe(200)
  const refused = await tag([ben.id, ada.id], { add: manyTags('b', 6) })
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'add' }] } })
  expect([await tagsOf(ada), await tagsOf(ben)]).toEqual([manyTags('a', 15).toSorted(), []])
  expect((await tag([ada.id], { add: manyTags('b', 6), remove: ['a0'] })).status).toBe(200)
  expect((await tag([ada.id], { add: ['A1', 'b0'] })).status).toBe(200)

  // The console used to add more than twenty.
  await bank.sql`
    insert into member_tags (community_id, member_id, tag)
    select ${bank.communityId}, ${ben.id}, 'c' || n from generate_series(1, 30) n`
  expect((await tag([ben.id], { add: ['c1'], remove: ['c30'] })).status).toBe(200)
  const file = (await manager.call('/members/export')).body as string
  const send = async (text: string) =>
    (await manager.call('/members/import', { headers: { 'content-type': 'text/csv' }, body: text })).body.data
  expect(await send(file)).toMatchObject({ rows: 2, unchanged: 2 })
  expect(await send(file.replace('c29', 'd29'))).toMatchObject({
    written: false,
    unchanged: 1,
    refused: 1,
    fates: [{ outcome: 'refused', reason: 'A member can have 20 tags.' }],
  })
})

test('a tag is taken away in any spelling, and of a tag with two spellings only the one that is named', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const manager = await addAdmin(bank, 'manager')
  const ada = await add(bank, 'Ada')
  const tag = async (changes: object) => {
    expect((await manager.call('/tags', { body: { member_ids: [ada.id], ...changes } })).status).toBe(200)
    return (await manager.call(`/members/${ada.id}`)).body.data.tags
  }
  await tag({ add: ['Driver', 'Board'] })
  expect(await tag({ remove: ['dRIVER'] })).toEqual(['Board'])
  // Imports used to make two tags of them.
  const twoSpellings = ['Driver', 'driver']
  const ben = await add(bank, 'Ben')
  await bank.sql`
    insert into member_tags (community_id, member_id, tag)
    select ${bank.communityId}, ${ben.id}, unnest(${twoSpellings}::text[])`
  for (const spelling of twoSpellings) {
    expect(await tag({ add: [spelling] })).toEqual(['Board', spelling])
    expect(await tag({ remove: [spelling] })).toEqual(['Board'])
  }
  expect(await tag({ add: twoSpellings })).toEqual(expect.arrayContaining(twoSpellings))
  expect(await tag({ remove: twoSpellings })).toEqual(['Board'])
  // A new tag has one.
  expect(await tag({ add: ['Baker', 'baker'] })).toEqual(['Baker', 'Board'])
})

test('a file brings contact data and tags, and says what it changes', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const community = (await findCommunity(bank.sql, 'town'))!
  const load = (text: string) =>
    importMembers(
      bank.sql,
      TESTER,
      community,
      async function* () {
        yield Buffer.from(text)
      },
      { clearEmpty: true },
    )
  const head = 'external_id,name,phone,address,notes,tags\r\n'
  await load(`${head}1,Ada,01 2,"A\r\nB",Note,"b; a"\r\n2,Ben,,,,\r\n`)
  const manager = await addAdmin(bank, 'manager')
  const [ben, ada] = (await manager.call('/members')).body.data
  expect(ada).toMatchObject({ phone: '01 2', tags: ['a', 'b'] })
  expect(ben).toMatchObject({ phone: null, tags: [] })
  expect((await manager.call(`/members/${ada.id}`)).body.data.address).toBe('A\nB')

  expect(await load(`${head}1,Ada,01 2,"A\nB",Note,"a, b"\r\n`)).toMatchObject({ unchanged: 1, changed: 0 })
  const [version] = await bank.sql`select version from members where id = ${ada.id}`
  expect(await load(`${head}1,Ada,,"A\nB",Note,c\r\n2,Ben,,,,\r\n`)).toMatchObject({ changed: 1, unchanged: 1 })
  expect((await manager.call(`/members/${ada.id}`)).body.data).toMatchObject({ phone: null, tags: ['c'] })
  expect((await auditOf(bank, ada.id)).at(-1)).toEqual(['member.changed', 'phone', 'tags'])
  expect((await bank.sql`select version from members where id = ${ada.id}`)[0]).toEqual(version)
  expect(await load(`external_id,name\r\n1,Ada\r\n`)).toMatchObject({ unchanged: 1 })
})

test('an existing member of the same name is shown before a second one is added', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const manager = await addAdmin(bank, 'manager')
  await add(bank, 'Zoë Müller')
  await add(bank, 'Zoë Müller', await bank.addCommunity('elsewhere'))
  const key = 'a-key-of-the-console-1'
  const refused = await manager.call('/members', { body: { name: ' zoe muller ', key } })
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'name', code: 'duplicate' }] } })
  const same = (await manager.call('/members?name=ZOE%20MULLER')).body.data
  expect(same).toMatchObject([{ name: 'Zoë Müller' }])
  const added = await manager.call('/members', { body: { name: 'zoe muller', confirm_duplicate: true, key } })
  expect(added.status).toBe(201)
  const again = await manager.call('/members', { body: { name: 'zoe muller', confirm_duplicate: true, key } })
  expect([again.status, again.body.data.id]).toEqual([200, added.body.data.id])
})

test('of two people who add the same name concurrently, the second is rejected as a duplicate', async () => {
  const { sql, communityId } = await startBank()
  const office = await openTransaction(sql)
  const addZoe = (on: Sql | Transaction) =>
    addMember(on, TESTER, communityId, { name: 'Zoe' }, { refuseDuplicate: true })
  await addZoe(office.tx)
  const second = addZoe(sql).catch((error: unknown) => error)
  await someoneWaits(sql)
  await office.commit()
  expect(await second).toMatchObject({ problems: [{ field: 'name', code: 'duplicate' }] })
})
