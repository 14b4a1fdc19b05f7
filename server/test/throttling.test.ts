import { describe, expect, onTestFinished, test } from 'vitest'
import { newToken } from '../src/crypto/secrets.ts'
import { openCounters } from '../src/http/shared/counters.ts'
import {
  callNode,
  eventually,
  fetchToken,
  freePort,
  startBank,
  startTestNode,
  type Answer,
  type BankOptions,
  type TestPartner,
} from './bank.ts'
import { captureLog } from './capture-log.ts'
import { BEHIND_PROXY, credentials, from, tokenRequest } from './oauth.ts'
import { startRedis, type TestRedis } from './redis.ts'

const GUESSES_PER_CLIENT_MAX = 10
const FAILURES_PER_ADDRESS_MAX = 100
/** Far more than a request should take, far less than a hang. */
const NO_HANG_MS = 30_000

const [HERE, ELSEWHERE] = ['192.0.2.1', '198.51.100.1']

function ask(url: string, partner: TestPartner, address: string): Promise<Answer> {
  return callNode(url, '/oauth/token', { ...tokenRequest(partner), headers: from(address) })
}

function guess(url: string, partner: TestPartner, address: string): Promise<Answer> {
  return ask(url, { ...partner, clientSecret: 'wrong' }, address)
}

function expectThrottled({ status, headers, body }: Answer): void {
  expect({ status, error: body.error }).toEqual({ status: 429, error: 'rate_limited' })
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('api-version')).toBe('2.0')
  expect(headers.get('request-id')).toBe(body.request_id)
}

/** The status, if it comes in time. */
async function inTime(work: Promise<Answer>): Promise<number> {
  const sinceMs = performance.now()
  const { status } = await work
  expect(performance.now() - sinceMs).toBeLessThan(NO_HANG_MS)
  return status
}

/** Waits until the node counts in Redis: a guess from an address that stands for the node is found there. */
async function countsInRedis(redis: TestRedis, url: string, partner: TestPartner): Promise<void> {
  const port = Number(new URL(url).port)
  const address = `198.18.${port >> 8}.${port & 255}`
  await eventually(async () => {
    await guess(url, partner, address)
    return (await redis.client.keys(`*${address} *`)).length > 0
  })
}

/** With them Redis counts even if this process stands still for a moment. */
const PATIENT = { redisMs: 60_000 }

async function startTwoNodes(timeouts: BankOptions['timeouts'] = {}) {
  const redis = await startRedis()
  const options = { config: { ...BEHIND_PROXY.config, redisUrl: redis.url }, timeouts }
  const bank = await startBank(options)
  const urls = [bank.url, (await startTestNode(bank.databaseUrl, options)).url] as const
  const probe = await bank.addPartner()
  for (const url of urls) await countsInRedis(redis, url, probe)
  return { redis, bank, urls, probe }
}

describe('guesses at a secret', () => {
  test('after ten from one address, even the right secret is rejected there, but accepted elsewhere', async () => {
    const { url, partner, addPartner } = await startBank(BEHIND_PROXY)
    const neighbour = await addPartner()
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) {
      expect((await guess(url, partner, HERE)).status).toBe(401)
    }
    expectThrottled(await guess(url, partner, HERE))
    expectThrottled(await ask(url, partner, HERE))
    expect((await ask(url, partner, ELSEWHERE)).status).toBe(200)
    expect((await ask(url, neighbour, HERE)).status).toBe(200)
  })

  test('count together for the IPv6 addresses of one customer', async () => {
    const { url, partner } = await startBank(BEHIND_PROXY)
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) {
      expect((await guess(url, partner, `2001:db8:0:1::${count}`)).status).toBe(401)
    }
    expectThrottled(await ask(url, partner, '2001:db8:0:1:ffff::'))
    expect((await ask(url, partner, '2001:db8:0:2::')).status).toBe(200)
  })

  test('do not affect tokens that the client already has', async () => {
    const { url, partner } = await startBank(BEHIND_PROXY)
    const token = (await ask(url, partner, HERE)).body.access_token
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) await guess(url, partner, HERE)
    expectThrottled(await ask(url, partner, HERE))
    expect((await callNode(url, '/users', { token, headers: from(HERE) })).status).toBe(200)
  })

  test('sent concurrently are limited to the same number', async () => {
    const { url, partner } = await startBank(BEHIND_PROXY)
    const answers = await Promise.all(Array.from({ length: 60 }, () => guess(url, partner, HERE)))
    const heard = answers.filter(({ status }) => status === 401)
    expect(heard).toHaveLength(GUESSES_PER_CLIENT_MAX)
    for (const answer of answers) if (!heard.includes(answer)) expectThrottled(answer)
  })

  test('count together for both endpoints, with Basic and in the body', async () => {
    const { url, partner } = await startBank(BEHIND_PROXY)
    const wrong = { ...credentials(partner), client_secret: 'wrong' }
    const headers = { ...from(HERE), authorization: `Basic ${btoa(`${partner.clientId}:wrong`)}` }
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX / 2; count++) {
      await callNode(url, '/oauth/revoke', { body: { token: 'x', ...wrong }, headers: from(HERE) })
      await callNode(url, '/oauth/token', { body: { grant_type: 'client_credentials' }, headers })
    }
    expectThrottled(await ask(url, partner, HERE))
    const revocation = { body: { token: 'x', ...credentials(partner) }, headers: from(HERE) }
    expectThrottled(await callNode(url, '/oauth/revoke', revocation))
  })

  test('count despite successes in between; a client that only succeeds is never throttled', async () => {
    const { url, partner, addPartner } = await startBank(BEHIND_PROXY)
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) {
      await guess(url, partner, HERE)
      if (count < GUESSES_PER_CLIENT_MAX - 1) expect((await ask(url, partner, HERE)).status).toBe(200)
    }
    expectThrottled(await ask(url, partner, HERE))
    const steady = await addPartner()
    for (let count = 0; count < 3 * GUESSES_PER_CLIENT_MAX; count++) {
      expect((await ask(url, steady, HERE)).status).toBe(200)
    }
  })

  test('are throttled for unknown clients as for known ones', async () => {
    const { url } = await startBank(BEHIND_PROXY)
    const unknown = { partnerId: 0, clientId: 'hbc_1_0123456789abcdef', clientSecret: 'x' }
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) {
      expect((await ask(url, unknown, HERE)).status).toBe(401)
    }
    expectThrottled(await ask(url, unknown, HERE))
  })

  test('after a hundred at any clients, the address is throttled, and other addresses are not', async () => {
    const { url, partner } = await startBank(BEHIND_PROXY)
    const guesses = Array.from({ length: FAILURES_PER_ADDRESS_MAX }, (_, n) =>
      guess(url, { ...partner, clientId: `hbc_1_${n.toString(16).padStart(16, '0')}` }, HERE),
    )
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]))
    expectThrottled(await ask(url, partner, HERE))
    expect((await ask(url, partner, ELSEWHERE)).status).toBe(200)
  })

  test('up to ninety-nine do not throttle the address', async () => {
    const { url, partner } = await startBank(BEHIND_PROXY)
    const guesses = Array.from({ length: FAILURES_PER_ADDRESS_MAX - 1 }, (_, n) =>
      guess(url, { ...partner, clientId: `client ${n}` }, HERE),
    )
    await Promise.all(guesses)
    expect((await ask(url, partner, HERE)).status).toBe(200)
  })
})

describe('dead tokens', () => {
  test('beyond a hundred from one address are throttled; live tokens still work, and new ones are issued', async () => {
    const { url, partner, communityId } = await startBank(BEHIND_PROXY)
    const use = (token: string, address: string) => callNode(url, '/users', { token, headers: from(address) })
    const live = (await ask(url, partner, HERE)).body.access_token
    const dead = newToken(communityId)
    const answers = await Promise.all(Array.from({ length: FAILURES_PER_ADDRESS_MAX }, () => use(dead, HERE)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))

    expectThrottled(await use(dead, HERE))
    expectThrottled(await use('nonsense', HERE))
    expect((await use(dead, ELSEWHERE)).status).toBe(401)
    expect((await use(live, HERE)).status).toBe(200)
    // A partner whose token ended under load must get the next one from where it is.
    const next = await ask(url, partner, HERE)
    expect(next.status).toBe(200)
    expect((await use(next.body.access_token, HERE)).status).toBe(200)
  })
})

describe('with Redis', () => {
  test('all nodes count guesses together', async () => {
    const { bank, urls, redis } = await startTwoNodes(PATIENT)
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) {
      expect((await guess(urls[count % 2]!, bank.partner, HERE)).status).toBe(401)
    }
    for (const url of urls) expectThrottled(await ask(url, bank.partner, HERE))
    expect((await ask(urls[1], bank.partner, ELSEWHERE)).status).toBe(200)
    // Nothing stays behind for good.
    const lifetimes = await Promise.all((await redis.client.keys('*')).map((key) => redis.client.pttl(key)))
    expect(lifetimes.length).toBeGreaterThan(0)
    for (const lifetimeMs of lifetimes) expect(lifetimeMs > 0 && lifetimeMs <= 60_000).toBe(true)
  })

  test('all nodes count the calls of a partner together', async () => {
    const { bank, urls } = await startTwoNodes(PATIENT)
    const partner = await bank.addPartner({ rateLimitPerMinute: 5 })
    const token = await fetchToken(urls[0], partner)
    const statuses = []
    for (let count = 0; count < 6; count++)
      statuses.push((await callNode(urls[count % 2]!, '/users', { token })).status)
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
  })

  test.each(['kill', 'freeze'] as const)(
    'while Redis is away (%s), requests succeed, and each node counts in memory',
    async (failure) => {
      const { bank, urls, redis } = await startTwoNodes()
      const token = await fetchToken(urls[0], bank.partner)
      await redis[failure]()

      for (const url of urls) {
        expect(await inTime(callNode(url, '/users', { token }))).toBe(200)
        expect(await inTime(ask(url, bank.partner, HERE))).toBe(200)
      }
      const guesses = Array.from({ length: GUESSES_PER_CLIENT_MAX }, () => inTime(guess(urls[0], bank.partner, HERE)))
      expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]))
      expect(await inTime(ask(urls[0], bank.partner, HERE))).toBe(429)
    },
  )

  test.each([
    ['is full', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0'], /OOM|EXECABORT/],
    ['only reads', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one'], /READONLY/],
  ] as const)('a Redis that %s is logged once, and once more when it counts again', async (_, toBreak, toMend, why) => {
    const redis = await startRedis()
    const { log, entries } = captureLog('info')
    const { url, partner } = await startBank({
      config: { ...BEHIND_PROXY.config, redisUrl: redis.url },
      timeouts: PATIENT,
      log,
    })
    const logged = () => entries().filter(({ msg }) => msg.includes('Redis'))
    const call = (command: readonly string[]) => redis.client.call(command[0]!, ...command.slice(1))
    for (let outages = 1; outages <= 2; outages++) {
      await countsInRedis(redis, url, partner)
      await call(toBreak)
      for (let count = 0; count < 3; count++) expect((await ask(url, partner, HERE)).status).toBe(200)
      expect(logged()).toHaveLength(2 * outages - 1)
      expect(logged().at(-1)).toMatchObject({ level: 40, err: { message: expect.stringMatching(why) } })
      await call(toMend)
      await eventually(async () => {
        await ask(url, partner, HERE)
        return logged().length === 2 * outages
      })
      expect(logged().at(-1)).toMatchObject({ level: 30, msg: expect.stringContaining('again') })
    }
  })

  test('a Redis that cannot be reached is logged once', async () => {
    const errors: Error[] = []
    const unreachable = `redis://127.0.0.1:${await freePort()}`
    const counters = await openCounters(unreachable, PATIENT.redisMs, {
      onAway: (error) => errors.push(error),
      onBack: () => {},
    })
    onTestFinished(() => counters.close())
    const counter = counters.counter('test', 60)
    // Each is an attempt that fails, beside those to connect.
    for (let count = 1; count <= 3; count++) {
      expect(await counter.add('key')).toMatchObject({ count })
      expect(await counter.read('key')).toMatchObject({ count })
    }
    expect(errors).toHaveLength(1)
  })

  test('a process grants the whole limit while Redis counts, and its share while it counts itself', async () => {
    const redis = await startRedis()
    const config = { ...BEHIND_PROXY.config, redisUrl: redis.url, webConcurrency: 4 }
    const bank = await startBank({ config, timeouts: PATIENT })
    await countsInRedis(redis, bank.url, bank.partner)
    const token = await bank.token(undefined, await bank.addPartner({ rateLimitPerMinute: 8 }))
    const statuses = async (calls: number) => {
      const answers = []
      for (let count = 0; count < calls; count++) answers.push((await bank.call('/users', { token })).status)
      return answers
    }
    // The token was the first of eight calls.
    expect(await statuses(8)).toEqual([200, 200, 200, 200, 200, 200, 200, 429])
    await redis.kill()
    expect(await statuses(3)).toEqual([200, 200, 429])
  })

  test('Redis counts again once it is back', async () => {
    const { urls, redis, probe } = await startTwoNodes()
    redis.freeze()
    expect((await guess(urls[0], probe, ELSEWHERE)).status).toBe(401)
    redis.thaw()
    await redis.client.flushall()
    await countsInRedis(redis, urls[0], probe)
  })

  test('a node starts without Redis', async () => {
    const { url, partner } = await startBank({
      config: { ...BEHIND_PROXY.config, redisUrl: `redis://127.0.0.1:${await freePort()}` },
    })
    expect((await ask(url, partner, HERE)).status).toBe(200)
    for (let count = 0; count < GUESSES_PER_CLIENT_MAX; count++) await guess(url, partner, HERE)
    expectThrottled(await ask(url, partner, HERE))
  })
})
