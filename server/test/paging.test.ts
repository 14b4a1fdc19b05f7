import { expect, test } from 'vitest'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { takeIds } from './take-ids.ts'

async function fill(bank: Bank, count: number): Promise<void> {
  const first = await takeIds(bank.sql, bank.communityId, 'members', count)
  await bank.sql`
    insert into members (community_id, id, name)
    select ${bank.communityId}, ${first}::int8 + n - 1, 'Member ' || n from generate_series(1, ${count}) n`
  await bank.sql`
    insert into accounts (community_id, kind, member_id) select community_id, 'member', id from members`
}

test('paging walks 10,000 members exactly once while members come and go', async () => {
  const bank = await startBank()
  await fill(bank, 10_000)
  const token = await bank.token('users.read')
  const before = (await bank.sql<{ id: number }[]>`select id from members`).map(({ id }) => id)
  const walked: number[] = []
  const left: number[] = []
  let address: string | undefined = '/users?limit=100'
  for (let page = 0; address; page++) {
    const { body, headers } = await bank.call(address, { token })
    walked.push(...body.data.map(({ id }: { id: number }) => id))
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    expect(body.meta.has_more).toBe(next !== undefined)
    address = next && new URL(next).pathname + new URL(next).search
    if (page % 10 === 0 && page < 100) {
      await addMember(bank.sql, TESTER, bank.communityId, { name: `Newcomer ${page}` })
      const leaver = before[9_999 - page]!
      left.push(leaver)
      await leave(bank.sql, TESTER, bank.communityId, leaver)
    }
  }
  expect(new Set(walked).size).toBe(walked.length)
  expect(walked).toEqual(walked.toSorted((one, other) => one - other))
  const stayed = before.filter((id) => !left.includes(id))
  expect(stayed.filter((id) => !walked.includes(id))).toEqual([])
})

test('limit is 1 to 100, 25 by default; a cursor fits one list with one set of filters, of this database', async () => {
  const bank = await startBank()
  await fill(bank, 120)
  const token = await bank.token()
  const first = await bank.call('/users', { token })
  expect(first.body.data).toHaveLength(25)
  expect(first.body.meta).toEqual({ limit: 25, has_more: true, next_cursor: expect.any(String) })
  expect((await bank.call('/users?limit=100', { token })).body.data).toHaveLength(100)
  const cursor = first.body.meta.next_cursor
  expect((await bank.call(`/users?cursor=${cursor}&limit=7`, { token })).body.data).toHaveLength(7)
  for (const path of [
    `/listings?cursor=${cursor}`,
    `/users?payment_reference=RF1&cursor=${cursor}`,
    `/users?updated_since=2020-01-01T00:00:00Z&cursor=${cursor}`,
    '/users?cursor=abc',
    '/users?cursor=',
    '/users?limit=0',
    '/users?limit=101',
    '/users?limit=ten',
    '/users?updated_since=yesterday',
    '/users?updated_since=2026-01-01T00:00:00+01:00',
  ]) {
    expect({ path, status: (await bank.call(path, { token })).status }).toEqual({ path, status: 422 })
  }
  expect((await bank.call('/users?updated_since=2026-01-01T00:00:00%2B01:00&unknown=1', { token })).status).toBe(200)
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  parts[0] = '00000000-0000-0000-0000-000000000000'
  const old = Buffer.from(JSON.stringify(parts)).toString('base64url')
  expect(await bank.call(`/users?cursor=${old}`, { token })).toMatchObject({
    status: 410,
    body: { error: 'resync_required' },
  })
})
