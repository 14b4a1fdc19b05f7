import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { takeIds } from './take-ids.ts'

/** Members whose last changes are a microsecond apart. */
const CHANGES = ['2026-01-31T12:00:00.000001Z', '2026-01-31T12:00:00.000002Z', '2026-01-31T12:00:00.000003Z']
/** The second of them, wherever on earth. */
const SECOND = [
  '2026-01-31T12:00:00.000002Z',
  '2026-01-31t12:00:00.000002z',
  '2026-02-01T04:00:00.000002+16:00',
  '2026-01-30T20:00:00.000002-16:00',
  '2026-02-01T11:59:00.000002+23:59',
  '2026-01-30T12:01:00.000002-23:59',
]

async function startWithChanges(): Promise<{ bank: Bank; token: string; ids: number[] }> {
  const bank = await startBank()
  const first = await takeIds(bank.sql, bank.communityId, 'members', CHANGES.length)
  const rows = await bank.sql<{ id: number }[]>`
    insert into members (community_id, id, name, updated_at)
    select ${bank.communityId}, ${first}::int8 + n - 1, 'Member', changed
    from unnest(${CHANGES}::timestamptz[]) with ordinality as c(changed, n) returning id`
  return { bank, token: await bank.token(), ids: rows.map(({ id }) => id) }
}

const list = async (bank: Bank, token: string, query: Record<string, string>) =>
  bank.call(`/users?${new URLSearchParams(query)}`, { token })

test('updated_since means the same instant with every offset of RFC 3339, to the microsecond', async () => {
  const { bank, token, ids } = await startWithChanges()
  for (const updated_since of SECOND) {
    const { status, body } = await list(bank, token, { updated_since })
    expect(status, updated_since).toBe(200)
    expect(
      body.data.map(({ id }: { id: number }) => id),
      updated_since,
    ).toEqual(ids.slice(1))
  }
})

test('a page is continued although the next request spells updated_since with another offset', async () => {
  const { bank, token, ids } = await startWithChanges()
  const first = await list(bank, token, { updated_since: SECOND[2]!, limit: '1' })
  const cursor = first.body.meta.next_cursor
  const second = await list(bank, token, { updated_since: SECOND[4]!, limit: '1', cursor })
  expect(second.body.data).toMatchObject([{ id: ids[2] }])
})

test('a forged cursor is accepted with any offset, and rejected with an invalid time', async () => {
  const { bank, token, ids } = await startWithChanges()
  const query = { updated_since: CHANGES[0]!, limit: '1' }
  const { next_cursor } = (await list(bank, token, query)).body.meta
  const [epoch, filters, id] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
  const withTime = (time: unknown) =>
    list(bank, token, {
      ...query,
      cursor: Buffer.from(JSON.stringify([epoch, filters, id, time])).toString('base64url'),
    })
  for (const time of SECOND) expect((await withTime(time)).body.data, time).toMatchObject([{ id: ids[1] }])
  for (const time of ['2026-01-31T12:00:00+24:00', '0001-01-01T00:00:00+23:59', 'infinity', 1, null]) {
    expect(await withTime(time), `${time}`).toMatchObject({ status: 422, body: { errors: [{ field: 'cursor' }] } })
  }
})

test('times in a body and in a CSV file have any offset as well', async () => {
  const { bank, token } = await startWithChanges()
  const target = { event_types: ['*'], target_url: 'https://bank.example.org/hook' }
  const { body } = await bank.call('/webhooks/subscriptions', { token, body: target })
  const since = '2026-01-31T12:00:00+23:59'
  const replay = await bank.call(`/webhooks/subscriptions/${body.data.id}/replay`, { token, body: { since } })
  expect(replay.status).toBe(202)

  const admin = await addAdmin(bank)
  const file = `external_id,name,joined_at\r\nK-1,Ada,${SECOND[3]}\r\n`
  const imported = await admin.call('/members/import', { body: file, headers: { 'content-type': 'text/csv' } })
  expect(imported).toMatchObject({ status: 200, body: { data: { added: 1 } } })
  const joined = await bank.sql`select 1 from members where joined_at = ${CHANGES[1]!}::timestamptz`
  expect(joined).toHaveLength(1)
})

test('integers and booleans in a query have one spelling', async () => {
  const bank = await startBank()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const [token, admin] = [await bank.token(), await addAdmin(bank)]
  for (const spelling of ['0x10', '1e1', '1E1', '%2B10', '+10', '10+', '%2010', '10.0', '1_0', '%D9%A1']) {
    expect((await bank.call(`/users?limit=${spelling}`, { token })).status, spelling).toBe(422)
    expect((await bank.call(`/listings?user_id=${spelling}`, { token })).status, spelling).toBe(422)
  }
  for (const spelling of ['1', '0', 'TRUE', 'yes', '+true', '']) {
    expect((await admin.call(`/members?hidden=${spelling}`)).status, spelling).toBe(422)
  }
  expect((await bank.call(`/wallet/credits?limit=10&user_id=${id}`, { token })).status).toBe(200)
  expect((await admin.call('/members?hidden=false')).body.data).toHaveLength(1)
})
