import { expect, test } from 'vitest'
import { changeListing, closeListing, publishListing, reopenListing } from '../src/features/listings/change-listing.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { takeIds } from './take-ids.ts'

/** More of them have one word than a search sorts. */
const LISTINGS = 7000

async function start() {
  const bank = await startBank()
  const ada = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const ben = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const publish = (member_id: number, type: 'service' | 'request', title: string, category: string, description = '') =>
    publishListing(bank.sql, TESTER, bank.communityId, {
      member_id,
      type,
      title,
      category,
      description,
      centihours: 175,
      external_id: null,
    })
  const bread = await publish(ada.id, 'service', 'Sourdough bread', 'Kitchen', 'Two loaves, still warm')
  const roof = await publish(ben.id, 'request', 'Mend a roof', 'House', 'Bread is offered meanwhile')
  const bikes = await publish(ada.id, 'service', 'Repair of bicycles', 'House')
  return { bank, token: await bank.token('listings.read'), ada, ben, bread, roof, bikes }
}

async function titles(bank: Bank, token: string, query: string): Promise<string[]> {
  const { body } = await bank.call(`/listings${query}`, { token })
  return body.data.map(({ title }: { title: string }) => title)
}

test('a listing has exactly the fields of the contract', async () => {
  const { bank, token, ada, bread } = await start()
  const { body } = await bank.call(`/listings/${bread.id}`, { token })
  expect(body.data).toEqual({
    id: bread.id,
    type: 'service',
    title: 'Sourdough bread',
    description: 'Two loaves, still warm',
    category: 'Kitchen',
    hours: 1.75,
    user_id: ada.id,
    status: 'active',
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  })
})

test('listings are filtered by type, category, member and words, alone and together', async () => {
  const { bank, token, ada } = await start()
  expect(await titles(bank, token, '?type=request')).toEqual(['Mend a roof'])
  expect(await titles(bank, token, '?category=House')).toEqual(['Mend a roof', 'Repair of bicycles'])
  expect(await titles(bank, token, `?user_id=${ada.id}`)).toEqual(['Sourdough bread', 'Repair of bicycles'])
  expect(await titles(bank, token, '?q=bread')).toEqual(['Sourdough bread', 'Mend a roof'])
  expect(await titles(bank, token, '?q=bread%20-roof')).toEqual(['Sourdough bread'])
  expect(await titles(bank, token, '?q=bread&type=request&category=House')).toEqual(['Mend a roof'])
  expect(await titles(bank, token, `?q=${encodeURIComponent(`'; drop table listings; -- & | ! ( "`)}`)).toEqual([])
  expect((await bank.call('/listings?type=gift', { token })).body.errors).toMatchObject([{ field: 'type' }])
  expect((await bank.call('/listings?user_id=abc', { token })).body.errors).toMatchObject([{ field: 'user_id' }])
})

test('a search finds the same listings in the same order, be the word in all of them, in few, or in many far behind', async () => {
  const bank = await startBank()
  const token = await bank.token('listings.read')
  const ada = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await bank.sql`insert into categories (community_id, name) values (${bank.communityId}, 'Home')`
  const firstId = await takeIds(bank.sql, bank.communityId, 'listings', LISTINGS)
  await bank.sql`
    insert into listings (community_id, id, member_id, type, title, category, visible)
    select ${bank.communityId}, ${firstId}::int8 + n - 1, ${ada.id}, case when n % 3 = 0 then 'request' else 'service' end,
      'every ' || case when n % 1000 = 0 then 'rare' when n > 700 then 'behind' else 'before' end, 'Home', n % 7 > 0
    from generate_series(1, ${LISTINGS}::int4) n`
  for (const query of [
    'q=every',
    'q=rare',
    'q=behind',
    'q=behind&type=request',
    'q=rare+-behind',
    'q=none',
    'q="every+rare"',
    'q="rare+every"',
    'q=rare+-"rare+every"',
    'q=rare+or+-behind',
    'q=-behind',
    'q=-every',
  ]) {
    const filters = new URLSearchParams(query)
    const type = filters.get('type')
    const rows = await bank.sql<{ id: number }[]>`
      select id from listings where community_id = ${bank.communityId} and visible
        and search @@ websearch_to_tsquery('simple', ${filters.get('q')}) ${type ? bank.sql`and type = ${type}` : bank.sql``}
      order by id limit 150`
    const first = (await bank.call(`/listings?limit=100&${query}`, { token })).body
    const next = first.meta.next_cursor
    const second = next && (await bank.call(`/listings?limit=50&${query}&cursor=${next}`, { token })).body
    const found = [...first.data, ...(second?.data ?? [])].map(({ id }: { id: number }) => id)
    expect(found, query).toEqual(rows.map(({ id }) => id))
  }
})

test('a search stays within its community, and takes words of any kind and length', async () => {
  const { bank, token, ada } = await start()
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await addMember(bank.sql, TESTER, elsewhere, { name: 'Stranger' })
  const text = { type: 'service' as const, category: 'House', centihours: null, external_id: null }
  const longest = 'ß'.repeat(1020)
  const description = `O'Neill\\'s <b>1:bread</b> http://example.org/a'b <-> 3.5e7 ${longest} ${'字'.repeat(201)}`
  for (const [communityId, member_id] of [
    [bank.communityId, ada.id],
    [elsewhere, stranger.id],
  ] as const) {
    await publishListing(bank.sql, TESTER, communityId, { ...text, member_id, title: 'Strange', description })
    await publishListing(bank.sql, TESTER, communityId, { ...text, member_id, title: '!', description: '' })
  }
  const all = ['Sourdough bread', 'Mend a roof', 'Repair of bicycles', 'Strange', '!']
  for (const [q, expected] of [
    ["o'neill", ['Strange']],
    ['"1:bread"', ['Strange']],
    ['example.org', ['Strange']],
    ['3.5e7', ['Strange']],
    ['bread -strange', ['Sourdough bread', 'Mend a roof']],
    ['-nothing', all],
    [`-${'ß'.repeat(199)}`, all],
    ['字'.repeat(200), []],
    ['', []],
  ] as const) {
    expect(await titles(bank, token, `?q=${encodeURIComponent(q)}`), q).toEqual(expected)
  }
})

test('closing, reopening and changing a listing shows at once, and in the removals', async () => {
  const { bank, token, bread } = await start()
  const removals = async () => (await bank.call('/removals', { token })).body.data
  await changeListing(bank.sql, TESTER, bank.communityId, bread.id, { title: 'Rye bread' })
  expect((await titles(bank, token, ''))[0]).toBe('Rye bread')
  expect(await titles(bank, token, '?q=rye')).toEqual(['Rye bread'])
  await closeListing(bank.sql, TESTER, bank.communityId, bread.id)
  expect(await titles(bank, token, '')).not.toContain('Rye bread')
  expect(await removals()).toMatchObject([{ type: 'listing', id: bread.id }])
  await reopenListing(bank.sql, TESTER, bank.communityId, bread.id)
  expect(await titles(bank, token, '')).toContain('Rye bread')
  expect(await removals()).toEqual([])
})
