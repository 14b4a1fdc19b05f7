import { expect, test } from 'vitest'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { creditBatch } from '../src/features/wallet/credit-batch.ts'
import { createCreditBatcher, type CreditMember } from '../src/features/wallet/credit-member.ts'
import { startPartnerDays } from '../src/features/wallet/insert-credits.ts'
import type { Caller } from '../src/http/partner/access.ts'
import { ApiError } from '../src/http/shared/errors.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { eventually, startBank, TESTER, type Answer, type Bank, type BankOptions } from './bank.ts'
import { openTransaction, someoneWaits, waitingSessions } from './lock-table.ts'

const PATH = '/wallet/credits/batch'

interface Item {
  user_id: number
  hours: number
  reference: string
  [field: string]: unknown
}

async function start(options?: BankOptions) {
  const bank = await startBank(options)
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  const item = (n: number | string, changes: Partial<Item> = {}): Item => ({
    user_id: member.id,
    hours: 0.01,
    reference: `tx-${n}`,
    ...changes,
  })
  const items = (count: number, from = 0) => Array.from({ length: count }, (_, n) => item(from + n))
  const send = (credits: unknown, of = token) => bank.call(PATH, { token: of, body: { credits } })
  return { bank, member, token, item, items, send }
}

const resultsOf = ({ body }: Answer) => body.data.map(({ result }: { result: string }) => result)

const remaining = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1])

/** Everything that a credit writes. */
async function countRows({ sql }: Bank) {
  const [row] = await sql`
    select (select count(*) from transfers)::int as transfers, (select count(*) from credits)::int as credits,
      (select count(*) from events where type = 'wallet.credited')::int as events,
      (select coalesce(sum(balance), 0) from accounts where member_id is not null)::int as centihours`
  return row
}

const written = (credits: number) => ({ transfers: credits, credits, events: credits, centihours: credits })

/** Connections of requests that wait for a lock. */
const waitingStatements = ({ sql }: Bank) => waitingSessions(sql, '%', '%requests')

test('every item of a batch gets the outcome of a single credit, in order', async () => {
  const { bank, member, token, item, send } = await start()
  const gone = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  await leave(bank.sql, TESTER, bank.communityId, gone.id, { balance: 'keep' })
  const known = item('known', { hours: 2, settled_on: '2026-01-30', note: 'First' })
  const single = await bank.call('/wallet/credit', { token, body: known })

  const answer = await send([
    item('new', { hours: 1.5, note: 'Course' }),
    { ...known, note: 'Another note' },
    { ...known, hours: 3 },
    item('gone', { user_id: gone.id }),
    item('unknown', { user_id: 2 ** 60 }),
    item('large', { hours: 1000.01 }),
    item('placeholder', { reference: 'NotProvided' }),
    item('last'),
  ])

  expect({ status: answer.status, meta: answer.body.meta }).toEqual({
    status: 200,
    meta: { created: 2, replayed: 1, rejected: 5 },
  })
  const stored = single.body.data
  const { replayed: _replayed, ...conflicting } = stored
  const created = (fields: object) => ({ status: 'completed', user_id: member.id, replayed: false, ...fields })
  expect(answer.body.data).toEqual([
    {
      reference: 'tx-new',
      result: 'created',
      credit: expect.objectContaining(created({ hours: 1.5, note: 'Course', balance_hours: 3.5, reference: 'tx-new' })),
    },
    { reference: 'tx-known', result: 'replayed', credit: { ...stored, replayed: true } },
    {
      reference: 'tx-known',
      result: 'reference_conflict',
      error_description: 'This reference was already used for a different credit.',
      data: conflicting,
    },
    { reference: 'tx-gone', result: 'user_not_found', error_description: 'There is no such member.' },
    { reference: 'tx-unknown', result: 'user_not_found', error_description: 'There is no such member.' },
    { reference: 'tx-large', result: 'validation_failed', error_description: 'hours must be at most 1000' },
    {
      reference: 'NotProvided',
      result: 'validation_failed',
      error_description: "reference is a bank's placeholder, not a reference",
    },
    {
      reference: 'tx-last',
      result: 'created',
      credit: expect.objectContaining(created({ balance_hours: 3.51, reference: 'tx-last' })),
    },
  ])
})

test('a credit in a batch has exactly the fields of a single one', async () => {
  const { bank, token, item, send } = await start()
  const { body: single } = await bank.call('/wallet/credit', { token, body: item(1) })
  const { body: batch } = await send([item(2)])
  expect(Object.keys(batch.data[0].credit)).toEqual(Object.keys(single.data))
})

test('a reference that is repeated within a batch is replayed or a conflict, as in two calls', async () => {
  const { bank, member, item, send } = await start()
  const other = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const answer = await send([
    item('a', { hours: 1 }),
    item('a', { hours: 1, note: 'Again' }),
    item('a', { hours: 2 }),
    item('b', { user_id: 999_999 }),
    item('b', { user_id: other.id, hours: 1 }),
    item('b', { user_id: member.id, hours: 1 }),
    item('a', { hours: 1 }),
  ])
  expect(resultsOf(answer)).toEqual([
    'created',
    'replayed',
    'reference_conflict',
    'user_not_found',
    'created',
    'reference_conflict',
    'replayed',
  ])
  expect(await countRows(bank)).toEqual({ transfers: 2, credits: 2, events: 2, centihours: 200 })
})

test('the hours of a day are given to the first items that fit, across the parts of a batch', async () => {
  const { bank, item, items, send } = await start()
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { daily_limit_centihours: 300 })
  const answer = await send([...items(250), item('large', { hours: 0.6 }), ...items(60, 250)])
  expect(resultsOf(answer)).toEqual([
    ...Array.from({ length: 250 }, () => 'created'),
    'daily_limit_reached',
    ...Array.from({ length: 50 }, () => 'created'),
    ...Array.from({ length: 10 }, () => 'daily_limit_reached'),
  ])
  expect(await countRows(bank)).toEqual(written(300))
})

test('the hours of a day are given to the first items also while other credits wait beside the batch', async () => {
  const { bank, item, items } = await start()
  const { sql, communityId, partner } = bank
  const [ben, cem] = await Promise.all(['Ben', 'Cem'].map((name) => addMember(sql, TESTER, communityId, { name })))
  await changePartner(sql, TESTER, communityId, partner.partnerId, { daily_limit_centihours: 50 })
  const other = await bank.addPartner()
  await startPartnerDays(sql, communityId, [partner.partnerId, other.partnerId])
  const callerOf = async ({ partnerId }: { partnerId: number }) => {
    const [client] = await sql<[{ id: number }]>`
      select id from clients where community_id = ${communityId} and partner_id = ${partnerId}`
    return { communityId, partnerId, clientId: client.id, scopes: [] } as Partial<Caller> as Caller
  }
  const [caller, otherCaller] = [await callerOf(partner), await callerOf(other)]
  const creditMember = createCreditBatcher(sql)

  const held = await openTransaction(sql)
  await held.tx`select 1 from accounts where community_id = ${communityId} and member_id = ${ben!.id} for update`
  // More than fits into one statement.
  const singles = items(60).map((one) => creditMember(otherCaller, { ...one, user_id: cem!.id }))
  const credits = [...items(50).map((one) => ({ ...one, user_id: ben!.id })), ...items(49, 50), item('last')]
  const batch = creditBatch(creditMember, caller, credits, () => true)
  await someoneWaits(sql, '%insert_credits%')
  // What is beside the statement that waits.
  await eventually(async () => (await sql`select from credits`).length > 0)
  await held.release()

  await Promise.all(singles)
  expect((await batch).map(({ result }) => result)).toEqual([
    ...Array.from({ length: 50 }, () => 'created'),
    ...Array.from({ length: 50 }, () => 'daily_limit_reached'),
  ])
})

test('a thousand items are credited in about ten statements and answered in order; sent again, they are replayed', async () => {
  const statements: string[] = []
  const { bank, items, send } = await start({ onStatement: (statement) => statements.push(statement) })
  const credits = items(1000)
  const first = await send(credits)
  expect(first.body.meta).toEqual({ created: 1000, replayed: 0, rejected: 0 })
  expect(first.body.data.map(({ reference }: Item) => reference)).toEqual(credits.map(({ reference }) => reference))
  const inserts = statements.filter((statement) => statement.includes('insert into credits'))
  // One more, because the first found that the partner's day had not begun.
  expect(inserts.length).toBeLessThanOrEqual(11)
  const ids = first.body.data.map(({ credit }: any) => credit.transaction_id)
  expect(ids).toEqual(ids.toSorted((one: number, other: number) => one - other))

  const second = await send(credits)
  expect(second.body.meta).toEqual({ created: 0, replayed: 1000, rejected: 0 })
  expect(second.body.data.map(({ credit }: any) => credit.transaction_id)).toEqual(ids)
  expect(await countRows(bank)).toEqual(written(1000))
})

test('two equal batches at once credit each item once', async () => {
  const { bank, items, send } = await start()
  const credits = items(500)
  const [one, other] = await Promise.all([send(credits), send(credits.toReversed())])
  expect(one.body.meta.created + other.body.meta.created).toBe(500)
  expect(one.body.meta.replayed + other.body.meta.replayed).toBe(500)
  expect(await countRows(bank)).toEqual(written(500))
})

test('a single credit is answered while a batch of its community waits', async () => {
  const { bank, token, item, items, send } = await start()
  const [ben, cem] = await Promise.all(
    ['Ben', 'Cem'].map((name) => addMember(bank.sql, TESTER, bank.communityId, { name })),
  )
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from accounts where community_id = ${bank.communityId} and member_id = ${ben!.id} for update`
  const batch = send([...items(150), item('held', { user_id: ben!.id }), ...items(849, 150)])
  await eventually(async () => (await waitingStatements(bank)).length > 0)
  const single = await bank.call('/wallet/credit', { token, body: item('single', { user_id: cem!.id }) })
  expect(single.status).toBe(201)
  await held.release()
  expect((await batch).body.meta).toEqual({ created: 1000, replayed: 0, rejected: 0 })
})

test('items with the same reference are never credited at the same time, so that the first one wins', async () => {
  const running = new Set<string>()
  const order: string[] = []
  const creditMember: CreditMember = async (_caller, { reference, note }) => {
    expect(running).not.toContain(reference)
    running.add(reference)
    await new Promise(setImmediate)
    running.delete(reference)
    order.push(note!)
    throw new ApiError('user_not_found')
  }
  const requests = ['a', 'b', 'a', 'a', 'c', 'b'].map((reference, n) => ({
    user_id: 1,
    hours: 1,
    reference,
    note: `${n}`,
  }))
  await creditBatch(creditMember, {} as Caller, requests, () => true)
  expect(order).toEqual(['0', '1', '2', '3', '4', '5'])
})

test('a batch counts as one call per 20 items against the rate limit', async () => {
  const { bank, items, send } = await start()
  const partner = await bank.addPartner({ rateLimitPerMinute: 60 })
  const token = await bank.token(undefined, partner)
  const before = remaining(await bank.call('/users', { token }))
  let left = before
  for (const [count, calls] of [
    [1, 1],
    [20, 1],
    [21, 2],
    [1000, 50],
  ] as const) {
    const answer = await send(items(count), token)
    expect({ status: answer.status, left: remaining(answer) }).toEqual({ status: 200, left: (left -= calls) })
  }
})

test('a batch that counts as more calls than are left gets 429, and nothing is credited', async () => {
  const { bank, items, send } = await start()
  const partner = await bank.addPartner({ rateLimitPerMinute: 10 })
  const token = await bank.token(undefined, partner)
  const refused = await send(items(181), token)
  expect({ status: refused.status, error: refused.body.error }).toEqual({ status: 429, error: 'rate_limited' })
  expect(refused.body.error_description).toContain('counts as 10 calls')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await countRows(bank)).toEqual(written(0))
  // Only the call itself was counted, so that what is left can still be used: 8 of 10 after the token and this call.
  expect((await send(items(160), token)).status).toBe(200)
  expect((await send(items(1), token)).status).toBe(429)
})

test('a batch that can never fit the rate limit is rejected with the request to make it smaller', async () => {
  const { bank, items, send } = await start()
  const partner = await bank.addPartner({ rateLimitPerMinute: 10 })
  const refused = await send(items(1000), await bank.token(undefined, partner))
  expect(refused.status).toBe(429)
  expect(refused.body.error_description).toContain('send smaller batches')
})

test('a token without wallet.read learns no balance from a batch, one without wallet.write credits nothing', async () => {
  const { bank, item, send } = await start()
  const answer = await send([item(1), item(1), item(1, { hours: 2 })], await bank.token('wallet.write'))
  expect(resultsOf(answer)).toEqual(['created', 'replayed', 'reference_conflict'])
  expect(JSON.stringify(answer.body)).not.toContain('balance')
  const refused = await send([item(2)], await bank.token('wallet.read'))
  expect({ status: refused.status, error: refused.body.error }).toEqual({ status: 403, error: 'insufficient_scope' })
  expect((await bank.call(PATH, { body: { credits: [item(2)] } })).status).toBe(401)
  expect(await countRows(bank)).toEqual(written(1))
})

test('a body that does not match its schema changes nothing and is rejected with item and field', async () => {
  const { bank, token, item, items, send } = await start()
  const wrong: [credits: unknown, field: string, code: string][] = [
    [undefined, 'credits', 'required'],
    [[], 'credits', 'too_few'],
    [items(1001), 'credits', 'too_many'],
    [{ 0: item(1) }, 'credits', 'wrong_type'],
    [[item(1), null], 'credits.1', 'wrong_type'],
    [[item(1), item(2), item(3, { hours: 0 })], 'credits.2.hours', 'out_of_range'],
    [[item(1), item(2, { hours: 1.005 })], 'credits.1.hours', 'too_precise'],
    [[item(1), item(2, { user_id: '1' as never })], 'credits.1.user_id', 'wrong_type'],
    [[item(1, { reference: 'x'.repeat(192) })], 'credits.0.reference', 'too_long'],
    [[item(1, { note: 'a\u0000b' })], 'credits.0.note', 'invalid_format'],
    [[item(1, { settled_on: '2026-02-30' })], 'credits.0.settled_on', 'invalid_format'],
    [[item(1), { user_id: 1, hours: 1 }], 'credits.1.reference', 'required'],
  ]
  for (const [credits, field, code] of wrong) {
    const { status, body } = await send(credits)
    expect({ status, errors: body.errors }).toEqual({
      status: 422,
      errors: [{ code, field, message: expect.any(String) }],
    })
  }
  for (const body of ['null', '[]', '"x"']) {
    const answer = await bank.call(PATH, { token, body, headers: { 'content-type': 'application/json' } })
    expect(answer.status).toBe(422)
  }
  expect(await countRows(bank)).toEqual(written(0))
})

test('a body with thousands of problems gets a short response', async () => {
  const { send } = await start()
  const { status, body } = await send(Array.from({ length: 1000 }, () => ({})))
  expect(status).toBe(422)
  expect(body.errors).toHaveLength(100)
  const longer = await send(Array.from({ length: 100_000 }, () => ({})))
  expect(longer.body.errors).toEqual([
    { code: 'too_many', field: 'credits', message: 'must have at most 1000 entries' },
  ])
})

test('the body of a batch may have 512 KiB, that of a single credit 64 KiB', async () => {
  const { bank, token, item, items, send } = await start()
  const note = 'x'.repeat(400)
  expect((await send(items(1000).map((one) => ({ ...one, note })))).status).toBe(200)
  const large = await send(items(1000).map((one) => ({ ...one, note: '😀'.repeat(400) })))
  expect({ status: large.status, text: large.body.error_description }).toEqual({
    status: 413,
    text: 'The request body is larger than 512 KiB.',
  })
  const single = await bank.call('/wallet/credit', { token, body: item(1, { padding: 'x'.repeat(65_536) }) })
  expect({ status: single.status, text: single.body.error_description }).toEqual({
    status: 413,
    text: 'The request body is larger than 64 KiB.',
  })
})

test('after a failure in the middle, the batch is sent again and every item is credited once', async () => {
  const { bank, items, item, send } = await start()
  const other = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const credits = [...items(150), item('held', { user_id: other.id }), ...items(150, 150)]
  const held = await openTransaction(bank.sql)
  await held.tx`select 1 from accounts where community_id = ${bank.communityId} and member_id = ${other.id} for update`
  const failing = send(credits)
  // The second part waits for the wallet. Its connection is ended, as in a failover.
  const [waiting] = await eventually(async () => {
    const found = await waitingStatements(bank)
    return found.length > 0 && found
  })
  await bank.sql`select pg_terminate_backend(${waiting!.pid}::int4)`
  const failed = await failing
  expect({ status: failed.status, error: failed.body.error }).toEqual({ status: 503, error: 'unavailable' })
  await held.release()
  const before = await countRows(bank)
  expect(before).toEqual(written(100))
  const again = await send(credits)
  expect(again.body.meta).toEqual({ created: 201, replayed: 100, rejected: 0 })
  expect(await countRows(bank)).toEqual(written(301))
})

test('a batch is one call in the call log; the metrics count its items by result', async () => {
  const { bank, item, send } = await start()
  const answer = await send([item(1), item(1), item(2, { user_id: 999_999 })])
  const [call] = await eventually(async () => {
    const rows = await bank.sql`
      select path, status, error from call_log where request_id = ${answer.headers.get('request-id')!}`
    return rows.length > 0 && rows
  })
  expect(call).toEqual({ path: `${API_PREFIX}${PATH}`, status: 200, error: null })
  const { body: metrics } = await bank.call('/metrics')
  for (const result of ['created', 'replayed', 'user_not_found']) {
    expect(metrics).toContain(`hourbank_batched_credits_total{result="${result}"} 1`)
  }
})
