import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../client/src/index.ts'
import {
  SECRET,
  CREDIT,
  type Answer,
  startHostile,
  clientFor,
  start,
  json,
  refuse,
  page,
  errorOf,
  LOSSES,
} from './hostile-client.ts'

describe('a caller that aborts', () => {
  test('ends a call before it begins', async () => {
    const { hostile, client } = await start()
    const error = await errorOf(client.users.list({}, { signal: AbortSignal.abort('enough') }))
    expect(error).toMatchObject({ kind: 'aborted', cause: 'enough' })
    expect(hostile.calls).toEqual([])
  })

  test('ends a call that waits for its response or reads it, and it is not sent again', async () => {
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

  test('ends a pause between two attempts', async () => {
    const controller = new AbortController()
    const { hostile, client } = await start({ wait: undefined, random: () => 0.999 })
    hostile.answer = (response) => {
      refuse(response, 503, 'unavailable', { 'retry-after': '60' })
      response.on('finish', () => setImmediate(() => controller.abort()))
    }
    expect(await errorOf(client.users.list({}, { signal: controller.signal }))).toMatchObject({ kind: 'aborted' })
    expect(hostile.asked()).toHaveLength(1)
  })

  test('does not abort the token request for other callers', async () => {
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

  test('may use one signal for many calls: it gets one listener, only while they last', async () => {
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

describe('a hostile server', () => {
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

  test('gets an error for a response of another shape', async () => {
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

  test('does not delay close if it cannot be reached', async () => {
    const { hostile, client } = await start({ retries: 1 })
    await client.users.list()
    hostile.answerToken = (_response, _call, request) => request.socket.destroy()
    await client.close()
    const { client: other } = await start({ retries: 1 })
    await other.revokeToken()
    expect(hostile.calls.filter(({ path }) => path === '/oauth/revoke')).toHaveLength(2)
  })
})
