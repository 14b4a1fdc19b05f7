import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Hourbank, type CallOptions, type FetchResponse } from '../../client/src/index.ts'
import {
  SHORT_TIMEOUT_MS,
  RETRIES,
  CREDIT,
  type Answer,
  clientFor,
  start,
  json,
  refuse,
  page,
  errorOf,
  LOSSES,
  LOSS_NAMES,
  isHanging,
  timeoutFor,
} from './hostile-client.ts'

/** Books credits as the service does, once per reference, but loses its answers as it is told. */
function bookkeeper(losses: string[]): { answer: Answer; booked: string[] } {
  const booked: string[] = []
  const answer: Answer = (response, call, request) => {
    const { reference } = JSON.parse(call.body) as { reference: string }
    const replayed = booked.includes(reference)
    if (!replayed) booked.push(reference)
    const loss = losses.shift()
    if (loss) LOSSES[loss]!.lose(response, call, request)
    else json(response, replayed ? 200 : 201, { data: { ...CREDIT, reference, replayed } })
  }
  return { answer, booked }
}

describe('a credit whose response is lost', () => {
  test.each(LOSS_NAMES)('is sent again with the same body, and credited once, when %s', async (loss) => {
    const { hostile, client, sent } = await start()
    const { answer, booked } = bookkeeper([loss])
    hostile.answer = answer
    expect(await client.wallet.credit(CREDIT, timeoutFor(loss))).toMatchObject({ reference: 'tx-1', replayed: true })
    expect(booked).toEqual(['tx-1'])
    expect(new Set(sent)).toEqual(new Set([JSON.stringify(CREDIT)]))
    if (!isHanging(loss)) expect(sent).toHaveLength(2)
    expect(hostile.tokensAsked()).toBe(1)
  })

  test('is credited once however its responses are lost, and retries end', async () => {
    const { hostile, client, sent } = await start()
    const losable = LOSS_NAMES.filter((loss) => !isHanging(loss))
    let references = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...losable), { maxLength: RETRIES + 3 }), async (losses) => {
        const { answer, booked } = bookkeeper([...losses])
        hostile.answer = answer
        sent.length = 0
        const credit = { ...CREDIT, reference: `tx-${++references}` }
        const outcome = await client.wallet.credit(credit).catch((error: unknown) => error)
        const tries = Math.min(losses.length, RETRIES) + 1
        expect(sent).toEqual(Array(tries).fill(JSON.stringify(credit)))
        expect(booked).toEqual([credit.reference])
        if (losses.length <= RETRIES) expect(outcome).toMatchObject({ reference: credit.reference })
        else expect(outcome).toMatchObject(LOSSES[losses[RETRIES]!]!.told)
      }),
      { numRuns: 100 },
    )
  })

  test('is sent again unchanged, even if the caller changes the object meanwhile', async () => {
    const { hostile, client } = await start()
    const { answer, booked } = bookkeeper(['the connection is reset'])
    const credit = { ...CREDIT }
    hostile.answer = (...of) => {
      answer(...of)
      credit.reference = 'another'
    }
    await client.wallet.credit(credit)
    expect(booked).toEqual(['tx-1'])
  })

  test('is also reversed once', async () => {
    const { hostile, client, sent } = await start()
    const { answer, booked } = bookkeeper(['the connection is reset', 'a page comes instead'])
    hostile.answer = answer
    const reversal = { reference: 'tx-1', reversal_reference: 'back-1' }
    await client.wallet.reverse(reversal)
    expect(booked).toEqual(['tx-1'])
    expect(sent).toEqual(Array(3).fill(JSON.stringify(reversal)))
  })
})

describe('a failing call', () => {
  test.each(LOSS_NAMES)('stops retrying and reports what happened: %s', async (loss) => {
    const { hostile, client, sent } = await start({ retries: 2 })
    hostile.answer = LOSSES[loss]!.lose
    expect(await errorOf(client.users.list({}, timeoutFor(loss)))).toMatchObject(LOSSES[loss]!.told)
    expect(sent).toHaveLength(3)
  })

  test('is retried if the service is unreachable, and reported as a network error', async () => {
    const { client, clock } = clientFor({ url: 'http://127.0.0.1:1' })
    const error = await errorOf(client.users.list())
    expect(error).toMatchObject({ name: 'HourbankError', kind: 'network' })
    expect(clock.waits).toHaveLength(RETRIES)
  })

  test('times out even if the body trickles in forever', async () => {
    const { hostile, client } = await start({ retries: 0 })
    hostile.answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const trickle = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(trickle))
    }
    const error = await errorOf(client.users.list({}, { timeoutMs: SHORT_TIMEOUT_MS }))
    expect(error).toMatchObject({ kind: 'timeout' })
  })

  test('does not read an endless body to its end', async () => {
    let reads = 0
    const endless = {
      getReader: () => ({
        read: async () => ({ done: false, value: new Uint8Array(1024 * 1024).fill((reads++, 32)) }),
        cancel: () => new Promise<void>(() => undefined),
      }),
    }
    const { client } = clientFor(
      { url: 'http://127.0.0.1:1' },
      { retries: 0, fetch: async () => ({ status: 200, headers: new Headers(), body: endless }) },
    )
    expect(await errorOf(client.users.list())).toMatchObject({ kind: 'invalid_response' })
    expect(reads).toBe(65)
  })

  test('times out even if fetch ignores the abort signal', async () => {
    const { client } = clientFor(
      { url: 'http://127.0.0.1:1' },
      { fetch: () => new Promise<FetchResponse>(() => undefined), retries: 1, timeoutMs: SHORT_TIMEOUT_MS },
    )
    expect(await errorOf(client.users.list())).toMatchObject({ kind: 'timeout' })
  })

  test('stays within the total timeout with all its attempts and pauses', async () => {
    const { hostile, client, clock } = await start({ retries: 20, totalTimeoutMs: 30_000, random: () => 0.999 })
    hostile.answer = (response) => refuse(response, 503, 'overloaded')
    const before = clock.ms
    expect(await errorOf(client.users.list())).toMatchObject({ status: 503 })
    expect(clock.ms - before).toBeLessThan(30_000)
    // Each pause may be twice as long as the one before, up to ten seconds.
    expect(clock.waits.map(Math.round)).toEqual([500, 999, 1998, 3996, 7992, 9990])
    expect(hostile.asked()).toHaveLength(7)
  })

  test('is not retried if a retry would be rejected as well', async () => {
    const { hostile, client, clock } = await start()
    for (const status of [400, 403, 404, 405, 409, 410, 413, 415, 422, 500, 501]) {
      hostile.answer = (response) => refuse(response, status, 'some_reason')
      hostile.calls.length = 0
      expect(await errorOf(client.wallet.credit(CREDIT))).toMatchObject({ status, code: 'some_reason' })
      expect(hostile.asked()).toHaveLength(1)
    }
    expect(clock.waits).toEqual([])
  })
})

describe('an operation that must not run twice', () => {
  const OPERATIONS: Record<string, (client: Hourbank, options?: CallOptions) => Promise<unknown>> = {
    'a subscription': ({ webhooks }, options) =>
      webhooks.subscriptions.create({ event_types: ['*'], target_url: 'https://a.example.org' }, options),
    'a test': ({ webhooks }, options) => webhooks.subscriptions.test(3, options),
    'a rotation': ({ webhooks }, options) => webhooks.subscriptions.rotateSecret(3, options),
    'a replay': ({ webhooks }, options) => webhooks.subscriptions.replay(3, { since: '2026-01-01T00:00:00Z' }, options),
    'a redelivery': ({ webhooks }, options) => webhooks.redeliver(3, options),
  }

  test.each(Object.keys(OPERATIONS))('%s is not sent again when its response is lost', async (name) => {
    const { hostile, client, sent } = await start()
    for (const loss of LOSS_NAMES.filter((one) => one !== 'there are too many calls')) {
      hostile.answer = LOSSES[loss]!.lose
      sent.length = 0
      expect(await errorOf(OPERATIONS[name]!(client, timeoutFor(loss)))).toMatchObject(LOSSES[loss]!.told)
      expect(sent).toHaveLength(1)
    }
  })

  test.each(Object.keys(OPERATIONS))('%s is sent again when it was rejected before it ran', async (name) => {
    const { hostile, client } = await start()
    hostile.answer = (response) => {
      const tries = hostile.asked().length
      if (tries === 1) refuse(response, 429, 'rate_limited', { 'retry-after': '1' })
      else if (tries === 2) refuse(response, 401, 'invalid_token')
      else json(response, 200, { data: { id: 3 } })
    }
    expect(await OPERATIONS[name]!(client)).toMatchObject({ id: 3 })
    expect(hostile.asked()).toHaveLength(3)
    expect(hostile.tokensAsked()).toBe(2)
  })

  test('a repeated deletion that gets 404 after a lost response succeeds; any other 404 is an error', async () => {
    const { hostile, client } = await start()
    hostile.answer = (response, _call, request) =>
      hostile.asked().length === 1 ? request.socket.destroy() : refuse(response, 404, 'subscription_not_found')
    expect(await client.webhooks.subscriptions.delete(3)).toBeUndefined()
    expect(await errorOf(client.webhooks.subscriptions.delete(3))).toMatchObject({ code: 'subscription_not_found' })
    expect(hostile.asked()).toHaveLength(3)
  })
})

async function pauseFor(headers: Record<string, string>) {
  const { hostile, client, clock } = await start()
  hostile.answer = (response) =>
    hostile.asked().length === 1 ? refuse(response, 429, 'rate_limited', headers) : json(response, 200, page())
  const outcome = await client.users.list().catch((error: unknown) => error)
  return { pauses: clock.waits, outcome }
}

describe('Retry-After', () => {
  test('is waited for, in seconds or as a date, in addition to the usual pause', async () => {
    expect((await pauseFor({ 'retry-after': '30' })).pauses).toEqual([30_250])
    expect((await pauseFor({ 'retry-after': '0' })).pauses).toEqual([250])
    // By the clock of the sender, which is years behind ours here.
    const sent = { date: 'Wed, 21 Oct 2015 07:28:00 GMT' }
    expect((await pauseFor({ ...sent, 'retry-after': 'Wed, 21 Oct 2015 07:28:20 GMT' })).pauses).toEqual([20_250])
    expect((await pauseFor({ ...sent, 'retry-after': 'Wed, 21 Oct 2015 07:00:00 GMT' })).pauses).toEqual([250])
    expect((await pauseFor({ date: 'never', 'retry-after': 'Sat, 31 Jan 2026 09:00:10 GMT' })).pauses).toEqual([10_250])
  })

  test('is ignored if it is invalid', async () => {
    for (const nonsense of ['', '-5', '1e3', 'soon', '0x10', '2026-01-31', 'Wed, 99 Foo 2015']) {
      expect((await pauseFor({ 'retry-after': nonsense })).pauses).toEqual([250])
    }
  })

  test('that exceeds the time left for the call is reported immediately', async () => {
    for (const seconds of [120, 86_400, 1e30]) {
      const { pauses, outcome } = await pauseFor({
        'retry-after': seconds.toLocaleString('en', { useGrouping: false }),
      })
      expect(pauses).toEqual([])
      expect(outcome).toMatchObject({ code: 'rate_limited', retryAfterSeconds: seconds })
    }
  })

  test('spreads a hundred calls that were rejected together', async () => {
    const waits: number[] = []
    let release!: () => void
    const allRefused = new Promise<void>((resolve) => {
      release = resolve
    })
    const wait = (ms: number) => {
      if (waits.push(ms) === 100) release()
      return allRefused
    }
    const { hostile, client } = await start({ random: Math.random, wait })
    hostile.answer = (response) =>
      hostile.asked().length <= 100
        ? refuse(response, 429, 'rate_limited', { 'retry-after': '2' })
        : json(response, 200, page())
    await Promise.all(Array.from({ length: 100 }, () => client.users.list()))
    expect(hostile.asked()).toHaveLength(200)
    expect(waits.every((ms) => ms >= 2000 && ms < 2500)).toBe(true)
    expect(new Set(waits).size).toBeGreaterThan(90)
  })
})
