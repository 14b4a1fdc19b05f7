import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { Hourbank, HourbankError, type HourbankOptions } from '../../client/src/index.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'

export const SECRET = 'hbs_a-client-secret-that-must-not-be-told'

/** Long, so that a busy machine does not make a test of something else fail; short where the end of it is awaited. */
const TIMEOUT_MS = 20_000

export const SHORT_TIMEOUT_MS = 60

export const RETRIES = 5

export const CREDIT = { user_id: 42, hours: 1.5, reference: 'tx-1' }

interface Call {
  method: string
  path: string
  token: string | undefined
  body: string
}

export type Answer = (response: ServerResponse, call: Call, request: IncomingMessage) => void

/** A server that does what the test tells it, and writes down what it is sent. */
export async function startHostile() {
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
export function clientFor({ url }: { url: string }, options: Partial<HourbankOptions> = {}) {
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

export async function start(options?: Partial<HourbankOptions>) {
  const hostile = await startHostile()
  return { hostile, ...clientFor(hostile, options) }
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body))
}

export function refuse(response: ServerResponse, status: number, error: string, headers: Record<string, string> = {}) {
  json(response, status, { error, error_description: 'No.', request_id: 'r-1' }, headers)
}

export function page(data: unknown[] = [], next_cursor: string | null = null) {
  return { data, meta: { limit: 25, has_more: next_cursor !== null, next_cursor } }
}

export async function errorOf(call: Promise<unknown>): Promise<HourbankError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(HourbankError)
  return error as HourbankError
}

/** All the ways in which an answer gets lost, and what a caller is told in the end. */
export const LOSSES: Record<string, { lose: Answer; told: object }> = {
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

export const LOSS_NAMES = Object.keys(LOSSES)

export const isHanging = (loss: string) => 'kind' in LOSSES[loss]!.told && LOSSES[loss]!.told.kind === 'timeout'

export const timeoutFor = (loss: string) => ({ timeoutMs: isHanging(loss) ? SHORT_TIMEOUT_MS : TIMEOUT_MS })

export function hundred<T>(call: () => Promise<T>) {
  return Promise.allSettled(Array.from({ length: 100 }, call))
}
