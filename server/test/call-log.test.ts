import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { switchPartnerApi } from '../src/features/communities/switch-partner-api.ts'
import { insertCalls } from '../src/postgres/across-communities.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { createCallBatch, type Call } from '../src/http/partner/call-groups.ts'
import { openCallLog, type CallLog } from '../src/http/partner/call-log.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { createMetrics } from '../src/http/shared/metrics.ts'
import { newClientId, newToken } from '../src/crypto/secrets.ts'
import { eventually, startBank, TESTER, type Answer, type Bank } from './bank.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { lockTable } from './lock-table.ts'

const SILENT = pino({ level: 'silent' })
/** A call's time is its end less its duration, in whole milliseconds. */
const ROUNDING_MS = 2

interface LoggedCall {
  community_id: number
  request_id: string
  partner_id: number | null
  client_id: number | null
  method: string
  path: string
  route: string | null
  status: number
  error: string | null
  error_description: string | null
  duration_ms: number
  address: string | null
  user_agent: string | null
}

async function loggedCall(sql: Sql, answer: Answer): Promise<LoggedCall> {
  const requestId = answer.headers.get('request-id')!
  return eventually(async () => {
    const [row] = await sql<LoggedCall[]>`
      select community_id, request_id, partner_id, client_id, method, path, route, status, error, error_description,
        duration_ms, host(address) as address, user_agent
      from call_log where request_id = ${requestId}`
    return row
  })
}

async function countCalls(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*)::int4 as count from call_log`
  return row.count
}

async function idOfClient({ sql, communityId }: Bank, publicId: string): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    select id from clients where community_id = ${communityId} and public_id = ${publicId}`
  return row.id
}

/** A call log of its own, on a real database, without an app in front. */
function openTestLog(databaseUrl: string) {
  const statements: string[] = []
  const sql = connect(databaseUrl, {
    connectionsMax: 2,
    name: 'test call log',
    onStatement: (text) => statements.push(text),
  })
  const metrics = createMetrics()
  const callLog = openCallLog(sql, SILENT, metrics.callsDropped)
  onTestFinished(async () => {
    await callLog.close()
    await sql.end({ timeoutMs: 1000 })
  })
  return {
    callLog,
    metrics,
    sql,
    inserts: () => statements.filter((text) => text.includes('insert into call_groups')).length,
  }
}

function addCalls(callLog: Pick<CallLog, 'add'>, communityId: number, count: number, change: Partial<Call> = {}): void {
  for (let n = 0; n < count; n++) {
    callLog.add({
      atMs: Date.now(),
      requestId: crypto.randomUUID(),
      communityId,
      partnerId: undefined,
      clientId: undefined,
      method: 'GET',
      path: '/',
      route: undefined,
      status: 200,
      error: undefined,
      errorDescription: undefined,
      durationMs: 1,
      address: '192.0.2.1',
      userAgent: undefined,
      ...change,
    })
  }
}

const dropped = async (metrics: ReturnType<typeof createMetrics>) =>
  Number(/^hourbank_call_log_dropped_total (\d+)$/m.exec(await metrics.registry.metrics())?.[1])

test('every call of a partner is logged with its outcome, including rejected ones', async () => {
  const bank = await startBank()
  const { sql, communityId, partner } = bank
  const token = await bank.token('users.read')
  const narrow = await bank.token('listings.read')
  const client_id = await idOfClient(bank, partner.clientId)
  const credentials = { client_id: partner.clientId, client_secret: partner.clientSecret }
  const revoked = await bank.token()
  await bank.call('/oauth/revoke', { body: { ...credentials, token: revoked } })
  const busy = await bank.addPartner({ rateLimitPerMinute: 1 })
  const busyToken = await bank.token(undefined, busy)

  const users = `${API_PREFIX}/users`
  const ofPartner = { partner_id: partner.partnerId, client_id }
  const ofNobody = { partner_id: null, client_id: null }
  const get = { method: 'GET', path: users, route: users }
  const postToken = { method: 'POST', path: `${API_PREFIX}/oauth/token`, route: `${API_PREFIX}/oauth/token` }
  const askToken = (body: object) => bank.call('/oauth/token', { body: { grant_type: 'client_credentials', ...body } })
  const expected: [answer: Answer, logged: Partial<LoggedCall>][] = [
    [await bank.call('/users?limit=5', { token }), { ...ofPartner, ...get, status: 200, error: null }],
    [
      await bank.call('/users', { token, headers: { 'if-none-match': '*' } }),
      { ...ofPartner, ...get, status: 304, error: null },
    ],
    [await bank.call('/users', { token: revoked }), { ...ofPartner, ...get, status: 401, error: 'invalid_token' }],
    [
      await bank.call('/users', { token: newToken(communityId) }),
      { ...ofNobody, ...get, status: 401, error: 'invalid_token' },
    ],
    [await bank.call('/users', { token: narrow }), { ...ofPartner, ...get, status: 403, error: 'insufficient_scope' }],
    [
      await bank.call('/nope?a=b', { token }),
      { ...ofPartner, method: 'GET', path: `${API_PREFIX}/nope`, route: null, status: 404, error: 'not_found' },
    ],
    [
      await bank.call('/users', { token, method: 'DELETE' }),
      { ...ofPartner, ...get, method: 'DELETE', status: 405, error: 'method_not_allowed' },
    ],
    [await bank.call('/users?limit=0', { token }), { ...ofPartner, ...get, status: 422, error: 'validation_failed' }],
    [await bank.call('/users?limit=%zz', { token }), { ...ofPartner, ...get, status: 400, error: 'invalid_request' }],
    [
      await bank.call('/users', { token: busyToken }),
      { partner_id: busy.partnerId, ...get, status: 429, error: 'rate_limited' },
    ],
    [await askToken(credentials), { ...ofPartner, ...postToken, status: 200, error: null }],
    [
      await askToken({ ...credentials, client_secret: 'wrong' }),
      { ...ofPartner, ...postToken, status: 401, error: 'invalid_client' },
    ],
    [
      await askToken({ client_id: newClientId(communityId), client_secret: 'wrong' }),
      { ...ofNobody, ...postToken, status: 401, error: 'invalid_client' },
    ],
  ]
  for (const [answer, logged] of expected) {
    expect(answer.status).toBe(logged.status)
    const row = await loggedCall(sql, answer)
    expect(row).toMatchObject({ community_id: communityId, ...logged })
    expect(row.error_description).toBe(answer.body?.error_description ?? null)
  }

  await switchPartnerApi(sql, TESTER, communityId, { enabled: false, reason: 'test' })
  const off = await eventually(async () => {
    const answer = await bank.call('/users', { token })
    return answer.status === 503 && answer
  })
  expect(await loggedCall(sql, off)).toMatchObject({ ...ofPartner, ...get, status: 503, error: 'partner_api_disabled' })
})

test('a call is logged with its time, duration, address and user agent, whatever their values', async () => {
  const bank = await startBank({ config: { trustProxy: ['127.0.0.1'] } })
  const token = await bank.token()
  const call = (headers: Record<string, string>) => bank.call('/users', { token, headers })
  const from = async (address: string) =>
    (await loggedCall(bank.sql, await call({ 'x-forwarded-for': address }))).address

  const startedAtMs = Date.now()
  const answer = await call({ 'user-agent': 'agent/1.0' })
  const answeredAtMs = Date.now()
  const row = await loggedCall(bank.sql, answer)
  expect(row).toMatchObject({ user_agent: 'agent/1.0', address: '127.0.0.1' })
  expect(row.duration_ms).toBeGreaterThan(0)
  expect(row.duration_ms).toBeLessThan(Date.now() - startedAtMs + 1)
  const [{ ms }] = await bank.sql<[{ ms: number }]>`
    select (extract(epoch from at) * 1000)::float8 as ms from call_log where request_id = ${row.request_id}`
  expect(ms).toBeGreaterThanOrEqual(startedAtMs - ROUNDING_MS)
  expect(ms).toBeLessThanOrEqual(answeredAtMs + ROUNDING_MS)

  expect(await from('192.0.2.7')).toBe('192.0.2.7')
  expect(await from('2001:db8::7')).toBe('2001:db8::7')
  // Not every proxy forwards an address alone; such calls are logged all the same.
  expect(await from('192.0.2.7:4711')).toBeNull()
  expect(await from('unknown')).toBeNull()
  expect(await from('fe80::1%eth0')).toBe('fe80::1')
  expect(
    (await loggedCall(bank.sql, await call({ 'user-agent': `\u00e9${'x'.repeat(5000)}` }))).user_agent,
  ).toHaveLength(500)
})

test('the call log contains no query, token or secret', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const { clientId, clientSecret } = bank.partner
  const basic = { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` }
  await loggedCall(bank.sql, await bank.call('/users?q=private', { token }))
  await loggedCall(bank.sql, await bank.call('/nope?access_token=private', { token }))
  await loggedCall(
    bank.sql,
    await bank.call('/oauth/token', { body: { grant_type: 'client_credentials' }, headers: basic }),
  )
  const unknown = newToken(bank.communityId)
  await loggedCall(bank.sql, await bank.call('/users', { token: unknown }))
  const rows = await bank.sql<{ row: string }[]>`select call_groups::text as row from call_groups`
  const text = rows.map(({ row }) => row).join('\n')
  expect(rows.length).toBeGreaterThanOrEqual(4)
  for (const secret of ['?', 'private', token, unknown, clientSecret, 'hbt_', 'hbs_'])
    expect(text).not.toContain(secret)
})

test('last use of a client is recorded, but not for failed attempts', async () => {
  const bank = await startBank()
  const { clientId: client_id, clientSecret: client_secret } = bank.partner
  const lastUsed = async () => {
    const [row] = await bank.sql<{ last_used_at: unknown }[]>`
      select last_used_at from clients where community_id = ${bank.communityId} and public_id = ${client_id}`
    return row!.last_used_at
  }
  const ask = (secret: string) =>
    bank.call('/oauth/token', { body: { grant_type: 'client_credentials', client_id, client_secret: secret } })
  await loggedCall(bank.sql, await ask('wrong'))
  expect(await lastUsed()).toBeNull()
  await loggedCall(bank.sql, await ask(client_secret))
  expect(await lastUsed()).not.toBeNull()
})

test('each community sees its own calls, and a community that does not exist gets none', async () => {
  const bank = await startBank()
  const otherId = await bank.addCommunity('village')
  const other = await bank.addPartner({}, otherId)
  const [here, there] = [await bank.token(), await bank.token(undefined, other)]
  const nowhere = await bank.call('/users', { token: newToken(987_654_321) })
  const [ours, theirs] = [await bank.call('/users', { token: here }), await bank.call('/users', { token: there })]
  expect(await loggedCall(bank.sql, ours)).toMatchObject({
    community_id: bank.communityId,
    partner_id: bank.partner.partnerId,
  })
  expect(await loggedCall(bank.sql, theirs)).toMatchObject({ community_id: otherId, partner_id: other.partnerId })
  const rows = await bank.sql`select from call_log where request_id = ${nowhere.headers.get('request-id')}`
  expect(rows).toHaveLength(0)
})

test('calls made just before shutdown are logged before the service ends', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const before = 1
  const answers = await Promise.all(Array.from({ length: 50 }, () => bank.call('/users', { token })))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  await bank.node.close()
  expect(await countCalls(bank.sql)).toBe(before + 50)
})

test('a call log that cannot be written delays no request and loses nothing', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const lock = await lockTable(bank.sql, 'call_groups')
  const answers = await Promise.all(Array.from({ length: 50 }, () => bank.call('/users', { token })))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  await lock.awaited()
  await lock.release()
  for (const answer of answers) await loggedCall(bank.sql, answer)
})

test('calls are written many at a time', async () => {
  const bank = await startBank()
  const { callLog, inserts } = openTestLog(bank.databaseUrl)
  addCalls(callLog, bank.communityId, 2500)
  await callLog.close()
  expect(await countCalls(bank.sql)).toBe(2500)
  expect(inserts()).toBe(3)
})

test('a call that arrives while others are written waits for the next batch', async () => {
  const bank = await startBank()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { callLog, inserts } = openTestLog(bank.databaseUrl)
  const lock = await lockTable(bank.sql, 'call_groups')
  addCalls(callLog, bank.communityId, 1)
  vi.advanceTimersToNextTimer()
  await lock.awaited()
  addCalls(callLog, bank.communityId, 1)
  await lock.release()
  await eventually(async () => (await countCalls(bank.sql)) === 1)
  for (let n = 0; n < 50; n++) await bank.sql`select`
  expect(inserts()).toBe(1)
  vi.advanceTimersToNextTimer()
  await eventually(async () => (await countCalls(bank.sql)) === 2)
})

test('while the database is away, calls are queued up to a limit; further ones are dropped and counted', async () => {
  const bank = await startBank()
  const proxy = await startFlakyProxy(bank.databaseUrl)
  const { callLog, metrics } = openTestLog(proxy.url)
  proxy.cut()
  addCalls(callLog, bank.communityId, 50_007)
  expect(await dropped(metrics)).toBe(7)
  proxy.restore()
  await eventually(async () => (await countCalls(bank.sql)) === 50_000)
  expect(await dropped(metrics)).toBe(7)
})

test('a batch whose confirmation was lost is not written twice', async () => {
  const { sql, communityId } = await startBank()
  const batch = createCallBatch()
  addCalls(batch, communityId, 3)
  addCalls(batch, communityId, 2, { status: 404, error: 'not_found' })
  await insertCalls(sql, batch.groups, { isRetry: false })
  await insertCalls(sql, batch.groups, { isRetry: true })
  expect(await countCalls(sql)).toBe(5)
})

test('only the calls that the database rejects are dropped, and they are counted', async () => {
  const bank = await startBank()
  const { callLog, metrics } = openTestLog(bank.databaseUrl)
  addCalls(callLog, bank.communityId, 3)
  addCalls(callLog, bank.communityId, 1, { address: 'nonsense' })
  addCalls(callLog, bank.communityId, 3)
  await callLog.close()
  expect(await countCalls(bank.sql)).toBe(6)
  expect(await dropped(metrics)).toBe(1)
})
