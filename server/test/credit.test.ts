import { expect, onTestFinished, test } from 'vitest'
import { connect, transaction } from '../src/postgres/connect.ts'
import { addMember, hideMember, leave } from '../src/features/members/change-member.ts'
import { changePartner } from '../src/features/partners/change-partner.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { createCreditBatcher } from '../src/features/wallet/credit-member.ts'
import type { Caller } from '../src/http/partner/access.ts'
import { insertCredits, startPartnerDays, type CreditItem } from '../src/features/wallet/insert-credits.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { someoneWaits } from './lock-table.ts'
import { takeIds } from './take-ids.ts'

async function start() {
  const bank = await startBank()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  const credit = (body: Record<string, unknown>, of = token) => bank.call('/wallet/credit', { token: of, body })
  const balance = async (id = member.id) =>
    (await bank.call(`/wallet/balance/${id}`, { token })).body.data.balance_hours as number
  return { bank, member, token, credit, balance, order: { user_id: member.id, hours: 1.5, reference: 'tx-1' } }
}

const times = <T>(n: number, make: (index: number) => T) => Array.from({ length: n }, (_, index) => make(index))

async function countRows({ sql }: Bank) {
  const [row] = await sql`
    select (select count(*) from transfers)::int as transfers, (select count(*) from credits)::int as credits,
      (select count(*) from events where type = 'wallet.credited')::int as events`
  return row
}

test('two hundred identical credits at once make one transfer', async () => {
  const { bank, credit, balance, order } = await start()
  const answers = await Promise.all(times(200, () => credit(order)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...times(199, () => 200), 201])
  expect(new Set(answers.map(({ body }) => body.data.transaction_id)).size).toBe(1)
  expect(answers.filter(({ body }) => !body.data.replayed)).toHaveLength(1)
  expect(await balance()).toBe(1.5)
  expect(await countRows(bank)).toEqual({ transfers: 1, credits: 1, events: 1 })
})

test('concurrent credits with the same reference but different amounts: one amount is credited, the others get 409', async () => {
  const { bank, credit, balance, order } = await start()
  const answers = await Promise.all(times(200, (n) => credit({ ...order, hours: n % 2 === 0 ? 1 : 2 })))
  const made = answers.find(({ status }) => status === 201)!
  const hours = made.body.data.hours as number
  for (const [n, { status, body }] of answers.entries()) {
    const isSame = (n % 2 === 0 ? 1 : 2) === hours
    expect(status).toBe(isSame ? (body.data.replayed ? 200 : 201) : 409)
    if (!isSame) expect(body).toMatchObject({ error: 'reference_conflict', data: { hours, reference: 'tx-1' } })
  }
  expect(await balance()).toBe(hours)
  expect(await countRows(bank)).toEqual({ transfers: 1, credits: 1, events: 1 })
})

test('credits with the same reference that arrive together: another amount or settlement date is a conflict', async () => {
  const { bank, balance, order } = await start()
  const [client] = await bank.sql<[{ id: number }]>`select id from clients where community_id = ${bank.communityId}`
  const { communityId, partner } = bank
  const caller = {
    communityId,
    partnerId: partner.partnerId,
    clientId: client.id,
    scopes: SCOPE_NAMES,
  } as Partial<Caller>
  const creditMember = createCreditBatcher(bank.sql)
  const orders = [
    { ...order, settled_on: '2026-01-30' },
    { ...order, settled_on: '2026-01-31' },
    order,
    { ...order, settled_on: '2026-01-30', hours: 2 },
    { ...order, settled_on: '2026-01-30' },
  ]
  // In one turn of the event loop, so that they share a statement.
  const outcomes = await Promise.allSettled(orders.map((one) => creditMember(caller as Caller, one)))
  expect(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.replayed : outcome.reason.code)),
  ).toEqual([false, 'reference_conflict', 'reference_conflict', 'reference_conflict', true])
  expect(await balance()).toBe(1.5)
})

test('two hundred credits with references of their own all arrive, whatever the member', async () => {
  const { bank, member, credit, balance } = await start()
  const other = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const answers = await Promise.all(
    times(200, (n) => credit({ user_id: n % 3 === 0 ? other.id : member.id, hours: 0.01, reference: `tx-${n}` })),
  )
  expect(answers.every(({ status }) => status === 201)).toBe(true)
  expect([await balance(), await balance(other.id)]).toEqual([1.33, 0.67])
  const chain = await bank.sql`
    select credit_balance_after as after from transfers t join accounts a on a.community_id = t.community_id and a.id = t.credit_account_id
    where a.member_id = ${member.id} order by credit_balance_after`
  expect(chain.map(({ after }) => after)).toEqual(times(133, (n) => n + 1))
})

test('references are taken exactly as sent: case, spaces, emoji and directional marks tell credits apart', async () => {
  const { credit, balance } = await start()
  const references = ['INV-a', 'inv-A', ' INV-a', 'INV-a ', '🌻', '\u200fשלום', 'x'.repeat(191), '😀'.repeat(191)]
  for (const reference of references) {
    const { status, body } = await credit({ user_id: 1, hours: 1, reference, note: reference })
    expect({ status, reference: body.data?.reference, note: body.data?.note }).toEqual({
      status: 201,
      reference,
      note: reference,
    })
  }
  expect(await balance()).toBe(references.length)
})

test('hours are exact from the wire to the disk', async () => {
  const { bank, credit, balance } = await start()
  const amounts = [1.15, 0.1, 1000, 0.01, 0.07, 8.29, 899.99, 4.35]
  for (const [n, hours] of amounts.entries()) {
    expect((await credit({ user_id: 1, hours, reference: `tx-${n}` })).body.data.hours).toBe(hours)
  }
  expect(await balance()).toBe(1913.96)
  const [row] = await bank.sql`select sum(amount)::int8 as sum from transfers`
  expect(row).toEqual({ sum: 191396 })
})

test('a first credit gets 201 with its location; a repeated one gets 200, even with another note', async () => {
  const { bank, token, credit, member } = await start()
  const order = { user_id: member.id, hours: 2, reference: 'a/b?c&d #1', note: 'first', settled_on: '2026-02-28' }
  const first = await credit(order)
  expect(first.status).toBe(201)
  expect(first.body.data).toMatchObject({
    ...order,
    status: 'completed',
    reversed_at: null,
    balance_hours: 2,
    replayed: false,
  })
  const found = await bank.call(first.headers.get('location')!, { token })
  const { replayed: _replayed, ...credited } = first.body.data
  expect(found.body).toMatchObject({ data: [credited], meta: { total_count: 1, total_hours: 2 } })
  const again = await credit({ ...order, note: 'second' })
  expect(again).toMatchObject({ status: 200, body: { data: { ...first.body.data, note: 'first', replayed: true } } })
})

test('another member, amount or settlement date under a known reference is a conflict that shows the stored credit', async () => {
  const { bank, credit, order } = await start()
  const other = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ben' })
  const { body } = await credit({ ...order, settled_on: '2026-01-31' })
  for (const change of [
    { user_id: other.id },
    { hours: 1.51 },
    { settled_on: '2026-02-01' },
    { settled_on: undefined },
  ]) {
    const answer = await credit({ ...order, settled_on: '2026-01-31', ...change })
    expect(answer).toMatchObject({ status: 409, body: { error: 'reference_conflict' } })
    expect(answer.body.data.transaction_id).toBe(body.data.transaction_id)
  }
})

test('a retry gets the original result after the member left, the limit was lowered, the hours ran out or the credit was reversed', async () => {
  const { bank, member, token, credit, order } = await start()
  const first = await credit(order)
  expect(first.status).toBe(201)
  const retried = { status: 200, body: { data: { ...first.body.data, replayed: true } } }

  await leave(bank.sql, TESTER, bank.communityId, member.id)
  expect(await credit(order)).toMatchObject(retried)
  expect((await credit({ ...order, reference: 'tx-2' })).body.error).toBe('user_not_found')
  await bank.sql`update communities set credit_limit_centihours = 100`
  expect(await credit(order)).toMatchObject(retried)
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { daily_limit_centihours: 0 })
  expect(await credit(order)).toMatchObject(retried)

  const reversal = { reference: order.reference, reversal_reference: 'back-1' }
  expect((await bank.call('/wallet/credits/reverse', { token, body: reversal })).status).toBe(201)
  const reversed = await credit(order)
  expect(reversed).toMatchObject({ status: 200, body: { data: { status: 'reversed', replayed: true } } })
  expect(reversed.body.data.reversed_at).toEqual(expect.any(String))
})

test("a credit over the community's limit is rejected with the limit and the field", async () => {
  const { bank, credit, order, balance } = await start()
  await bank.sql`update communities set credit_limit_centihours = 250`
  expect((await credit({ ...order, hours: 2.5 })).status).toBe(201)
  expect(await credit({ ...order, hours: 2.51, reference: 'tx-2' })).toMatchObject({
    status: 422,
    body: {
      error: 'validation_failed',
      errors: [{ code: 'out_of_range', field: 'hours', message: 'must be at most 2.5' }],
    },
  })
  expect(await balance()).toBe(2.5)
})

test("a partner's hours per day are never exceeded, even with concurrent credits, and reset the next day", async () => {
  const { bank, credit, order, balance } = await start()
  await changePartner(bank.sql, TESTER, bank.communityId, bank.partner.partnerId, { daily_limit_centihours: 1000 })
  const answers = await Promise.all(
    times(100, (n) => credit({ ...order, hours: n % 2 === 0 ? 3 : 0.25, reference: `tx-${n}` })),
  )
  const made = answers.filter(({ status }) => status === 201)
  const refused = answers.filter(({ status }) => status === 409)
  expect(made.length + refused.length).toBe(100)
  expect(refused.every(({ body }) => body.error === 'daily_limit_reached')).toBe(true)
  // Small ones still fit where a large one does not, so the day is used up to the last quarter of an hour.
  expect(await balance()).toBeGreaterThan(10 - 0.25)
  expect(await balance()).toBeLessThanOrEqual(10)
  await bank.sql`update partner_days set day = day - 1`
  expect((await credit({ ...order, reference: 'tomorrow' })).status).toBe(201)
})

test('rows for the day of many partners are created in one order, so concurrent first credits do not deadlock', async () => {
  const { bank } = await start()
  const partners = [bank.partner]
  for (let n = 0; n < 19; n++) partners.push(await bank.addPartner())
  const ids = partners.map(({ partnerId }) => partnerId)
  await startPartnerDays(bank.sql, bank.communityId, ids.toReversed())
  const made =
    await bank.sql`select partner_id from partner_days where community_id = ${bank.communityId} order by ctid`
  expect(made.map(({ partner_id }) => partner_id)).toEqual(ids)
})

test('a reference belongs to the partner: shared by its clients, apart from those of other partners', async () => {
  const { bank, credit, order, balance } = await start()
  const other = await bank.addPartner()
  expect((await credit(order)).status).toBe(201)
  const answer = await credit(order, await bank.token(undefined, other))
  expect(answer).toMatchObject({ status: 201, body: { data: { replayed: false, balance_hours: 3 } } })
  expect(await balance()).toBe(3)
})

test('a member who is unknown, hidden, gone or of another community cannot be credited', async () => {
  const { bank, credit, order } = await start()
  const elsewhere = await addMember(bank.sql, TESTER, await bank.addCommunity('village'), { name: 'Eve' })
  const hidden = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Hid' })
  await hideMember(bank.sql, TESTER, bank.communityId, hidden.id)
  const gone = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Gone' })
  await leave(bank.sql, TESTER, bank.communityId, gone.id)
  // The first credit of a partner's day is made in two steps, of which the first checks the member on its own.
  expect((await credit(order)).status).toBe(201)
  const before = await countRows(bank)
  for (const [n, user_id] of [elsewhere.id, hidden.id, gone.id, 999_999, 0, -1, 2 ** 53, 1e300].entries()) {
    const answer = await credit({ ...order, user_id, reference: `absent-${n}` })
    expect(answer).toMatchObject({ status: 404, body: { error: 'user_not_found' } })
  }
  expect(await countRows(bank)).toEqual(before)
})

const WRONG: [field: string, value: unknown, code: string][] = [
  ['user_id', undefined, 'required'],
  ...[null, '1', 1.5, true, [], {}].map((value): [string, unknown, string] => ['user_id', value, 'wrong_type']),
  ['hours', undefined, 'required'],
  ...[null, '1.5', '1.5abc', 'NaN', true, [], {}].map((value): [string, unknown, string] => [
    'hours',
    value,
    'wrong_type',
  ]),
  ...[0, -0, -1, -0.01, 1000.01, 1e300].map((value): [string, unknown, string] => ['hours', value, 'out_of_range']),
  ...[1.005, 0.001, 0.015, 1e-7].map((value): [string, unknown, string] => ['hours', value, 'too_precise']),
  ['reference', undefined, 'required'],
  ...[null, 1, true, [], {}].map((value): [string, unknown, string] => ['reference', value, 'wrong_type']),
  ['reference', '', 'too_short'],
  ['reference', 'x'.repeat(192), 'too_long'],
  ['reference', '😀'.repeat(192), 'too_long'],
  ...['a\u0000b', 'a\nb', '\u0085', '\u007f', '\ud83d', 'a\udc00'].map((value): [string, unknown, string] => [
    'reference',
    value,
    'invalid_format',
  ]),
  ...['NOTPROVIDED', 'NONREF', 'notprovided'].map((value): [string, unknown, string] => [
    'reference',
    value,
    'placeholder',
  ]),
  ...[null, 1, {}].map((value): [string, unknown, string] => ['note', value, 'wrong_type']),
  ['note', 'x'.repeat(501), 'too_long'],
  ...['a\u0000b', '\ud83d'].map((value): [string, unknown, string] => ['note', value, 'invalid_format']),
  ...[null, 1].map((value): [string, unknown, string] => ['settled_on', value, 'wrong_type']),
  ...['', '2026-02-30', '2026-2-3', '2026-01-01T00:00:00Z', 'today', '0000-01-01'].map(
    (value): [string, unknown, string] => ['settled_on', value, 'invalid_format'],
  ),
]

test("every invalid value of every field is rejected with the field's name, and nothing is written", async () => {
  const { bank, credit, order } = await start()
  for (const [field, value, code] of WRONG) {
    const { status, body } = await credit({ ...order, [field]: value })
    expect({ field, value, status, error: body.error }).toEqual({
      field,
      value,
      status: 422,
      error: 'validation_failed',
    })
    expect(body.errors).toContainEqual({ code, field, message: expect.any(String) })
  }
  const all = await credit({ user_id: 'x', hours: 'x', reference: 1, note: 2, settled_on: 3 })
  expect(all.body.errors.map((error: { field: string }) => error.field).toSorted()).toEqual([
    'hours',
    'note',
    'reference',
    'settled_on',
    'user_id',
  ])
  const raw = await Promise.all(
    ['{"user_id":1,"hours":1e999,"reference":"a"}', '{"user_id":1,"hours":-1e999,"reference":"a"}'].map((body) =>
      bank.call('/wallet/credit', {
        token: '',
        headers: { authorization: '', 'content-type': 'application/json' },
        body,
      }),
    ),
  )
  expect(raw.every(({ status }) => status === 401)).toBe(true)
  expect(await countRows(bank)).toEqual({ transfers: 0, credits: 0, events: 0 })
})

test('amounts beyond any number, or not numbers at all, change nothing', async () => {
  const { bank, token } = await start()
  const send = (hours: string) =>
    bank.call('/wallet/credit', {
      token,
      headers: { 'content-type': 'application/json' },
      body: `{"user_id":1,"hours":${hours},"reference":"a"}`,
    })
  for (const hours of ['1e999', '-1e999', '1e15', '9007199254740993']) expect((await send(hours)).status).toBe(422)
  for (const hours of ['NaN', 'Infinity', '01', '1.', '.5', '+1', '0x10']) expect((await send(hours)).status).toBe(400)
  expect(await countRows(bank)).toEqual({ transfers: 0, credits: 0, events: 0 })
})

test.each(['enable_nestloop', 'enable_hashjoin', 'enable_mergejoin'])(
  "a credit holds its partner's day only when it has its wallet, else two would wait for each other: plan without %s",
  async (join) => {
    const { bank, member, credit, order } = await start()
    expect((await credit(order)).status).toBe(201)
    const [client] = await bank.sql<[CreditItem]>`select partner_id as "partnerId", id as "clientId" from clients`
    const item = { ...client, memberId: member.id, amount: 1, reference: 'tx-2', note: null, settledOn: null }
    const planned = connect(bank.databaseUrl, { connectionsMax: 1, name: 'test' })
    onTestFinished(() => planned.end())
    await planned.unsafe(`set ${join} = off`)
    const { waiting } = await transaction(bank.sql, async (tx) => {
      await tx`select from accounts where community_id = ${bank.communityId} and member_id = ${member.id} for no key update`
      const credited = insertCredits(planned, bank.communityId, [item])
      await someoneWaits(bank.sql)
      // Refused at once if the credit had it.
      await tx`select from partner_days where community_id = ${bank.communityId} for no key update nowait`
      return { waiting: credited }
    })
    expect((await waiting)[0]!.outcome).toBe('created')
  },
)

test('a credit that waits for the same reference in a transaction of yesterday is replayed, and the others of its batch are made', async () => {
  const { bank, member, credit, order, balance } = await start()
  const [client] = await bank.sql<[{ partner_id: number; id: number }]>`select partner_id, id from clients`
  const { waiting } = await transaction(bank.sql, async (tx) => {
    // Without the lock on the day, as a transaction that began before midnight.
    const creditId = await takeIds(tx, bank.communityId, 'credits', 1, client.partner_id)
    await tx`
      insert into credits (community_id, partner_id, reference, id, client_id, transfer_id, member_id, amount)
      values (${bank.communityId}, ${client.partner_id}, ${order.reference}, ${creditId}, ${client.id}, 0, ${member.id}, 150)`
    const credits = Promise.all([credit(order), credit({ ...order, reference: 'tx-2' })])
    await someoneWaits(bank.sql)
    return { waiting: credits }
  })
  expect((await waiting).map(({ status }) => status)).toEqual([200, 201])
  expect(await balance()).toBe(1.5)
})

test('a token without wallet.read learns no balance from its credits', async () => {
  const { bank, order } = await start()
  const token = await bank.token('wallet.write')
  const reversal = { reference: order.reference, reversal_reference: 'back-1' }
  const answers = [
    await bank.call('/wallet/credit', { token, body: order }),
    await bank.call('/wallet/credit', { token, body: order }),
    await bank.call('/wallet/credit', { token, body: { ...order, hours: 2 } }),
    await bank.call('/wallet/credits', { token }),
    await bank.call('/wallet/credits/reverse', { token, body: reversal }),
    await bank.call('/wallet/credits/reverse', { token, body: reversal }),
    await bank.call('/wallet/credits/reverse', { token, body: { ...reversal, reversal_reference: 'back-2' } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 409, 200, 201, 200, 409])
  for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('balance')
})
