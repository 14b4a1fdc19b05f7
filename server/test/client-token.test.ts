import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type HourbankOptions } from '../../client/src/index.ts'
import {
  CREDIT,
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
  hundred,
} from './hostile-client.ts'

const POLL = { timeout: 60_000 }

describe('the token', () => {
  test('is renewed once when a hundred concurrent calls find it revoked', async () => {
    const { hostile, client } = await start()
    hostile.answer = (response, { token }) =>
      token === 'token-1' ? refuse(response, 401, 'invalid_token') : json(response, 200, page())
    const outcomes = await hundred(() => client.users.list())
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(hostile.tokensAsked()).toBe(2)
    expect(hostile.asked()).toHaveLength(200)
  })

  test('is renewed once per call if it is always rejected, and then the error is reported', async () => {
    const { hostile, client, clock } = await start()
    hostile.answer = (response) => refuse(response, 401, 'invalid_token')
    expect(await errorOf(client.wallet.credit(CREDIT))).toMatchObject({ status: 401, code: 'invalid_token' })
    expect(hostile.asked()).toHaveLength(2)
    expect(hostile.tokensAsked()).toBe(2)
    expect(clock.waits).toEqual([])
  })

  test('is requested, with retries, by one call for all', async () => {
    const { hostile, client } = await start()
    const issue = hostile.answerToken
    hostile.answerToken = (response, call, request) =>
      hostile.tokensAsked() <= 2 ? refuse(response, 503, 'unavailable') : issue(response, call, request)
    const outcomes = await hundred(() => client.users.list())
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(hostile.tokensAsked()).toBe(3)
    expect(hostile.asked()).toHaveLength(100)
  })

  test.each(LOSS_NAMES)('is requested by one call for all, and not forever, if unavailable: %s', async (loss) => {
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

  test('is renewed before it expires, and used until the renewal succeeds', async () => {
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
    await expect.poll(() => hostile.tokensAsked(), POLL).toBe(2)
    hostile.answerToken = issue
    await expect.poll(tokenOfCall, POLL).toBe('token-2')
    expect(hostile.tokensAsked()).toBe(3)

    // Past its end.
    clock.ms += 3_600_000
    expect(await tokenOfCall()).toBe('token-3')
    expect(hostile.tokensAsked()).toBe(4)
  })

  test('is used more than once even if it expires after seconds', async () => {
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

  test('is requested again if its request was lost, as when a runtime sleeps', async () => {
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

  test('is not waited for on close, and an earlier one is revoked', async () => {
    const { hostile, client, clock } = await start()
    const issue = hostile.answerToken
    hostile.answerToken = () => undefined
    const waiting = errorOf(client.users.list())
    await expect.poll(() => hostile.tokensAsked(), POLL).toBe(1)
    await client.close()
    expect(await waiting).toMatchObject({ kind: 'closed' })

    const { client: other } = clientFor(hostile, { now: () => clock.ms })
    hostile.answerToken = issue
    await other.users.list()
    clock.ms += 3_500_000
    hostile.answerToken = (response, { path }) => path === '/oauth/revoke' && json(response, 200, {})
    await other.users.list()
    await expect.poll(() => hostile.tokensAsked(), POLL).toBe(3)
    await other.close()
    expect(hostile.calls.at(-1)).toMatchObject({ path: '/oauth/revoke', body: expect.stringContaining('token-1') })
  })

  test('is not used if it is invalid', async () => {
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
