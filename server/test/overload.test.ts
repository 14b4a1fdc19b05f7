import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { isCacheTrusted } from './access-calls.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { lockTable } from './lock-table.ts'

const CALLS_MAX = 5
/** Longer than any of these calls waits, even on a slow machine. */
const HANDLER_MS = 60_000
const LIMITED = { timeouts: { callsInFlightMax: CALLS_MAX, handlerMs: HANDLER_MS } }

async function startWithMember(bank: Bank) {
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  // From now on the token is known without the database; a node that has just started keeps none yet.
  await eventually(() => isCacheTrusted(bank.url))
  expect((await bank.call('/users', { token })).status).toBe(200)
  const credit = (reference: string) =>
    bank.call('/wallet/credit', { token, body: { user_id: member.id, hours: 1, reference } })
  return { token, credit }
}

/** A connection that sends this and then nothing. */
async function hold(bank: Bank, text: string) {
  const socket = connect({ port: bank.config.port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve) => socket.write(text, () => resolve()))
  return socket
}

/** Several calls that ask to be told when the node has begun with them, so that no later call can overtake one. */
async function holdAll(bank: Bank, head: string) {
  const text = `${head}Expect: 100-continue\r\n\r\n`
  const sockets = await Promise.all(Array.from({ length: CALLS_MAX }, () => hold(bank, text)))
  for (const socket of sockets) expect(`${await once(socket, 'data')}`).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  return sockets
}

test('calls beyond the limit get 503 at once, those in flight are answered, and then others are too', async () => {
  const { log, entries } = captureLog('warn')
  const bank = await startBank({ ...LIMITED, log })
  const { token, credit } = await startWithMember(bank)
  const lock = await lockTable(bank.sql, 'transfers')
  const admitted = Array.from({ length: CALLS_MAX }, (_, n) => credit(`admitted-${n}`))
  const rejected = await eventually(async () => {
    const { status, body, headers } = await bank.call('/oauth/token', { body: { grant_type: 'none' } })
    return status === 503 ? { body, headers } : undefined
  })
  expect(rejected.body).toEqual({
    error: 'overloaded',
    error_description: 'The service is overloaded; try again shortly.',
    request_id: rejected.headers.get('request-id'),
  })
  expect(Object.fromEntries(rejected.headers)).toMatchObject({
    'retry-after': '5',
    'api-version': '2.0',
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
  })
  expect((await bank.call('/users', { token })).status).toBe(503)
  expect((await credit('rejected')).status).toBe(503)
  // The same address in other letters.
  const disguised = await fetch(`${bank.url}/%61pi/partner/v1/users`, { headers: { authorization: `Bearer ${token}` } })
  expect([disguised.status, disguised.headers.get('retry-after')]).toEqual([503, '5'])
  expect((await fetch(`${bank.url}/healthz`)).status).toBe(200)
  expect(entries()).toContainEqual(expect.objectContaining({ code: 'overloaded', callsMax: CALLS_MAX, rejected: 1 }))
  const { body: metrics } = await bank.call('/metrics')
  expect(metrics).toContain('hourbank_request_duration_seconds_count{method="GET",route="none",status="503"} 1\n')

  await lock.release()
  expect((await Promise.all(admitted)).map(({ status }) => status)).toEqual(admitted.map(() => 201))
  expect((await credit('rejected')).status).toBe(201)
})

test('clients that send no body do not use up the limit', async () => {
  const bank = await startBank(LIMITED)
  const { token, credit } = await startWithMember(bank)
  const head = `POST /api/partner/v1/wallet/credit HTTP/1.1\r\nHost: ${new URL(bank.url).host}\r\n`
  const slow = `${head}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n`
  await holdAll(bank, slow)
  expect((await credit('beside')).status).toBe(201)
})

test('of calls whose bodies arrive together, those beyond the limit get 503 and share a line of the log', async () => {
  const { log, entries } = captureLog('warn')
  const bank = await startBank({ ...LIMITED, log })
  const { token } = await startWithMember(bank)
  const [{ id }] = await bank.sql<[{ id: number }]>`select id from members`
  const bodyOf = (n: number) => JSON.stringify({ user_id: id, hours: 1, reference: `together-${n}` })
  const head = `POST /api/partner/v1/wallet/credit HTTP/1.1\r\nHost: ${new URL(bank.url).host}\r\n`
  const slow = `${head}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${bodyOf(0).length}\r\n`
  const sockets = [...(await holdAll(bank, slow)), ...(await holdAll(bank, slow))]
  const statuses = sockets.map(async (socket) => `${await once(socket, 'data')}`.slice(9, 12))
  const lock = await lockTable(bank.sql, 'transfers')
  sockets.forEach((socket, n) => socket.write(bodyOf(n)))
  await eventually(async () => (await bank.call('/wallet/credits', { token })).status === 503)
  await lock.release()
  expect((await Promise.all(statuses)).toSorted()).toEqual([
    ...Array.from({ length: CALLS_MAX }, () => '201'),
    ...Array.from({ length: CALLS_MAX }, () => '503'),
  ])
  const [first, ...others] = entries().filter(({ code }) => code === 'overloaded')
  expect(first).toMatchObject({ rejected: 1, callsMax: CALLS_MAX })
  // On a slow machine the second line may follow after a second, but there is never one for a single call.
  for (const other of others) expect(other).toMatchObject({ rejected: expect.any(Number) })
})

test('a client that disconnects gives up its place, at any point of its call', async () => {
  const bank = await startBank(LIMITED)
  const { token, credit } = await startWithMember(bank)
  const get = (bearer: string) =>
    `GET /api/partner/v1/users HTTP/1.1\r\nHost: ${new URL(bank.url).host}\r\nAuthorization: Bearer ${bearer}\r\n`
  const unknown = await bank.token()

  const [tokens, members] = [await lockTable(bank.sql, 'tokens'), await lockTable(bank.sql, 'members')]
  const authenticating = await holdAll(bank, get(unknown))
  await tokens.awaited()
  const reading = await holdAll(bank, get(token))
  await members.awaited()
  // Needs no token, which may no longer be known without the database.
  const probe = async () => (await bank.call('/oauth/token', { body: { grant_type: 'none' } })).status
  // The node has begun with all of them, but may not have counted the last ones yet.
  await eventually(async () => (await probe()) === 503)
  for (const socket of [...authenticating, ...reading]) socket.destroy()
  await eventually(async () => (await probe()) !== 503)
  await tokens.release()
  await members.release()
  expect((await bank.call('/users', { token: unknown })).status).toBe(200)
  expect((await credit('after')).status).toBe(201)
})
