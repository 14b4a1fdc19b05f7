import * as fc from 'fast-check'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  ApiError,
  Hourbank,
  HourbankError,
  type CallOptions,
  type FetchResponse,
  type HourbankOptions,
} from '../../client/src/index.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'

const SECRET = 'hbs_a-client-secret-that-must-not-be-told'
/** Long, so that a busy machine does not make a test of something else fail; short where the end of it is awaited. */
const TIMEOUT_MS = 20_000
const SHORT_TIMEOUT_MS = 60
const RETRIES = 5
const CREDIT = { user_id: 42, hours: 1.5, reference: 'tx-1' }

interface Call {
  method: string
  path: string
  token: string | undefined
  body: string
}
type Answer = (response: ServerResponse, call: Call, request: IncomingMessage) => void

/** A server that does what the test tells it, and writes down what it is sent. */
async function startHostile() {
  const calls: Call[] = []
  let tokens = 0
  const hostile = {
    url: '',
    calls,
    /** Calls that are not about tokens. */
    asked: () => calls.filter(({ path }) => !path.startsWith('/oauth/')),
    tokensAsked: () => calls.filter(({ path }) => path === '/oauth/token').length,
    answerToken: ((response) =>
      json(response, 200, { access_token: `token-${++tokens}`, token_type: 'Bearer', expires_in: 3600 })) as Answer,
    answer: ((response) => json(response, 200, page())) as Answer,
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const call = {
        method: request.method!,
        path: request.url!.replace(API_PREFIX, ''),
        token: request.headers.authorization?.replace('Bearer ', ''),
        body: Buffer.concat(chunks).toString(),
      }
      calls.push(call)
      const answer = call.path.startsWith('/oauth/') ? hostile.answerToken : hostile.answer
      answer(response, call, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  hostile.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return hostile
}

/** Its pauses take no time, but its clock believes that they did. `sent` are the bodies, whether they arrived or not. */
function clientFor({ url }: { url: string }, options: Partial<HourbankOptions> = {}) {
  const clock = { ms: Date.parse('2026-01-31T09:00:00Z'), waits: [] as number[] }
  const sent: (string | undefined)[] = []
  const client = new Hourbank({
    baseUrl: url,
    clientId: 'hbc_client',
    clientSecret: SECRET,
    timeoutMs: TIMEOUT_MS,
    retries: RETRIES,
    now: () => clock.ms,
    wait: async (ms) => {
      clock.waits.push(ms)
      clock.ms += ms
    },
    random: () => 0.5,
    fetch: (of, init) => {
      if (!of.includes('/oauth/')) sent.push(init.body)
      return fetch(of, init)
    },
    ...options,
  })
  return { client, clock, sent }
}

async function start(options?: Partial<HourbankOptions>) {
  const hostile = await startHostile()
  return { hostile, ...clientFor(hostile, options) }
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body))
}

function refuse(response: ServerResponse, status: number, error: string, headers: Record<string, string> = {}) {
  json(response, status, { error, error_description: 'No.', request_id: 'r-1' }, headers)
}

function page(data: unknown[] = [], next_cursor: string | null = null) {
  return { data, meta: { limit: 25, has_more: next_cursor !== null, next_cursor } }
}

async function errorOf(call: Promise<unknown>): Promise<HourbankError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(HourbankError)
  return error as HourbankError
}

/** All the ways in which an answer gets lost, and what a caller is told in the end. */
const LOSSES: Record<string, { lose: Answer; told: object }> = {
  'the connection is reset': {
    lose: (_response, _call, request) => request.socket.resetAndDestroy(),
    told: { kind: 'network' },
  },
  'the connection is closed without an answer': {
    lose: (_response, _call, request) => request.socket.destroy(),
    told: { kind: 'network' },
  },
  'there is no answer': { lose: () => undefined, told: { kind: 'timeout' } },
  'there are headers, but no body': {
    lose: (response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
    told: { kind: 'timeout' },
  },
  'the body stops in the middle': {
    lose: (response) => response.writeHead(200, { 'content-length': '100' }).write('{"data": {"trans'),
    told: { kind: 'timeout' },
  },
  'the body is cut off': {
    lose: (response, _call, request) =>
      response.writeHead(200, { 'content-length': '100' }).write('{"data": {', () => request.socket.destroy()),
    told: { kind: 'network' },
  },
  'the body is cut off, and nobody can tell': {
    lose: (response) => response.writeHead(200, { connection: 'close' }).end('{"data": {"transaction_id"'),
    told: { kind: 'invalid_response' },
  },
  'what comes is not compressed as it says': {
    lose: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    told: { kind: 'network' },
  },
  'what comes is no HTTP': {
    lose: (_response, _call, request) => request.socket.end('220 smtp.example.org ESMTP\r\n\r\n'),
    told: { kind: 'network' },
  },
  'a page comes instead': {
    lose: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Please log in</h1>'),
    told: { kind: 'invalid_response' },
  },
  'the JSON is no object': {
    lose: (response) => json(response, 200, ['data']),
    told: { kind: 'invalid_response' },
  },
  'a proxy says 502': {
    lose: (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    told: { kind: 'api', status: 502, code: 'http_502' },
  },
  'the service is away': {
    lose: (response) => refuse(response, 503, 'unavailable', { 'retry-after': '5' }),
    told: { kind: 'api', status: 503, code: 'unavailable', requestId: 'r-1', retryAfterSeconds: 5 },
  },
  'a proxy says 504': {
    lose: (response) => response.writeHead(504).end(),
    told: { kind: 'api', status: 504, code: 'http_504' },
  },
  'there are too many calls': {
    lose: (response) => refuse(response, 429, 'rate_limited', { 'retry-after': '1' }),
    told: { kind: 'api', status: 429, code: 'rate_limited', retryAfterSeconds: 1 },
  },
}
const LOSS_NAMES = Object.keys(LOSSES)
const isHanging = (loss: string) => 'kind' in LOSSES[loss]!.told && LOSSES[loss]!.told.kind === 'timeout'
const timeoutFor = (loss: string) => ({ timeoutMs: isHanging(loss) ? SHORT_TIMEOUT_MS : TIMEOUT_MS })

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

describe('a credit whose answer is lost', () => {
  test.each(LOSS_NAMES)('is sent again with the same words, and booked once, when %s', async (loss) => {
    const { hostile, client, sent } = await start()
    const { answer, booked } = bookkeeper([loss])
    hostile.answer = answer
    expect(await client.wallet.credit(CREDIT, timeoutFor(loss))).toMatchObject({ reference: 'tx-1', replayed: true })
    expect(booked).toEqual(['tx-1'])
    expect(new Set(sent)).toEqual(new Set([JSON.stringify(CREDIT)]))
    if (!isHanging(loss)) expect(sent).toHaveLength(2)
    expect(hostile.tokensAsked()).toBe(1)
  })

  test('in whatever ways and order, is booked once, and the tries have an end', async () => {
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

  test('stays the credit it was, whatever becomes of the object it was given as', async () => {
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

  test('is reversed once, too', async () => {
    const { hostile, client, sent } = await start()
    const { answer, booked } = bookkeeper(['the connection is reset', 'a page comes instead'])
    hostile.answer = answer
    const reversal = { reference: 'tx-1', reversal_reference: 'back-1' }
    await client.wallet.reverse(reversal)
    expect(booked).toEqual(['tx-1'])
    expect(sent).toEqual(Array(3).fill(JSON.stringify(reversal)))
  })
})

describe('an answer that never comes', () => {
  test.each(LOSS_NAMES)('ends the tries, and what happened is told: %s', async (loss) => {
    const { hostile, client, sent } = await start({ retries: 2 })
    hostile.answer = LOSSES[loss]!.lose
    expect(await errorOf(client.users.list({}, timeoutFor(loss)))).toMatchObject(LOSSES[loss]!.told)
    expect(sent).toHaveLength(3)
  })

  test('a service that is not there is tried, and told, too', async () => {
    const { client, clock } = clientFor({ url: 'http://127.0.0.1:1' })
    const error = await errorOf(client.users.list())
    expect(error).toMatchObject({ name: 'HourbankError', kind: 'network' })
    expect(clock.waits).toHaveLength(RETRIES)
  })

  test('a body that trickles in for ever ends with the timeout, not with the trickle', async () => {
    const { hostile, client } = await start({ retries: 0 })
    hostile.answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const trickle = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(trickle))
    }
    const error = await errorOf(client.users.list({}, { timeoutMs: SHORT_TIMEOUT_MS }))
    expect(error).toMatchObject({ kind: 'timeout' })
  })

  test('a body without end is not read to its end', async () => {
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

  test('a fetch that hears no signal does not hang either', async () => {
    const { client } = clientFor(
      { url: 'http://127.0.0.1:1' },
      { fetch: () => new Promise<FetchResponse>(() => undefined), retries: 1, timeoutMs: SHORT_TIMEOUT_MS },
    )
    expect(await errorOf(client.users.list())).toMatchObject({ kind: 'timeout' })
  })

  test('all tries and pauses together stay within the total', async () => {
    const { hostile, client, clock } = await start({ retries: 20, totalTimeoutMs: 30_000, random: () => 0.999 })
    hostile.answer = (response) => refuse(response, 503, 'overloaded')
    const before = clock.ms
    expect(await errorOf(client.users.list())).toMatchObject({ status: 503 })
    expect(clock.ms - before).toBeLessThan(30_000)
    // Each pause may be twice as long as the one before.
    expect(clock.waits.map(Math.round)).toEqual([500, 999, 1998, 3996, 7992])
    expect(hostile.asked()).toHaveLength(6)
  })

  test('refusals that stay refusals are not tried again', async () => {
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

describe('what must not be done twice', () => {
  const OPERATIONS: Record<string, (client: Hourbank, options?: CallOptions) => Promise<unknown>> = {
    'a subscription': ({ webhooks }, options) =>
      webhooks.subscriptions.create({ event_types: ['*'], target_url: 'https://a.example.org' }, options),
    'a test': ({ webhooks }, options) => webhooks.subscriptions.test(3, options),
    'a rotation': ({ webhooks }, options) => webhooks.subscriptions.rotateSecret(3, options),
    'a replay': ({ webhooks }, options) => webhooks.subscriptions.replay(3, { since: '2026-01-01T00:00:00Z' }, options),
    'a redelivery': ({ webhooks }, options) => webhooks.redeliver(3, options),
  }

  test.each(Object.keys(OPERATIONS))('%s is not sent again when its answer is lost', async (name) => {
    const { hostile, client, sent } = await start()
    for (const loss of LOSS_NAMES.filter((one) => one !== 'there are too many calls')) {
      hostile.answer = LOSSES[loss]!.lose
      sent.length = 0
      expect(await errorOf(OPERATIONS[name]!(client, timeoutFor(loss)))).toMatchObject(LOSSES[loss]!.told)
      expect(sent).toHaveLength(1)
    }
  })

  test.each(Object.keys(OPERATIONS))('%s is sent again when it was refused before it was begun', async (name) => {
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

  test('a deletion whose answer was lost is done when there is nothing left; otherwise nothing left is told', async () => {
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
  test('is waited for, in seconds or as a date, before the pause of our own', async () => {
    expect((await pauseFor({ 'retry-after': '30' })).pauses).toEqual([30_250])
    expect((await pauseFor({ 'retry-after': '0' })).pauses).toEqual([250])
    // By the clock of the sender, which is years behind ours here.
    const sent = { date: 'Wed, 21 Oct 2015 07:28:00 GMT' }
    expect((await pauseFor({ ...sent, 'retry-after': 'Wed, 21 Oct 2015 07:28:20 GMT' })).pauses).toEqual([20_250])
    expect((await pauseFor({ ...sent, 'retry-after': 'Wed, 21 Oct 2015 07:00:00 GMT' })).pauses).toEqual([250])
    expect((await pauseFor({ date: 'never', 'retry-after': 'Sat, 31 Jan 2026 09:00:10 GMT' })).pauses).toEqual([10_250])
  })

  test('that is nonsense is no reason to wait, or to hurry', async () => {
    for (const nonsense of ['', '-5', '1e3', 'soon', '0x10', '2026-01-31', 'Wed, 99 Foo 2015']) {
      expect((await pauseFor({ 'retry-after': nonsense })).pauses).toEqual([250])
    }
  })

  test('that is longer than the call may take is told at once', async () => {
    for (const seconds of [120, 86_400, 1e30]) {
      const { pauses, outcome } = await pauseFor({
        'retry-after': seconds.toLocaleString('en', { useGrouping: false }),
      })
      expect(pauses).toEqual([])
      expect(outcome).toMatchObject({ code: 'rate_limited', retryAfterSeconds: seconds })
    }
  })

  test('spreads a hundred calls that were refused together', async () => {
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

function hundred<T>(call: () => Promise<T>) {
  return Promise.allSettled(Array.from({ length: 100 }, call))
}

describe('the token', () => {
  test('is renewed once when a hundred calls find it revoked in the middle', async () => {
    const { hostile, client } = await start()
    hostile.answer = (response, { token }) =>
      token === 'token-1' ? refuse(response, 401, 'invalid_token') : json(response, 200, page())
    const outcomes = await hundred(() => client.users.list())
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(hostile.tokensAsked()).toBe(2)
    expect(hostile.asked()).toHaveLength(200)
  })

  test('that is always refused is renewed once per call, and then told', async () => {
    const { hostile, client, clock } = await start()
    hostile.answer = (response) => refuse(response, 401, 'invalid_token')
    expect(await errorOf(client.wallet.credit(CREDIT))).toMatchObject({ status: 401, code: 'invalid_token' })
    expect(hostile.asked()).toHaveLength(2)
    expect(hostile.tokensAsked()).toBe(2)
    expect(clock.waits).toEqual([])
  })

  test('is tried for by one for all', async () => {
    const { hostile, client } = await start()
    const issue = hostile.answerToken
    hostile.answerToken = (response, call, request) =>
      hostile.tokensAsked() <= 2 ? refuse(response, 503, 'unavailable') : issue(response, call, request)
    const outcomes = await hundred(() => client.users.list())
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(hostile.tokensAsked()).toBe(3)
    expect(hostile.asked()).toHaveLength(100)
  })

  test.each(LOSS_NAMES)('that cannot be had is tried for by one for all, and not for ever: %s', async (loss) => {
    const { hostile, client, sent } = await start({ retries: 2, ...timeoutFor(loss) })
    hostile.answerToken = LOSSES[loss]!.lose
    for (const { status, ...rest } of await hundred(() => client.wallet.credit(CREDIT))) {
      expect(status).toBe('rejected')
      expect(rest).toMatchObject({ reason: LOSSES[loss]!.told })
    }
    expect(hostile.tokensAsked()).toBeLessThanOrEqual(3)
    if (!isHanging(loss)) expect(hostile.tokensAsked()).toBe(3)
    expect(sent).toEqual([])
  })

  test('is renewed before it ends, and the old one serves meanwhile, also when there is no new one yet', async () => {
    const { hostile, client, clock } = await start()
    const issue = hostile.answerToken
    const tokenOfCall = async () => {
      await client.users.list()
      return hostile.asked().at(-1)!.token
    }
    expect(await tokenOfCall()).toBe('token-1')
    clock.ms += 3_400_000
    expect(await tokenOfCall()).toBe('token-1')
    expect(hostile.tokensAsked()).toBe(1)

    // Within the last two minutes.
    clock.ms += 100_000
    hostile.answerToken = (response) => refuse(response, 400, 'invalid_request')
    expect(await tokenOfCall()).toBe('token-1')
    await expect.poll(() => hostile.tokensAsked()).toBe(2)
    hostile.answerToken = issue
    await expect.poll(tokenOfCall).toBe('token-2')
    expect(hostile.tokensAsked()).toBe(3)

    // Past its end.
    clock.ms += 3_600_000
    expect(await tokenOfCall()).toBe('token-3')
    expect(hostile.tokensAsked()).toBe(4)
  })

  test('that lives for seconds is still used more than once', async () => {
    const { hostile, client, clock } = await start()
    hostile.answerToken = (response) => json(response, 200, { access_token: 't', token_type: 'bearer', expires_in: 4 })
    await client.users.list()
    clock.ms += 1_000
    await client.users.list()
    expect(hostile.tokensAsked()).toBe(1)
    clock.ms += 2_000
    await client.users.list()
    expect(hostile.tokensAsked()).toBe(2)
  })

  test('whose asking was lost, as when a runtime sleeps, is asked for again', async () => {
    let asked = 0
    const fetchOnce: HourbankOptions['fetch'] = (url, init) =>
      url.endsWith('/oauth/token') && asked++ === 0 ? new Promise(() => undefined) : fetch(url, init)
    // The first request never ends, nor would its timer.
    const { client, clock } = await start({ fetch: fetchOnce, retries: 0 })
    const lost = client.users.list({}, { totalTimeoutMs: 20 })
    expect(await errorOf(lost)).toMatchObject({ kind: 'timeout' })
    clock.ms += 3_600_000
    expect((await client.users.list()).data).toEqual([])
    expect(asked).toBe(2)
  })

  test('that is none is not used', async () => {
    const { hostile, client } = await start({ retries: 0 })
    const good = { access_token: 'token', token_type: 'Bearer', expires_in: 3600 }
    for (const wrong of [
      { ...good, access_token: undefined },
      { ...good, access_token: '' },
      { ...good, access_token: 'two\nlines' },
      { ...good, access_token: ['token'] },
      { ...good, token_type: 'mac' },
      { ...good, expires_in: 0 },
      { ...good, expires_in: -1 },
      { ...good, expires_in: '3600' },
      { data: good },
    ]) {
      hostile.answerToken = (response) => json(response, 200, wrong)
      const error = await errorOf(client.users.list())
      expect(error).toMatchObject({ kind: 'invalid_response' })
      expect(inspect(error)).not.toContain('lines')
    }
    expect(hostile.asked()).toEqual([])
  })
})

describe('a caller who has had enough', () => {
  test('ends a call before it begins', async () => {
    const { hostile, client } = await start()
    const error = await errorOf(client.users.list({}, { signal: AbortSignal.abort('enough') }))
    expect(error).toMatchObject({ kind: 'aborted', cause: 'enough' })
    expect(hostile.calls).toEqual([])
  })

  test('ends a call that waits for its answer, or reads it, and it is not sent again', async () => {
    for (const loss of ['there is no answer', 'the body stops in the middle']) {
      const controller = new AbortController()
      const { hostile, client } = await start()
      hostile.answer = (...of) => {
        LOSSES[loss]!.lose(...of)
        setImmediate(() => controller.abort(new Error('enough')))
      }
      expect(await errorOf(client.wallet.credit(CREDIT, { signal: controller.signal }))).toMatchObject({
        kind: 'aborted',
        cause: { message: 'enough' },
      })
      expect(hostile.asked()).toHaveLength(1)
    }
  })

  test('ends a pause between two tries', async () => {
    const controller = new AbortController()
    const { hostile, client } = await start({ wait: undefined, random: () => 0.999 })
    hostile.answer = (response) => {
      refuse(response, 503, 'unavailable', { 'retry-after': '60' })
      response.on('finish', () => setImmediate(() => controller.abort()))
    }
    expect(await errorOf(client.users.list({}, { signal: controller.signal }))).toMatchObject({ kind: 'aborted' })
    expect(hostile.asked()).toHaveLength(1)
  })

  test('does not take the token from those who wait for it, too', async () => {
    const controller = new AbortController()
    const { hostile, client } = await start()
    const issue = hostile.answerToken
    let release: (() => void) | undefined
    hostile.answerToken = (...of) => {
      release = () => issue(...of)
      controller.abort()
    }
    const ended = errorOf(client.users.list({}, { signal: controller.signal }))
    const patient = client.users.list()
    expect(await ended).toMatchObject({ kind: 'aborted' })
    release!()
    expect((await patient).data).toEqual([])
    expect(hostile.tokensAsked()).toBe(1)
    expect(hostile.asked()).toHaveLength(1)
  })

  test('may use one signal for many calls: it is listened to once, and no longer than they last', async () => {
    const { client } = await start()
    const { signal } = new AbortController()
    const changes: string[] = []
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...of: Parameters<typeof add>) => (changes.push('added'), add(...of))
    signal.removeEventListener = (...of: Parameters<typeof remove>) => (changes.push('removed'), remove(...of))
    await Promise.all(Array.from({ length: 20 }, () => client.users.list({}, { signal })))
    expect(changes.every((change, n) => change === (n % 2 === 0 ? 'added' : 'removed'))).toBe(true)
    expect(changes.at(-1)).toBe('removed')
  })

  test('ends all the calls of a signal', async () => {
    const controller = new AbortController()
    const { hostile, client } = await start()
    hostile.answer = () => hostile.asked().length === 20 && controller.abort()
    const calls = Array.from({ length: 20 }, () => client.users.list({}, { signal: controller.signal }))
    for (const error of await Promise.all(calls.map(errorOf))) expect(error).toMatchObject({ kind: 'aborted' })
  })
})

/** Tells all that it was sent. */
const echo: Answer = (response, call, request) =>
  json(response, 400, {
    error: 'invalid_request',
    error_description: `You sent ${call.body} with ${request.headers.authorization}`,
    errors: [{ code: 'x', field: SECRET, message: `token-1 ${call.token}` }, 'nonsense', { code: 1 }],
    data: { body: call.body, token: call.token },
  })

describe('a server that is not to be trusted', () => {
  test('gets no token and no secret into an error', async () => {
    const { hostile, client } = await start({ retries: 0 })
    hostile.answer = echo
    const error = await errorOf(client.users.list())
    expect(error).toMatchObject({ description: 'You sent  with Bearer token-1' })
    const long = clientFor(hostile).client
    hostile.answerToken = (response) =>
      json(response, 200, { access_token: 'hbt_a-token-that-is-long', token_type: 'Bearer', expires_in: 3600 })
    const errors = [await errorOf(long.users.list())]
    hostile.answerToken = echo
    errors.push(await errorOf(clientFor(hostile).client.users.list()))
    for (const told of errors) {
      expect(told).toBeInstanceOf(ApiError)
      const printed = inspect(told, { depth: 10, showHidden: true }) + JSON.stringify(told) + told.stack
      expect(printed).not.toContain(SECRET)
      expect(printed).not.toContain('hbt_a-token-that-is-long')
      expect(printed).toContain('[redacted]')
    }
  })

  test('does not send the secret or a credit elsewhere', async () => {
    const elsewhere = await startHostile()
    for (const status of [301, 302, 303, 307, 308]) {
      const { hostile, client } = await start()
      const redirect: Answer = (response) => response.writeHead(status, { location: elsewhere.url }).end()
      hostile.answer = redirect
      expect(await errorOf(client.wallet.credit(CREDIT))).toMatchObject({ status, code: `http_${status}` })
      hostile.answerToken = redirect
      expect(await errorOf(clientFor(hostile).client.users.list())).toMatchObject({ status })
      expect(hostile.calls).toHaveLength(3)
    }
    expect(elsewhere.calls).toEqual([])
  })

  test('does not keep a reader turning pages for ever', async () => {
    const { hostile, client } = await start({ retries: 0 })
    hostile.answer = (response) => json(response, 200, page([{ id: 1 }], 'again'))
    const read = async () => {
      for await (const _ of client.users.iterate());
    }
    expect(await errorOf(read())).toMatchObject({ kind: 'invalid_response' })
    expect(hostile.asked().map(({ path }) => path)).toEqual(['/users?limit=100', '/users?limit=100&cursor=again'])
    hostile.answer = (response) => json(response, 200, { data: [], meta: { has_more: true, next_cursor: null } })
    expect(await errorOf(read())).toMatchObject({ kind: 'invalid_response' })
  })

  test('is not believed when its answer has another shape', async () => {
    const { hostile, client } = await start({ retries: 0 })
    for (const wrong of [{}, { data: null }, { data: 'x' }, { data: 5, meta: {} }, { data: [], meta: null }]) {
      hostile.answer = (response) => json(response, 200, wrong)
      expect(await errorOf(client.users.list())).toMatchObject({ kind: 'invalid_response' })
      expect(await errorOf(client.events.list())).toMatchObject({ kind: 'invalid_response' })
      if (Array.isArray(wrong.data)) continue
      expect(await errorOf(client.wallet.credit(CREDIT))).toMatchObject({ kind: 'invalid_response' })
      expect(await errorOf(client.webhooks.subscriptions.update(3, {}))).toMatchObject({ kind: 'invalid_response' })
    }
    hostile.answer = (response) => json(response, 200, page([{ id: 1 }]))
    expect(await errorOf(client.users.changes())).toMatchObject({ kind: 'invalid_response' })
  })

  test('that cannot be reached does not hold up the end', async () => {
    const { hostile, client } = await start({ retries: 1 })
    await client.users.list()
    hostile.answerToken = (_response, _call, request) => request.socket.destroy()
    await client.close()
    const { client: other } = await start({ retries: 1 })
    await other.revokeToken()
    expect(hostile.calls.filter(({ path }) => path === '/oauth/revoke')).toHaveLength(2)
  })
})
