import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { createAdmin } from '../src/features/admins/create-admin.ts'
import { connect } from '../src/postgres/connect.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { newToken } from '../src/crypto/secrets.ts'
import { callNode, eventually, startBank, startTestNode, TESTER } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { isCluster } from './citus-nodes.ts'
import { newDatabase, newEmptyDatabase } from './database.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { lockTable } from './lock-table.ts'
import { sendBytes, sendPlain } from './raw-http.ts'

/** As long as a client may keep an idle connection, unless the service ends. */
const KEEP_ALIVE_MS = 72_000
const EMAIL = 'ada.lovelace+hours@example.org'

test('the liveness probe succeeds without a database; the readiness probe needs one', async () => {
  const proxy = await startFlakyProxy(await newDatabase())
  const bank = await startBank({ databaseUrl: proxy.url })
  expect(await bank.call('/readyz')).toMatchObject({ status: 200, body: { status: 'ok' } })

  proxy.cut()
  const away = await eventually(async () => {
    const answer = await bank.call('/readyz')
    return answer.status === 503 && answer
  })
  expect(away.body).toEqual({ status: 'unavailable', reason: 'The database cannot be reached.' })
  expect(await bank.call('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })

  proxy.restore()
  await eventually(async () => (await bank.call('/readyz')).status === 200)
  proxy.freeze()
  expect((await bank.call('/readyz')).status).toBe(503)
  expect((await bank.call('/healthz')).status).toBe(200)
})

test('a node becomes ready once the database is migrated, also by another process', async () => {
  const databaseUrl = await newEmptyDatabase()
  const { url } = await startTestNode(databaseUrl)
  const before = await callNode(url, '/readyz')
  expect(before).toMatchObject({ status: 503, body: { status: 'unavailable' } })
  expect(before.body.reason).toContain('hourbank migrate')
  const sql = connect(databaseUrl, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())
  await migrate(sql)
  expect((await callNode(url, '/readyz')).status).toBe(200)
})

test('metrics are for callers on this machine, not for those behind a proxy on it', async () => {
  const bank = await startBank({ config: { trustProxy: ['127.0.0.1'] } })
  await bank.call('/users', { token: await bank.token() })
  await bank.call('/nope/7')
  const { status, headers, body } = await bank.call('/metrics')
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: 200,
    type: expect.stringMatching(/^text\/plain/),
  })
  expect(body).toContain(
    `hourbank_request_duration_seconds_count{method="GET",route="${API_PREFIX}/users",status="200"} 1`,
  )
  expect(body).toContain('hourbank_request_duration_seconds_count{method="GET",route="none",status="404"} 1')
  expect(body).toContain('hourbank_call_log_dropped_total 0')
  expect(body).toMatch(/^hourbank_access_cache_trusted [01]$/m)
  expect(body).toContain('process_resident_memory_bytes')
  expect(body).not.toContain('/nope')

  for (const header of ['x-forwarded-for', 'forwarded']) {
    const value = header === 'forwarded' ? 'for=127.0.0.1' : '127.0.0.1'
    expect(await bank.call('/metrics', { headers: { [header]: value } }), header).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
  }
})

const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address

test.skipIf(!outside)('requests for metrics from other machines are rejected', async () => {
  const bank = await startBank({ config: { host: '0.0.0.0' } })
  expect((await callNode(`http://${outside}:${bank.config.port}`, '/metrics')).status).toBe(403)
  expect((await callNode(`http://127.0.0.1:${bank.config.port}`, '/metrics')).status).toBe(200)
})

test('with METRICS_TOKEN, only callers that send it get the metrics, from any address', async () => {
  const bank = await startBank({ config: { metricsToken: 'a-token-for-metrics' } })
  const ask = async (headers: Record<string, string>) => (await bank.call('/metrics', { headers })).status
  expect(await ask({})).toBe(403)
  expect(await ask({ authorization: 'Bearer another' })).toBe(403)
  expect(await ask({ authorization: 'a-token-for-metrics' })).toBe(403)
  expect(await ask({ authorization: 'Bearer a-token-for-metrics' })).toBe(200)
  expect(await ask({ authorization: 'Bearer a-token-for-metrics', 'x-forwarded-for': '192.0.2.1' })).toBe(200)
})

test('a worker serves probes and metrics, but no partner API', async () => {
  const bank = await startBank({ config: { role: 'worker' } })
  for (const path of ['/healthz', '/readyz', '/metrics']) expect((await bank.call(path)).status, path).toBe(200)
  expect((await bank.call('/oauth/token', { body: {} })).status).toBe(404)
})

test('errors are logged as JSON, with the request id of the response', async () => {
  const { log, entries } = captureLog()
  const bank = await startBank({ log })
  const token = await bank.token()
  await bank.sql`alter table members rename to gone`
  const answer = await bank.call('/users', { token })
  expect(answer.status).toBe(500)
  expect(JSON.stringify(answer.body)).not.toMatch(/members|relation|42P01/)

  const failed = entries().filter(({ msg }) => msg === 'request failed')
  expect(failed).toEqual([
    expect.objectContaining({
      level: 50,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      reqId: answer.headers.get('request-id'),
      code: 'internal_error',
      err: expect.objectContaining({ message: 'relation "members" does not exist', code: '42P01' }),
    }),
  ])
  expect(failed[0].err.stack).toContain('features/members/')
})

test('an outage is logged once a second, with the number of requests that failed', async () => {
  const { log, entries } = captureLog()
  const proxy = await startFlakyProxy(await newDatabase())
  const bank = await startBank({ log, databaseUrl: proxy.url })
  const token = await bank.token()
  proxy.cut()
  const startedAtMs = performance.now()
  const REQUESTS = 50
  const counted = () => entries().reduce((sum, { msg, count }) => sum + (msg === 'request failed' ? count : 0), 0)
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => bank.call('/users', { token })))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
  const failed = entries().filter(({ msg }) => msg === 'request failed')
  expect(failed[0]).toMatchObject({ level: 50, code: 'unavailable', count: 1, err: { stack: expect.any(String) } })
  expect(failed.length).toBeLessThanOrEqual((performance.now() - startedAtMs) / 1000 + 1)
  await eventually(() => counted() === REQUESTS)
})

test('no token, secret or email address gets into the log, even if a database error contains one', async () => {
  const { log, lines, entries } = captureLog()
  const bank = await startBank({ log })
  const { sql, communityId, partner } = bank
  const token = await bank.token()
  await sql`insert into members (community_id, id, name, email) values (${communityId}, 1, 'Ada', ${EMAIL})`
  await sql`alter table members rename to kept`
  // Every kind of error text that PostgreSQL writes values into.
  await sql.unsafe(`
    create function fail() returns boolean language plpgsql as $$ begin
      raise exception 'invalid input syntax for type bigint: "${EMAIL}" (${token})'
        using errcode = '23505', detail = 'Key (email)=(${EMAIL}) already exists.', hint = '${partner.clientSecret}';
    end $$`)
  await sql`create view members as select * from kept where fail()`
  expect((await bank.call('/users', { token })).status).toBe(500)

  const admin = { email: EMAIL, name: 'Ada', role: 'owner' as const }
  await createAdmin(sql, TESTER, communityId, admin)
  const again = sql`
    insert into admins (email, name, password_hash, password_one_time) values (${EMAIL}, 'Ada', 'x', false)`
  const violation = await again.catch((error: Error) => error)
  expect((violation as Error & { detail: string }).detail).toContain(EMAIL)
  log.error({ err: violation }, 'a real violation')
  log.error({ err: new Error('outer', { cause: violation }) }, 'as a cause')
  log.error({ err: new Error(`for ${EMAIL}: ${token}`) }, 'in a message of ours')

  const wrong = {
    grant_type: 'client_credentials',
    client_id: partner.clientId,
    client_secret: `${partner.clientSecret}x`,
  }
  expect((await bank.call('/oauth/token', { body: wrong })).status).toBe(401)
  expect((await bank.call('/users', { token: newToken(communityId) })).status).toBe(401)
  await bank.call(`/users?token=${token}`, { token })
  await sendBytes(bank.config.port, `GET / HTTP/1.1\r\nAuthorization: Bearer ${token}\r\nnonsense\r\n\r\n`)
  await bank.node.close()

  expect(entries().filter(({ msg }) => msg === 'request failed').length).toBeGreaterThanOrEqual(1)
  // Citus passes on only the message of a worker, which is not logged.
  const logged = isCluster() ? { code: '23505' } : { constraint: 'admins_email_key' }
  expect(entries().find(({ msg }) => msg === 'a real violation').err).toMatchObject(logged)
  expect(entries().find(({ msg }) => msg === 'as a cause').err.message).toContain('duplicate key value')
  const text = lines.join('')
  for (const secret of [EMAIL, 'example.org', token, partner.clientSecret]) expect(text).not.toContain(secret)
})

function keepAliveGet(url: string, agent: Agent, token?: string): Promise<IncomingMessage & { text: string }> {
  return new Promise((resolve, reject) => {
    const headers = token ? { authorization: `Bearer ${token}` } : {}
    get(url, { agent, headers }, async (incoming) => {
      const text = Buffer.concat(await incoming.toArray()).toString()
      resolve(Object.assign(incoming, { text }))
    }).on('error', reject)
  })
}

function refusesConnections(url: string): Promise<boolean> {
  return sendPlain(`${url}/healthz`).then(
    () => false,
    ({ code }) => code === 'ECONNREFUSED',
  )
}

test('a request in flight is completed and logged before the service ends; new connections are rejected', async () => {
  const bank = await startBank()
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const token = await bank.token()
  const lock = await lockTable(bank.sql, 'members')
  const inFlight = keepAliveGet(`${bank.url}${API_PREFIX}/users`, agent, token)
  await lock.awaited()

  const closed = bank.node.close()
  await eventually(() => refusesConnections(bank.url))
  await lock.release()
  const startedAtMs = performance.now()
  const answer = await inFlight
  expect({ status: answer.statusCode, body: JSON.parse(answer.text) }).toMatchObject({
    status: 200,
    body: { data: [] },
  })
  await closed
  // Although the connection of that request would be kept for more.
  expect(performance.now() - startedAtMs).toBeLessThan(KEEP_ALIVE_MS)
  const rows = await bank.sql`select status from call_log where request_id = ${answer.headers['request-id'] as string}`
  expect(rows).toEqual([{ status: 200 }])
})

test('a request on an open connection is answered as usual while the service ends', async () => {
  const bank = await startBank()
  const token = await bank.token()
  const request = `GET ${API_PREFIX}/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const lock = await lockTable(bank.sql, 'members')
  const socket = connectSocket(bank.config.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (bytes) => (received += bytes))
  socket.write(request)
  await lock.awaited()
  const closed = bank.node.close()
  await eventually(() => refusesConnections(bank.url))
  socket.write(request)
  await lock.awaited(2)
  // The service has sent its responses before they arrive here.
  const arrived = once(socket, 'close')
  await lock.release()
  await Promise.all([closed, arrived])
  const heads = received.match(/HTTP\/1\.1 [^]*?\r\n\r\n/g)!
  expect(heads).toHaveLength(2)
  for (const head of heads) expect(head).toMatch(/^HTTP\/1\.1 200 [^]*api-version: 2\.0/)
})

test('idle keep-alive connections do not delay the end', async () => {
  const bank = await startBank()
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  await Promise.all(Array.from({ length: 5 }, () => keepAliveGet(`${bank.url}/healthz`, agent)))
  const silent = connectSocket(bank.config.port, '127.0.0.1')
  onTestFinished(() => void silent.destroy())
  await once(silent, 'connect')
  const startedAtMs = performance.now()
  await bank.node.close()
  expect(performance.now() - startedAtMs).toBeLessThan(KEEP_ALIVE_MS)
})

test('closing twice is not an error', async () => {
  const bank = await startBank()
  await bank.node.close()
  await bank.node.close()
})
