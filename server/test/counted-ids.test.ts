import { expect, onTestFinished, test } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, hideMember } from '../src/features/members/change-member.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { connect } from '../src/postgres/connect.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { newEmptyDatabase } from './database.ts'

const LISTING = { type: 'service', title: 'Bread', description: '', category: 'Kitchen', centihours: 100 } as const

async function addMembers(bank: Bank, count: number, communityId = bank.communityId): Promise<number[]> {
  const ids: number[] = []
  for (let n = 0; n < count; n++) ids.push((await addMember(bank.sql, TESTER, communityId, { name: `Member ${n}` })).id)
  return ids
}

async function walletVersions(bank: Bank, memberId: number): Promise<number[]> {
  const rows = await bank.sql<{ version: number }[]>`
    select (data ->> 'version')::int8 as version from events
    where member_id = ${memberId} and type like 'wallet.%' order by id`
  return rows.map(({ version }) => version)
}

test("a wallet's version counts the changes of that wallet, whatever moves its hours", async () => {
  const bank = await startBank()
  const token = await bank.token()
  const [ada, ben, cleo] = (await addMembers(bank, 3)) as [number, number, number]
  const credit = (user_id: number, reference: string) =>
    bank.call('/wallet/credit', { token, body: { user_id, hours: 1, reference } })
  await Promise.all(Array.from({ length: 20 }, (_, n) => credit(n % 2 ? ada : ben, `tx-${n}`)))
  await recordExchanges(bank.sql, TESTER, bank.communityId, [
    { giverId: ada, receiverId: cleo, centihours: 100 },
    { giverId: ada, receiverId: ben, centihours: 50 },
  ])
  await bank.call('/wallet/credits/reverse', { token, body: { reference: 'tx-1', reversal_reference: 'back' } })
  expect(await walletVersions(bank, ada)).toEqual(Array.from({ length: 13 }, (_, n) => n + 1))
  expect(await walletVersions(bank, ben)).toEqual(Array.from({ length: 11 }, (_, n) => n + 1))
  expect(await walletVersions(bank, cleo)).toEqual([1])
  // The newest version has the balance of today.
  const rows = await bank.sql`
    select a.balance = (e.data ->> 'balance_centihours')::int8 as same from accounts a
    join events e on e.community_id = a.community_id and e.member_id = a.member_id
      and (e.data ->> 'version')::int8 = a.version and e.type like 'wallet.%'`
  expect(rows).toEqual([{ same: true }, { same: true }, { same: true }])
})

test('neither the version nor the balance of a hidden member is in events about own credits', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const [ada, ben] = (await addMembers(bank, 2)) as [number, number]
  for (const reference of ['a', 'b']) {
    await bank.call('/wallet/credit', { token, body: { user_id: ada, hours: 1, reference } })
  }
  await hideMember(bank.sql, TESTER, bank.communityId, ada)
  await bank.call('/wallet/credits/reverse', { token, body: { reference: 'a', reversal_reference: 'back-a' } })
  await recordExchanges(bank.sql, TESTER, bank.communityId, [{ giverId: ada, receiverId: ben, centihours: 100 }])
  await bank.call('/wallet/credits/reverse', { token, body: { reference: 'b', reversal_reference: 'back-b' } })
  await expect
    .poll(async () => {
      const { body } = await bank.call('/events', { token })
      return body.data.filter(({ type }: { type: string }) => type === 'wallet.reversed').map((one: any) => one.data)
    })
    .toEqual(
      ['a', 'b'].map((reference, n) => ({
        user_id: ada,
        transaction_id: n + 1,
        hours: 1,
        reference,
        reversal_reference: `back-${reference}`,
      })),
    )
})

test('a transaction_id counts within the partner, under concurrency too', async () => {
  const bank = await startBank()
  const [ada, ben] = (await addMembers(bank, 2)) as [number, number]
  const partners = [bank.partner, await bank.addPartner(), await bank.addPartner()]
  const tokens = await Promise.all(partners.map((partner) => bank.token(undefined, partner)))
  const made = await Promise.all(
    Array.from({ length: 90 }, async (_, n) => {
      const body = { user_id: n % 2 ? ada : ben, hours: 0.5, reference: `tx-${n}` }
      const answer = await bank.call('/wallet/credit', { token: tokens[n % 3]!, body })
      expect(answer.status).toBe(201)
      return { partner: n % 3, id: answer.body.data.transaction_id as number, reference: body.reference }
    }),
  )
  for (const [partner, token] of tokens.entries()) {
    const own = made.filter((one) => one.partner === partner).toSorted((a, b) => a.id - b.id)
    expect(own.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1))
    const { body } = await bank.call('/wallet/credits?limit=100', { token })
    const listed = body.data.map(({ transaction_id, reference }: any) => [transaction_id, reference])
    expect(listed).toEqual(own.map(({ id, reference }) => [id, reference]))
    const { reference } = own[4]!
    const reversal = { reference, reversal_reference: 'back-5' }
    const reversed = await bank.call('/wallet/credits/reverse', { token, body: reversal })
    expect(reversed).toMatchObject({ status: 201, body: { data: { credit: { transaction_id: 5, reference } } } })
  }
  expect(await bank.sql`select last_id from id_counters where counted = 'credits'`).toEqual(
    partners.map(() => ({ last_id: 30 })),
  )
})

test('ids of members, listings and subscriptions count within the community', async () => {
  const bank = await startBank()
  const { id: village } = await createCommunity(bank.sql, TESTER, { slug: 'village', name: 'Village' })
  const stranger = await bank.addPartner({}, village)
  const tokens = { [bank.communityId]: await bank.token(), [village]: await bank.token(undefined, stranger) }
  const add = async (communityId: number) => {
    const member = await addMember(bank.sql, TESTER, communityId, { name: 'Ada' })
    const listing = { ...LISTING, member_id: member.id, external_id: null }
    const { id: listingId } = await publishListing(bank.sql, TESTER, communityId, listing)
    const body = { event_types: ['*'], target_url: 'https://example.org/' }
    const subscription = await bank.call('/webhooks/subscriptions', { token: tokens[communityId]!, body })
    return [member.id, listingId, subscription.body.data.id]
  }
  expect(await add(village)).toEqual([1, 1, 1])
  expect(await add(bank.communityId)).toEqual([1, 1, 1])
  expect(await add(bank.communityId)).toEqual([2, 2, 2])
  expect(await add(village)).toEqual([2, 2, 2])
  // A deleted subscription's id is not issued again.
  await bank.call('/webhooks/subscriptions/2', { method: 'DELETE', token: tokens[village]! })
  expect(await add(village)).toEqual([3, 3, 3])
})

test('many members added at once get ids of their own', async () => {
  const bank = await startBank()
  const ids = await Promise.all(Array.from({ length: 30 }, () => addMembers(bank, 2)))
  expect(ids.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1))
})

/** A database of the previous version, with two communities whose ids come from shared sequences. */
async function previousVersion() {
  const sql = connect(await newEmptyDatabase(), { connectionsMax: 4, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 1000 }))
  await migrate(sql, { upTo: '0025' })
  await sql`insert into communities (slug, name) values ('a', 'A'), ('b', 'B')`
  await sql`insert into partners (community_id, name, scopes) values (1, 'Bank', '{}'), (2, 'Bank', '{}')`
  await sql`
    insert into clients (community_id, partner_id, public_id, scopes, secret_hash, secret_last_four)
    select community_id, id, 'client', '{}', '', '' from partners`
  await sql`insert into members (community_id, name) values (1, 'Ada'), (1, 'Ben'), (2, 'Cleo'), (2, 'Dan')`
  await sql`insert into accounts (community_id, kind, member_id) select community_id, 'member', id from members`
  await sql`insert into accounts (community_id, kind, partner_id) select community_id, 'partner', id from partners`
  return sql
}

/** As nodes of the previous version credit. */
const CREDIT_BEFORE = `
  with made as (
    insert into credits (community_id, partner_id, reference, client_id, transfer_id, member_id, amount)
    select $1, p.id, $3, c.id, nextval('transfers_id_seq'), $2, 100
    from partners p join clients c on c.community_id = $1 and c.partner_id = p.id where p.community_id = $1
    returning id, transfer_id
  ), posted as (
    insert into transfers (community_id, id, kind, debit_account_id, credit_account_id, amount, made_by_kind, occurred_on)
    select $1, m.transfer_id, 'credit', p.id, a.id, 100, 'client', now() from made m
    join accounts p on p.community_id = $1 and p.kind = 'partner' join accounts a on a.community_id = $1 and a.member_id = $2
  ), moved as (
    update accounts set balance = balance + 100 where community_id = $1 and member_id = $2
  )
  select id, transfer_id as version from made`

test('ids and versions that were issued stay, and nodes of the previous version continue beside the new ones', async () => {
  const sql = await previousVersion()
  const credit = async (communityId: number, memberId: number, reference: string) => {
    const text = CREDIT_BEFORE.replaceAll('$1', `${communityId}`).replaceAll('$2', `${memberId}`)
    const [row] = await sql.unsafe<{ id: number; version: number }[]>(text.replace('$3', `'${reference}'`))
    return row!
  }
  const version = async (memberId: number) => {
    const [row] = await sql<[{ version: number }]>`select version from accounts where member_id = ${memberId}`
    return row.version
  }
  await credit(1, 1, 'a')
  await credit(2, 3, 'b')
  const ada = await credit(1, 1, 'c')
  await credit(2, 4, 'd')
  await migrate(sql)

  expect([await version(1), await version(2), await version(3)]).toEqual([ada.version, 0, 2])
  expect(await sql`select id from credits where community_id = 1 order by id`).toEqual([{ id: 1 }, { id: 3 }])
  expect(await sql`select community_id, counted, last_id from id_counters order by 2, 1`).toEqual([
    { community_id: 1, counted: 'credits', last_id: 3 },
    { community_id: 2, counted: 'credits', last_id: 4 },
    { community_id: 1, counted: 'members', last_id: 2 },
    { community_id: 2, counted: 'members', last_id: 4 },
  ])
  // An old node announces the id of the transfer as version; later versions are never smaller.
  const late = await credit(1, 1, 'e')
  expect(late.id).toBe(4)
  expect(await version(1)).toBe(late.version)
  await sql`update accounts set balance = balance + 1, version = version + 1 where member_id = 1`
  expect(await version(1)).toBe(late.version + 1)
  expect(await sql`insert into members (community_id, name) values (1, 'Eve') returning id`).toEqual([{ id: 3 }])
})
