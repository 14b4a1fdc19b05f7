import { expect, test } from 'vitest'
import type { BatchedCredit, CreditProgress, CreditRequest } from '../../client/src/index.ts'
import { bank, clientOf, collect, hourbank, join, refusalOf, start } from './client-calls.ts'
import { CREDIT, errorOf, json, LOSSES, refuse, start as startHostile, type Answer } from './hostile-client.ts'

const credits = (count: number, user_id: number): CreditRequest[] =>
  Array.from({ length: count }, (_, n) => ({ user_id, hours: 0.01, reference: `tx-${n}` }))

async function* slowly<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    await new Promise(setImmediate)
    yield item
  }
}

/** Accepts every batch, and writes down how many items each had. */
function acceptBatches(sizes: number[]): Answer {
  return (response, call) => {
    const items = (JSON.parse(call.body) as { credits: CreditRequest[] }).credits
    sizes.push(items.length)
    const data = items.map((credit) => ({
      reference: credit.reference,
      result: 'created',
      credit: { ...CREDIT, ...credit },
    }))
    json(response, 200, { data, meta: { created: items.length, replayed: 0, rejected: 0 } })
  }
}

test('creditAll credits any iterable in batches and yields every result in order', async () => {
  await start()
  const [ada] = await join('Ada')
  const all = credits(250, ada!.id)
  const progress: CreditProgress[] = []
  const first = await collect(
    hourbank.wallet.creditAll(slowly(all), { batchSize: 100, onProgress: (state) => progress.push(state) }),
  )
  expect(first.map(({ reference }) => reference)).toEqual(all.map(({ reference }) => reference))
  expect(progress).toEqual([100, 200, 250].map((done) => ({ done, created: done, replayed: 0, rejected: 0 })))
  const second = await collect(hourbank.wallet.creditAll(new Set(all)))
  expect(new Set(second.map(({ result }) => result))).toEqual(new Set(['replayed']))
  expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 2.5 })
  expect(await collect(hourbank.wallet.creditAll([]))).toEqual([])
})

test('a rejected credit is a result with its reason, and the type tells it apart', async () => {
  await start()
  const [ada] = await join('Ada')
  const [one, two] = credits(2, ada!.id)
  const results = await collect(
    hourbank.wallet.creditAll([one!, { ...one!, hours: 2 }, { ...two!, user_id: 999_999 }, two!]),
  )
  const described = results.map((result: BatchedCredit) =>
    'credit' in result ? result.credit.hours : `${result.result} ${result.data?.hours}`,
  )
  expect(described).toEqual([0.01, 'reference_conflict 0.01', 'user_not_found undefined', 0.01])
})

test('malformed credits are results, too, and the others of their batch are credited', async () => {
  await start()
  const [ada] = await join('Ada')
  const all = credits(300, ada!.id).map((credit, n) => (n % 2 === 0 ? credit : { ...credit, hours: 0, user_id: 0.5 }))
  const results = await collect(hourbank.wallet.creditAll(all))
  expect(results.filter(({ result }) => result === 'created')).toHaveLength(150)
  expect(results[1]).toEqual({
    reference: 'tx-1',
    result: 'validation_failed',
    error_description: 'user_id must be an integer; hours must be greater than 0',
  })
  expect(results.map(({ reference }) => reference)).toEqual(all.map(({ reference }) => reference))
  expect(await hourbank.wallet.balance(ada!.id)).toMatchObject({ balance_hours: 1.5 })
})

test('an error of the whole batch is thrown', async () => {
  await start()
  const reader = clientOf(bank, { scope: 'wallet.read' })
  const refusal = await refusalOf(collect(reader.wallet.creditAll(credits(1, 1))))
  expect(refusal).toMatchObject({ status: 403, code: 'insufficient_scope' })
  for (const batchSize of [0, 1001, 1.5, Number.NaN]) {
    await expect(collect(hourbank.wallet.creditAll([], { batchSize }))).rejects.toBeInstanceOf(RangeError)
  }
})

test('batches are read and sent as results are asked for, one in memory at a time', async () => {
  const { hostile, client } = await startHostile()
  const sizes: number[] = []
  hostile.answer = acceptBatches(sizes)
  let read = 0
  function* endless(): Generator<CreditRequest> {
    for (;;) yield { ...CREDIT, reference: `tx-${(read += 1)}` }
  }
  const results = client.wallet.creditAll(endless(), { batchSize: 10 })
  expect(read).toBe(0)
  for (let n = 0; n < 15; n++) await results.next()
  // One more was read to see that the batch is full.
  expect({ read, sizes }).toEqual({ read: 21, sizes: [10, 10] })
  await results.return()
  expect(sizes).toHaveLength(2)
})

test('long notes make smaller batches, so that every body fits', async () => {
  const { hostile, client } = await startHostile()
  const sizes: number[] = []
  const accept = acceptBatches(sizes)
  hostile.answer = (response, call, request) => {
    expect(Buffer.byteLength(call.body)).toBeLessThanOrEqual(512 * 1024)
    accept(response, call, request)
  }
  const all = credits(1000, 1).map((credit) => ({ ...credit, note: '😀'.repeat(500) }))
  expect(await collect(client.wallet.creditAll(all))).toHaveLength(1000)
  expect(sizes.length).toBeGreaterThan(3)
  expect(sizes.length).toBeLessThan(6)
})

test('one object used for every row of a file makes as many credits', async () => {
  const { hostile, client, sent } = await startHostile()
  hostile.answer = acceptBatches([])
  const row = { ...CREDIT }
  function* rows() {
    for (const reference of ['a', 'b', 'c']) yield Object.assign(row, { reference })
  }
  await collect(client.wallet.creditAll(rows()))
  expect(JSON.parse(sent[0]!).credits.map(({ reference }: CreditRequest) => reference)).toEqual(['a', 'b', 'c'])
})

test('a batch whose response is lost is sent again with the same body', async () => {
  const { hostile, client, sent } = await startHostile()
  const accept = acceptBatches([])
  const losses = ['the connection is reset', 'a page comes instead']
  hostile.answer = (response, call, request) => {
    const loss = losses.shift()
    if (loss) LOSSES[loss]!.lose(response, call, request)
    else accept(response, call, request)
  }
  expect(await collect(client.wallet.creditAll(credits(3, 1)))).toHaveLength(3)
  expect(sent).toHaveLength(3)
  expect(new Set(sent).size).toBe(1)
})

test('a batch that waits for the rate limit waits as long as it is asked to', async () => {
  const { hostile, client, clock } = await startHostile()
  const accept = acceptBatches([])
  let refusals = 1
  hostile.answer = (response, call, request) => {
    if (refusals-- > 0) refuse(response, 429, 'rate_limited', { 'retry-after': '40' })
    else accept(response, call, request)
  }
  expect(await collect(client.wallet.creditAll(credits(3, 1)))).toHaveLength(3)
  expect(clock.waits[0]).toBeGreaterThanOrEqual(40_000)
})

test('a response without a result for each credit is an error', async () => {
  const { hostile, client } = await startHostile()
  hostile.answer = (response) => json(response, 200, { data: [], meta: {} })
  const error = await errorOf(collect(client.wallet.creditAll(credits(2, 1))))
  expect(error).toMatchObject({ kind: 'invalid_response' })
})
