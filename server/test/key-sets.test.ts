import { readFileSync } from 'node:fs'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { QueueFull } from '../src/core/work-queue.ts'
import { openKeySets } from '../src/http/partner/key-sets.ts'
import { eventually, startBank } from './bank.ts'
import { makeCertificate, RECEIVER_NAME } from './certificate.ts'
import { addJwksClient, assertionOf, newKey, present } from './key-clients.ts'
import { BEHIND_PROXY } from './oauth.ts'
import { resolveToLoopback } from './postman.ts'

const LIFETIME_MS = 5 * 60 * 1000
const FETCH_INTERVAL_MS = 10_000

let certificate: ReturnType<typeof makeCertificate> | undefined

/** A host of a key set, whose answer the test chooses, and the key sets of a node that trusts it. */
async function startHost(options: Partial<Parameters<typeof openKeySets>[0]> = {}) {
  const { key, cert, caFile } = (certificate ??= makeCertificate())
  const host = {
    url: '',
    fetches: 0,
    nowMs: 0,
    failures: [] as string[],
    answer: ((_request, response) => response.end('{"keys": []}')) as RequestListener,
    serve(...keys: object[]) {
      host.answer = (_request, response) => response.end(JSON.stringify({ keys }))
    },
  }
  const server = createServer({ key, cert }, (request, response) => {
    host.fetches += 1
    host.answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host.url = `https://${RECEIVER_NAME}:${(server.address() as AddressInfo).port}/keys`
  const keySets = openKeySets({
    resolve: resolveToLoopback,
    allowPrivateTargets: true,
    ca: readFileSync(caFile, 'utf8'),
    clock: () => host.nowMs,
    onFailure: (_url, reason) => host.failures.push(reason),
    ...options,
  })
  onTestFinished(async () => {
    await keySets.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { host, keySets }
}

describe('a client that publishes its keys', () => {
  test('gets tokens, and rotates to a new key without any notice', async () => {
    const { host, keySets } = await startHost()
    const bank = await startBank({ ...BEHIND_PROXY, keySets })
    const [old, next] = [await newKey(), await newKey('RS256')]
    const client = await addJwksClient(bank, host.url, old)
    const statusBy = async (key: typeof old, kid?: string) =>
      (await present(bank.url, await assertionOf(bank.url, client, { key, header: { ...(kid && { kid }) } }))).status

    host.serve({ ...old.jwk, kid: 'old' })
    expect([await statusBy(old, 'old'), await statusBy(old), await statusBy(next, 'next')]).toEqual([200, 200, 401])
    expect(host.fetches).toBe(1)

    host.serve({ ...old.jwk, kid: 'old' }, { ...next.jwk, kid: 'next' })
    host.nowMs += FETCH_INTERVAL_MS
    expect([await statusBy(next, 'next'), await statusBy(old, 'old')]).toEqual([200, 200])
    // The name of one key with the signature of the other.
    expect(await statusBy(old, 'next')).toBe(401)
    expect(host.fetches).toBe(2)

    host.serve({ ...next.jwk, kid: 'next' })
    host.nowMs += LIFETIME_MS
    expect([await statusBy(old, 'old'), await statusBy(next, 'next')]).toEqual([401, 200])
  })

  test('does not cause repeated fetches, even if others send assertions in its name', async () => {
    const { host, keySets } = await startHost()
    const key = await newKey()
    host.serve({ ...key.jwk, kid: 'one' })
    const ask = (kid: string) => keySets.find(host.url, kid)
    await Promise.all(Array.from({ length: 50 }, (_, n) => ask(`guess-${n}`)))
    expect(host.fetches).toBe(1)
    expect(await ask('one')).toHaveLength(1)
    for (let n = 0; n < 50; n++) await ask(`guess-${n}`)
    expect(host.fetches).toBe(1)
    host.nowMs += FETCH_INTERVAL_MS
    for (let n = 0; n < 50; n++) await ask(`guess-${n}`)
    expect(host.fetches).toBe(2)

    // Nor does a host that fails; the keys that are known live on until their time is over.
    host.answer = (_request, response) => response.writeHead(500).end()
    for (let round = 0; round < 3; round++) {
      host.nowMs += FETCH_INTERVAL_MS
      for (let n = 0; n < 10; n++) await ask('unknown')
    }
    expect(host.fetches).toBe(5)
    expect(await ask('one')).toHaveLength(1)
    host.nowMs += LIFETIME_MS
    expect(await ask('one')).toEqual([])
  })
})

describe('a hostile key set', () => {
  const HOSTILE: Record<string, [answer: RequestListener, reason: RegExp]> = {
    'a redirect': [(_, response) => response.writeHead(302, { location: '/other' }).end(), /answered 302/],
    'an error': [(_, response) => response.writeHead(503).end('{"keys": []}'), /answered 503/],
    'no JSON': [(_, response) => response.end('<html>'), /not JSON/],
    'no set': [(_, response) => response.end('[]'), /not a JWK Set/],
    nothing: [(_, response) => response.end('null'), /not a JWK Set/],
    'no array': [(_, response) => response.end('{"keys": {}}'), /not a JWK Set/],
    'an endless answer': [
      (_, response) => {
        response.write('{"keys": []}')
        const more = () => void (response.destroyed || (response.write(' '.repeat(16_384)), setImmediate(more)))
        more()
      },
      /more than 65536 bytes/,
    ],
    'a connection that breaks': [(_, response) => response.destroy(), /./],
  }
  test.each(Object.entries(HOSTILE))('%s yields no keys', async (_name, [answer, reason]) => {
    const { host, keySets } = await startHost()
    host.answer = answer
    expect(await keySets.find(host.url, undefined)).toEqual([])
    expect(host.failures).toEqual([expect.stringMatching(reason)])
    expect(host.fetches).toBe(1)
  })

  test('that does not answer is given up', async () => {
    const { host, keySets } = await startHost({ timeoutMs: 50 })
    host.answer = () => {}
    expect(await keySets.find(host.url, undefined)).toEqual([])
    expect(host.failures).toEqual([expect.stringContaining('no answer within')])
  })

  test('that stalls in the middle is given up', async () => {
    const { host, keySets } = await startHost({ timeoutMs: 5000 })
    host.answer = (_request, response) => void response.write('{"keys": [')
    expect(await keySets.find(host.url, undefined)).toEqual([])
    expect(host.failures).toEqual(['the answer is not JSON'])
  })

  test('on a private address is never reached, by name or by number', async () => {
    const { host, keySets } = await startHost({ allowPrivateTargets: false })
    expect(await keySets.find(host.url, undefined)).toEqual([])
    const byNumber = host.url.replace(RECEIVER_NAME, '127.0.0.1')
    expect(await keySets.find(byNumber, undefined)).toEqual([])
    expect(host.failures).toEqual([
      expect.stringContaining('leads to an address that is not public'),
      '127.0.0.1 is not a public address',
    ])
    expect(host.fetches).toBe(0)
  })

  test('is searched for usable keys only', async () => {
    const { host, keySets } = await startHost()
    const [good, weak] = [await newKey(), { kty: 'RSA', e: 'AQAB', n: Buffer.alloc(128, 255).toString('base64url') }]
    const slow = {
      kty: 'RSA',
      e: Buffer.alloc(200, 255).toString('base64url'),
      n: Buffer.alloc(256, 255).toString('base64url'),
    }
    host.serve(
      weak,
      slow,
      { kty: 'oct', k: 'c2VjcmV0' },
      { ...good.jwk, use: 'enc' },
      { ...good.jwk, d: good.jwk.x },
      { ...good.jwk, kid: 7 },
      { ...good.jwk, alg: 'HS256' },
      { ...good.jwk, crv: 'P-384' },
      null as never,
      { ...good.jwk, kid: 'good', surplus: 'left out' },
    )
    expect(await keySets.find(host.url, undefined)).toEqual([{ ...good.jwk, kid: 'good' }])
  })
})

test('few calls wait for slow hosts at a time, and the others are rejected at once', async () => {
  const { host, keySets } = await startHost()
  const unanswered: ServerResponse[] = []
  host.answer = (_request, response) => void unanswered.push(response)
  const calls = Array.from({ length: 70 }, () => keySets.find(host.url, undefined))
  const outcomes = Promise.allSettled(calls)
  await expect(calls.at(-1)).rejects.toThrow(QueueFull)
  await eventually(() => unanswered.length === 1)
  unanswered[0]!.end('{"keys": []}')
  expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toHaveLength(64)
  // Those that waited have left.
  host.nowMs += FETCH_INTERVAL_MS
  host.serve()
  expect(await keySets.find(host.url, undefined)).toEqual([])
})
