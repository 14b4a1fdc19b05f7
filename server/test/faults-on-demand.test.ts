import { expect, test } from 'vitest'
import { CALL_TRIGGERS, DELIVERY_TRIGGERS, LATE_MS } from '../src/core/test-triggers.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { ERRORS, type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { startBank, TESTER, type Answer, type Bank, type BankOptions } from './bank.ts'
import { lockTable } from './lock-table.ts'
import { startPostman } from './postman.ts'

async function declareTest({ sql }: Bank, communityId: number): Promise<void> {
  await sql`update communities set test = true where id = ${communityId}`
}

/** Two communities that differ in nothing but being for testing. */
async function start(options: BankOptions = {}) {
  const bank = await startBank(options)
  const testId = await bank.addCommunity('trial')
  await declareTest(bank, testId)
  const sideOf = async (communityId: number) => {
    const partner = await bank.addPartner({}, communityId)
    const member = await addMember(bank.sql, TESTER, communityId, { name: 'Ada' })
    const token = await bank.token(undefined, partner)
    const post = (path: string, body: object) => bank.call(path, { token, body })
    return {
      token,
      member,
      credit: (body: object) => post('/wallet/credit', { user_id: member.id, hours: 1, ...body }),
      batch: (items: object[]) => {
        const credits = items.map((item) => ({ user_id: member.id, hours: 1, ...item }))
        return post('/wallet/credits/batch', { credits })
      },
      reverse: (body: object) => post('/wallet/credits/reverse', body),
      balance: async () => (await bank.call(`/wallet/balance/${member.id}`, { token })).body.data.balance_hours,
    }
  }
  return { bank, trial: await sideOf(testId), real: await sideOf(bank.communityId) }
}

const outcome = ({ status, body }: Answer) => ({ status, error: body.error })
const results = ({ body }: Answer) => body.data.map(({ result }: { result: string }) => result)
const errors = CALL_TRIGGERS.flatMap(({ fault, ...trigger }) =>
  fault.kind === 'error' ? [{ ...trigger, fault, code: fault.code as PartnerErrorCode }] : [],
)

test('every error on demand has its status and headers, by reference and by amount, and credits nothing', async () => {
  const { trial } = await start()
  for (const { code, hours, fault } of errors.filter(({ operations }) => operations.includes('credit'))) {
    const expected = { status: ERRORS[code][0], error: code }
    const byReference = await trial.credit({ reference: `test_${code}` })
    expect(outcome(byReference)).toEqual(expected)
    expect(outcome(await trial.credit({ reference: `test_${code}:2026-01-30/1` }))).toEqual(expected)
    expect(outcome(await trial.credit({ reference: `of-bank-${code}`, hours }))).toEqual(expected)
    const retryAfter = byReference.headers.get('retry-after')
    if (fault.retryAfterSeconds !== undefined) expect(retryAfter).toBe(`${fault.retryAfterSeconds}`)
    else if (expected.status !== 503) expect(retryAfter).toBeNull()
    expect(byReference.headers.has('www-authenticate')).toBe(expected.status === 401 || code === 'insufficient_scope')
  }
  expect(await trial.balance()).toBe(0)
})

test('reversals fail on demand by their own reference, and the credit stands', async () => {
  const { trial } = await start()
  await trial.credit({ reference: 'tx-1' })
  for (const { code } of errors.filter(({ operations }) => operations.includes('reversal'))) {
    const answer = await trial.reverse({ reference: 'tx-1', reversal_reference: `test_${code}` })
    expect(outcome(answer)).toEqual({ status: ERRORS[code][0], error: code })
  }
  expect(await trial.balance()).toBe(1)
})

test('outside test communities the same input does nothing special', async () => {
  const { bank, real } = await start()
  // All of these together are more than the default limits allow.
  await bank.sql`update partners set daily_limit_centihours = 10000000`
  let total = 0
  for (const { name, hours = 2 } of CALL_TRIGGERS) {
    for (const body of [
      { reference: `test_${name}`, hours: 1 },
      { reference: `test_${name}_once`, hours },
    ]) {
      expect(await real.credit(body)).toMatchObject({ status: 201, body: { data: body } })
      total += body.hours
    }
    const reversal = { reference: `test_${name}`, reversal_reference: `test_${name}` }
    expect((await real.reverse(reversal)).status).toBe(201)
    total -= 1
  }
  expect(await real.balance()).toBeCloseTo(total, 2)
})

test('an error with _once occurs once, and the retry is credited', async () => {
  const { trial } = await start()
  for (const { code } of errors.filter(({ operations }) => operations.includes('credit'))) {
    const body = { reference: `test_${code}_once:7` }
    expect(outcome(await trial.credit(body))).toEqual({ status: ERRORS[code][0], error: code })
    expect((await trial.credit(body)).status).toBe(201)
  }
})

test('a lost response is a credit or a reversal that happened: sent again, it is replayed', async () => {
  const { trial } = await start()
  for (const body of [{ reference: 'test_lost_response:1' }, { reference: 'of-bank', hours: 200.01 }]) {
    await expect(trial.credit(body)).rejects.toThrow('fetch failed')
    expect(await trial.credit(body)).toMatchObject({ status: 200, body: { data: { replayed: true } } })
  }
  expect(await trial.balance()).toBe(201.01)

  const reversal = { reference: 'of-bank', reversal_reference: 'test_lost_response' }
  await expect(trial.reverse(reversal)).rejects.toThrow('fetch failed')
  expect(await trial.reverse(reversal)).toMatchObject({ status: 200, body: { data: { replayed: true } } })
  expect(await trial.balance()).toBe(1)
})

test('in a batch, errors of a credit are results of their items, and others fail the batch once', async () => {
  const { trial, real } = await start()
  const items = ['tx-1', 'test_user_not_found', 'test_reference_conflict', 'tx-2'].map((reference) => ({ reference }))
  expect(results(await trial.batch(items))).toEqual(['created', 'user_not_found', 'reference_conflict', 'created'])
  expect(results(await real.batch(items))).toEqual(['created', 'created', 'created', 'created'])

  const failing = [{ reference: 'tx-3' }, { reference: 'test_unavailable_once:1' }]
  expect(outcome(await trial.batch(failing))).toEqual({ status: 503, error: 'unavailable' })
  expect((await trial.batch(failing)).body.meta).toMatchObject({ rejected: 0 })

  const lost = [{ reference: 'tx-4' }, { reference: 'test_lost_response:1' }]
  await expect(trial.batch(lost)).rejects.toThrow('fetch failed')
  expect(results(await trial.batch(lost))).toEqual(['replayed', 'replayed'])
  expect(await trial.balance()).toBe(6)
})

test('a call that times out on demand gets no response, not even when the service gives up on others', async () => {
  const { bank, trial, real } = await start({ timeouts: { handlerMs: 5000 } })
  let isSettled = false
  const silent = trial.credit({ reference: 'test_timeout' }).finally(() => (isSettled = true))
  const closed = expect(silent).rejects.toThrow('fetch failed')
  const lock = await lockTable(bank.sql, 'accounts')
  // Sent later and just as long without a result, it got a response.
  expect(outcome(await real.credit({ reference: 'tx-1' }))).toEqual({ status: 503, error: 'unavailable' })
  await lock.release()
  expect(isSettled).toBe(false)
  expect(await trial.balance()).toBe(0)
  // Neither does it keep the service from stopping.
  await bank.node.close()
  await closed
})

test('calls that time out on demand take no place from those of others', async () => {
  const { bank, trial, real } = await start({ timeouts: { callsInFlightMax: 2 } })
  const silent = ['test_timeout:1', 'test_timeout:2'].map((reference) => trial.credit({ reference }))
  const closed = Promise.all(silent.map((call) => expect(call).rejects.toThrow('fetch failed')))
  for (let n = 0; n < 5; n++) expect((await real.credit({ reference: `tx-${n}` })).status).toBe(201)
  await bank.node.close()
  await closed
})

async function startTrialPostman() {
  const post = await startPostman()
  await declareTest(post.bank, post.bank.communityId)
  return post
}
const hooked = (url: string, name: string) => `${url}?hourbank_test=${name}`
const attemptsOf = (deliveries: any[]) =>
  deliveries.map(({ attempts }) => attempts.map(({ status }: { status: number }) => status))

test('deliveries fail with the chosen status, always or once, by target or by reference', async () => {
  const post = await startTrialPostman()
  const { receiver } = post
  const always = await post.subscribe({ target_url: hooked(receiver.url, 'status_418') })
  const once = await post.subscribe({ target_url: hooked(receiver.url, 'status_503_once') })
  const plain = await post.subscribe()
  await post.credit({ reference: 'tx-1' })
  await post.deliver()
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook'])
  await post.advance(6000)
  expect(attemptsOf(await post.deliveries(always.id))).toEqual([[418, 418]])
  expect(attemptsOf(await post.deliveries(once.id))).toEqual([[503, 204]])
  expect(attemptsOf(await post.deliveries(plain.id))).toEqual([[204]])

  await post.credit({ reference: 'test_delivery_status_500_once:1' })
  await post.deliver()
  await post.advance(6000)
  expect(attemptsOf(await post.deliveries(plain.id))).toContainEqual([500, 204])
})

test('410 on demand disables the subscription, as a real one does', async () => {
  const post = await startTrialPostman()
  const { id } = await post.subscribe({ target_url: hooked(post.receiver.url, 'status_410') })
  await post.credit()
  await post.deliver()
  expect(await post.subscription(id)).toMatchObject({ status: 'disabled' })
  expect(post.receiver.received).toEqual([])
})

test('a late delivery arrives after newer ones, and one that comes twice has the same id', async () => {
  const post = await startTrialPostman()
  const { receiver } = post
  await post.subscribe()
  await post.credit({ reference: 'test_delivery_late' })
  await post.credit({ reference: 'test_delivery_twice:1' })
  await post.deliver()
  const references = () => receiver.received.map(({ json }) => json.data.reference)
  expect(references()).toEqual(['test_delivery_twice:1', 'test_delivery_twice:1'])
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)
  await post.advance(LATE_MS)
  expect(references().at(-1)).toBe('test_delivery_late')
  expect(receiver.received).toHaveLength(3)
})

test('outside test communities every delivery is sent at once, and once', async () => {
  const post = await startPostman()
  const names = DELIVERY_TRIGGERS.map(({ name }) => name.replace('NNN', '503'))
  for (const name of names) await post.subscribe({ target_url: hooked(post.receiver.url, name) })
  for (const name of names) await post.credit({ reference: `test_delivery_${name}` })
  await post.deliver()
  expect(post.receiver.received).toHaveLength(names.length ** 2)
})

test("a partner's reference does not affect deliveries to other partners", async () => {
  const post = await startTrialPostman()
  const other = await post.bank.token(undefined, await post.bank.addPartner())
  await post.subscribe({}, other)
  await post.credit({ reference: 'test_delivery_status_503' })
  await post.deliver()
  expect(post.receiver.received).toHaveLength(1)
})
