import { expect, test } from 'vitest'
import { prune } from '../src/postgres/prune.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank, TESTER } from './bank.ts'

const DAY = '2026-01-05'
const KEY = 'a-key-of-the-console-1'

async function start() {
  const bank = await startBank({ config: { role: 'api' } })
  const ids: number[] = []
  for (const name of ['Ada', 'Ben', 'Cleo'])
    ids.push((await addMember(bank.sql, TESTER, bank.communityId, { name })).id)
  const [ada, ben, cleo] = ids as [number, number, number]
  const manager = await addAdmin(bank, 'manager')
  const slip = (more: object = {}) => ({ giver_id: ada, receiver_id: ben, hours: 1, occurred_on: DAY, ...more })
  const record = (slips: object[], more: object = {}) => manager.call('/exchanges', { body: { slips, ...more } })
  const count = async () => (await bank.sql<[{ count: number }]>`select count(*) from transfers`)[0].count
  const audit = async (action: string) => (await manager.call(`/audit?action=${action}`)).body.data
  return { bank, ada, ben, cleo, manager, slip, record, count, audit }
}

test('ten slips at once are recorded together, each in the audit log under the name of the person who did it', async () => {
  const { manager, ada, slip, record, audit } = await start()
  const answer = await record(
    Array.from({ length: 10 }, (_, n) => slip({ hours: (n + 1) / 20, note: ` Slip ${n + 1} ` })),
  )
  expect(answer.status).toBe(201)
  expect(answer.body.data.transfer_ids).toHaveLength(10)
  const { data, meta } = (await manager.call(`/transfers?member_id=${ada}&limit=4`)).body
  expect(data).toHaveLength(4)
  expect(data[0]).toMatchObject({
    kind: 'exchange',
    hours: 0.5,
    occurred_on: DAY,
    from: { kind: 'member', name: 'Ben' },
    to: { kind: 'member', id: ada, name: 'Ada' },
    note: 'Slip 10',
    made_by: { kind: 'admin', name: 'The manager' },
    reversal: null,
  })
  const next = (await manager.call(`/transfers?member_id=${ada}&limit=4&cursor=${meta.next_cursor}`)).body.data
  expect(next[0].id).toBe(data[3].id - 1)
  const entries = await audit('exchange.recorded')
  expect(entries).toHaveLength(10)
  expect(entries[0]).toMatchObject({ actor: { kind: 'admin', name: 'The manager' }, subject: { kind: 'transfer' } })
})

test('a slip that looks entered twice is refused with its number, until somebody says that it is meant', async () => {
  const { manager, ben, slip, record, count } = await start()
  const first = await record([slip()])
  const duplicate = { code: 'duplicate', field: 'slips.2' }

  const among = await record([slip({ hours: 0.5 }), slip({ hours: 2 }), slip({ hours: 0.5 })])
  expect([among.status, among.body.error]).toEqual([422, 'validation_failed'])
  expect(among.body.errors).toMatchObject([{ ...duplicate, message: 'This is the same exchange as slip 1.' }])
  const stored = await record([slip({ hours: 3 }), slip({ hours: 4 }), slip()])
  const [id] = first.body.data.transfer_ids
  expect(stored.body.errors).toMatchObject([
    { ...duplicate, message: `The same exchange is recorded already, as number ${id}.` },
  ])
  expect(await count()).toBe(1)

  // The other way round, on another day or of other hours it is another exchange.
  const { giver_id, receiver_id } = slip()
  const others = [
    slip({ giver_id: receiver_id, receiver_id: giver_id }),
    slip({ occurred_on: '2026-01-06' }),
    slip({ hours: 1.01 }),
  ]
  expect((await record(others)).status).toBe(201)
  expect((await record([slip()], { confirm_duplicates: true })).status).toBe(201)
  // A reversed exchange may be recorded again.
  for (const { id: same } of (await manager.call(`/transfers?member_id=${ben}`)).body.data) {
    await manager.call(`/transfers/${same}/reverse`, { body: { reason: 'recorded again' } })
  }
  expect((await record([slip()])).status).toBe(201)
})

test('every problem of every slip is named beside its field, and nothing is recorded', async () => {
  const { ada, cleo, slip, record, count } = await start()
  const bad = await record([
    slip(),
    slip({ receiver_id: ada }),
    slip({ giver_id: 999, hours: 0 }),
    slip({ hours: 950, receiver_id: cleo, listing_id: 77, occurred_on: '2999-01-01' }),
    slip({ note: 'x'.repeat(501) }),
  ])
  expect(bad.status).toBe(422)
  expect(bad.body.errors.map(({ field }: { field: string }) => field)).toEqual([
    'slips.1.receiver_id',
    'slips.2.giver_id',
    'slips.2.hours',
    'slips.3.listing_id',
    'slips.3.occurred_on',
    'slips.3.hours',
    'slips.4.note',
  ])
  expect((await record([slip({ hours: 1.005 })])).body.errors).toMatchObject([{ field: 'slips.0.hours' }])
  expect((await record([slip({ hours: '1' })])).body.errors).toMatchObject([{ field: 'slips.0.hours' }])
  expect((await record([slip({ occurred_on: '2026-02-30' })])).body.errors).toMatchObject([
    { field: 'slips.0.occurred_on' },
  ])
  expect((await record([])).status).toBe(422)
  expect(await count()).toBe(0)
})

test('a request repeated with its key after a lost response is recorded once, even if repeated concurrently', async () => {
  const { bank, ada, manager, slip, record, count } = await start()
  const answers = await Promise.all(Array.from({ length: 8 }, () => record([slip()], { key: KEY })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
  expect(new Set(answers.map(({ body }) => body.data.transfer_ids[0])).size).toBe(1)
  expect(await count()).toBe(1)

  expect((await record([slip({ hours: 5 })], { key: KEY })).body.error).toBe('refused')
  const gift = { member_id: ada, hours: 2, reason: 'A gift' }
  expect((await manager.call('/adjustments', { body: { ...gift, key: KEY } })).body.error).toBe('refused')
  const other = await addAdmin(bank, 'manager')
  expect((await other.call('/exchanges', { body: { slips: [slip()], key: KEY } })).body.error).toBe('refused')

  // A refusal leaves the key free for the corrected form.
  const key = 'a-key-of-the-console-2'
  expect((await record([slip({ hours: 0 })], { key })).status).toBe(422)
  expect((await record([slip({ hours: 2 })], { key })).status).toBe(201)
  const adjust = () => manager.call('/adjustments', { body: { ...gift, key: 'a-key-of-the-console-3' } })
  expect([(await adjust()).status, (await adjust()).status]).toEqual([201, 200])
  expect(await count()).toBe(3)

  await prune(bank.sql, { callLogDays: 90, now: new Date(Date.now() + 8 * 24 * 60 * 60 * 1000) })
  expect((await bank.sql`select from admin_requests`).length).toBe(0)
})

test('an adjustment needs hours, a member and a reason', async () => {
  const { ada, manager, count, audit } = await start()
  const adjust = (more: object) =>
    manager.call('/adjustments', { body: { member_id: ada, hours: -2.5, reason: 'Lost', ...more } })
  for (const [more, field] of [
    [{ hours: 0 }, 'hours'],
    [{ hours: 0.001 }, 'hours'],
    [{ member_id: 999 }, 'member_id'],
    [{ reason: ' ' }, 'reason'],
    [{ reason: 'x'.repeat(501) }, 'reason'],
  ] as const) {
    const refused = await adjust(more)
    expect([refused.status, refused.body.errors[0].field]).toEqual([422, field])
  }
  expect(await count()).toBe(0)
  expect((await adjust({})).status).toBe(201)
  expect((await manager.call('/transfers?kind=adjustment')).body.data).toMatchObject([
    { hours: 2.5, from: { kind: 'member', id: ada }, to: { kind: 'community', name: 'Town' }, note: 'Lost' },
  ])
  expect(await audit('balance.adjusted')).toMatchObject([{ detail: { member_id: ada, centihours: -250 } }])
})

test('a transfer and its reversal are one record, with the reason; there is no second', async () => {
  const { bank, manager, slip, record, audit } = await start()
  const [id] = (await record([slip()])).body.data.transfer_ids
  const reverse = (body: object, of: number | string = id) => manager.call(`/transfers/${of}/reverse`, { body })
  expect((await reverse({ reason: '' })).body.errors).toMatchObject([{ field: 'reason' }])
  const reversed = await reverse({ reason: 'Never happened' })
  expect(reversed.status).toBe(201)
  expect(reversed.body.data).toMatchObject({
    id,
    hours: 1,
    reversal: { reason: 'Never happened', made_by: { kind: 'admin', name: 'The manager' } },
  })
  expect(reversed.body.data.reversal.created_at).toMatch(/Z$/)
  expect((await manager.call('/transfers')).body.data).toEqual([reversed.body.data])
  expect((await manager.call('/transfers?status=standing')).body.data).toEqual([])
  expect((await manager.call('/transfers?status=reversed')).body.data).toHaveLength(1)
  expect((await reverse({ reason: 'again' })).body).toMatchObject({ error: 'refused' })
  expect((await reverse({ reason: 'x' }, reversed.body.data.reversal.id)).status).toBe(404)
  for (const unknown of [999_999, 'x', '9007199254740993']) {
    expect((await reverse({ reason: 'x' }, unknown)).body.error).toBe('not_found')
  }
  expect(await audit('transfer.reversed')).toMatchObject([{ subject: { kind: 'transfer', id } }])
  const [sum] = await bank.sql<[{ sum: number }]>`select sum(balance)::int8 as sum from accounts`
  expect(sum.sum).toBe(0)
})

test("a partner's credit shows its reference, and days narrow the list", async () => {
  const { bank, ada, manager, slip, record } = await start()
  const token = await bank.token('wallet.write')
  await bank.call('/wallet/credit', {
    token,
    body: { user_id: ada, hours: 3, reference: 'tx-1', settled_on: '2026-01-03' },
  })
  await record([slip(), slip({ occurred_on: '2026-01-07' })])
  expect((await manager.call('/transfers?kind=credit')).body.data).toMatchObject([
    { hours: 3, reference: 'tx-1', from: { kind: 'partner', name: 'Bank' }, occurred_on: '2026-01-03' },
  ])
  const days = async (query: string) =>
    (await manager.call(`/transfers?${query}`)).body.data.map((row: { occurred_on: string }) => row.occurred_on)
  expect(await days('from=2026-01-04')).toEqual(['2026-01-07', DAY])
  expect(await days('from=2026-01-03&until=2026-01-05')).toEqual([DAY, '2026-01-03'])
  expect((await manager.call('/transfers?from=yesterday')).status).toBe(422)
})

test('the whole ledger is downloaded as CSV, and the audit log says so', async () => {
  const { manager, slip, record, audit } = await start()
  await record([slip({ note: '=1+1' })])
  const file = await manager.call('/transfers/export')
  expect(file.status).toBe(200)
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="town-transfers.csv"')
  const lines = file.body.split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toContain("'=1+1")
  expect(await audit('transfers.exported')).toHaveLength(1)
})

test('nobody records, adjusts or reverses without the role, or in another community', async () => {
  const { bank, ada, manager, slip, record, count } = await start()
  const [id] = (await record([slip()])).body.data.transfer_ids
  const viewer = await addAdmin(bank, 'viewer')
  const elsewhere = await bank.addCommunity('elsewhere')
  const stranger = await addAdmin(bank, 'owner', elsewhere, 'elsewhere')
  const changes: [string, object][] = [
    ['/exchanges', { slips: [slip({ hours: 2 })] }],
    ['/adjustments', { member_id: ada, hours: 1, reason: 'x' }],
    [`/transfers/${id}/reverse`, { reason: 'x' }],
  ]
  for (const [path, body] of changes) {
    expect((await viewer.call(path, { body })).body.error).toBe('role_insufficient')
    expect((await newBrowser(bank).call(path, { body })).body.error).toBe('sign_in_required')
    expect((await stranger.call(`/communities/town${path}`, { body })).body.error).toBe('not_found')
    // Ids of one community mean nothing in another.
    expect([404, 422]).toContain((await stranger.call(path, { body })).status)
  }
  expect((await stranger.call(`/transfers/${id}`)).status).toBe(404)
  expect((await viewer.call(`/transfers/${id}`)).status).toBe(200)
  expect((await newBrowser(bank).call('/transfers')).status).toBe(401)
  expect((await newBrowser(bank).call('/transfers/export')).status).toBe(401)
  expect((await manager.call('/transfers')).status).toBe(200)
  expect(await count()).toBe(1)
})

test('what an administrator did has the name that the community knows, also after they are gone', async () => {
  const { bank, manager, slip, record } = await start()
  const owner = await addAdmin(bank)
  const [id] = (await record([slip()])).body.data.transfer_ids
  await manager.call(`/transfers/${id}/reverse`, { body: { reason: 'A mistake' } })
  // Another community made the account, and calls the person something else.
  await bank.sql`update admins set name = 'Known elsewhere' where id = ${manager.id}`
  const known = { kind: 'admin', name: 'The manager' }
  const expectKnown = async () => {
    const { data } = (await owner.call(`/transfers/${id}`)).body
    expect([data.made_by, data.reversal.made_by]).toEqual([known, known])
    expect((await owner.call('/transfers')).body.data).toMatchObject([{ made_by: known, reversal: { made_by: known } }])
  }
  await expectKnown()
  expect((await owner.call(`/administrators/${manager.id}`, { method: 'DELETE' })).status).toBe(200)
  await expectKnown()
})

test('nothing that is written about an erased member is stored', async () => {
  const { bank, ada, ben, manager, slip, record } = await start()
  const token = await bank.token('wallet.write')
  await bank.call('/wallet/credit', { token, body: { user_id: ada, hours: 3, reference: 'tx-1' } })
  const [id] = (await record([slip()])).body.data.transfer_ids
  await eraseMember(bank.sql, TESTER, bank.communityId, ada)
  const adjust = (member_id: number) =>
    manager.call('/adjustments', { body: { member_id, hours: 1, reason: 'Ada moved to Graz' } })
  expect((await adjust(ada)).status).toBe(201)
  expect((await manager.call(`/transfers/${id}/reverse`, { body: { reason: 'Ada moved to Graz' } })).status).toBe(201)
  const body = { reference: 'tx-1', reversal_reference: 'back-1', reason: 'Ada moved to Graz' }
  expect((await bank.call('/wallet/credits/reverse', { token, body })).status).toBe(201)
  expect(await bank.sql`select from transfer_notes`).toEqual([])
  expect(await bank.sql`select reason from credit_reversals`).toEqual([{ reason: null }])
  // Ben is not erased.
  expect((await adjust(ben)).status).toBe(201)
  expect(await bank.sql`select note from transfer_notes`).toEqual([{ note: 'Ada moved to Graz' }])
})
