import { expect, test } from 'vitest'
import type { HourbankOptions } from '../../client/src/index.ts'
import { clientFor, CREDIT, errorOf, json, refuse, startHostile } from './hostile-client.ts'

const AWAY = { name: 'TypeError', message: 'fetch failed' }
const TWO_MINUTES_MS = 120_000
/** The longest pause; one that would end too late is not begun. */
const PAUSE_MS_MAX = 10_000

/** A client with the defaults of an application, and a service that is away for a while of the client's clock. */
async function startAway(awayMs: number, options: Partial<HourbankOptions> = {}) {
  const hostile = await startHostile()
  hostile.answer = (response) => json(response, 201, { data: { ...CREDIT, replayed: false } })
  let attempts = 0
  const started = clientFor(hostile, {
    retries: undefined,
    timeoutMs: undefined,
    random: Math.random,
    fetch: (url, init) => {
      attempts += 1
      if (started.clock.ms < backAt) throw Object.assign(new TypeError(), AWAY)
      return fetch(url, init)
    },
    ...options,
  })
  const begun = started.clock.ms
  const backAt = begun + awayMs
  return { ...started, hostile, attempts: () => attempts, elapsedMs: () => started.clock.ms - begun }
}

test('by default, a credit survives a service that is away for 100 seconds, its token included', async () => {
  const { client, hostile, attempts, elapsedMs } = await startAway(100_000)
  expect(await client.wallet.credit(CREDIT)).toMatchObject({ reference: 'tx-1' })
  expect(elapsedMs()).toBeGreaterThanOrEqual(100_000)
  expect(hostile.asked()).toHaveLength(1)
  // Far fewer than if it were asked without pauses, and enough to notice soon that it is back.
  expect(attempts()).toBeGreaterThan(10)
  expect(attempts()).toBeLessThan(200)
})

test('a service that stays away is reported after two minutes', async () => {
  const { client, elapsedMs } = await startAway(Infinity)
  expect(await errorOf(client.wallet.credit(CREDIT))).toMatchObject({ kind: 'network' })
  expect(elapsedMs()).toBeLessThanOrEqual(TWO_MINUTES_MS)
  expect(elapsedMs()).toBeGreaterThan(TWO_MINUTES_MS - PAUSE_MS_MAX)
})

test('a service that restarts between token and credit is waited for, too', async () => {
  const { client, clock, elapsedMs, hostile } = await startAway(0)
  await client.wallet.credit(CREDIT)
  const backAt = clock.ms + 100_000
  hostile.answer = (response) => {
    if (clock.ms < backAt) refuse(response, 503, 'unavailable', { 'retry-after': '5' })
    else json(response, 200, { data: { ...CREDIT, replayed: true } })
  }
  expect(await client.wallet.credit(CREDIT)).toMatchObject({ replayed: true })
  expect(elapsedMs()).toBeGreaterThanOrEqual(100_000)
  expect(clock.waits.every((ms) => ms >= 5_000)).toBe(true)
  expect(hostile.tokensAsked()).toBe(1)
})

test('a call that joins others in waiting for a token has two minutes of its own', async () => {
  let pauses = 0
  const { client, clock, hostile } = await startAway(150_000, {
    random: () => 0.999,
    wait: async (ms) => {
      clock.ms += ms
      pauses += 1
      // After about a minute, while the token is still being asked for.
      if (pauses === 9) late ??= client.wallet.credit(CREDIT)
    },
  })
  let late: Promise<unknown> | undefined
  await errorOf(client.wallet.credit(CREDIT))
  expect(await late).toMatchObject({ reference: 'tx-1' })
  expect(hostile.asked()).toHaveLength(1)
})

test('without luck in the choice of pauses, retries are still apart and end', async () => {
  const { client, clock } = await startAway(Infinity, { random: () => 0 })
  expect(await errorOf(client.wallet.credit(CREDIT, { totalTimeoutMs: 1_000 }))).toMatchObject({ kind: 'network' })
  expect(Math.min(...clock.waits)).toBeGreaterThan(0)
})
