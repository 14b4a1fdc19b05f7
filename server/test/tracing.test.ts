import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { createTraceMemory } from '../src/process/trace-memory.ts'
import { openTracing } from '../src/process/tracing.ts'
import { callNode, eventually, freePort, SECRET_KEY, startBank, TESTER } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { start, type Settings } from './commands.ts'
import { newDatabase } from './database.ts'
import { startOtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts'
import { trustingSender } from './postman.ts'
import { startReceiver } from './receiver.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALLER_SPAN = 'b7ad6b7169203331'
const TRACEPARENT = `00-${TRACE_ID}-${CALLER_SPAN}-01`
const CREDIT = 'POST /api/partner/v1/wallet/credit'

/** The service as an operator starts it. */
async function serve(settings: Settings) {
  const port = await freePort()
  const child = start(['serve'], { PORT: `${port}`, SECRET_KEY, ...settings })
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(child.printed().stderr)
    return child.printed().stdout.includes('Hourbank is running.')
  })
  return { child, url: `http://127.0.0.1:${port}` }
}

async function traceBank(options: { traceRatio?: number } = {}) {
  const collector = await startOtlpReceiver()
  const receiver = await startReceiver()
  const { log, entries } = captureLog()
  // Before the node, as `serve` does.
  const traces = await openTracing({ otlpEndpoint: collector.url, traceRatio: 1, role: 'all', ...options }, log)
  onTestFinished(() => traces.close())
  const bank = await startBank({ sender: trustingSender(receiver) })
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada Lovelace', email: 'ada@example.org' })
  const token = await bank.token()
  const credit = (reference: string, headers: Record<string, string> = {}) =>
    bank.call('/wallet/credit', { token, headers, body: { user_id: member.id, hours: 1, reference, note: 'thanks' } })
  return { bank, collector, receiver, traces, entries, member, token, credit }
}

const named = (spans: ReceivedSpan[], name: string) => spans.find((span) => span.name === name)

test('a credit is one trace, from its caller to the delivery, and names no person, secret or reference', async () => {
  const { bank, collector, receiver, traces, member, token, credit } = await traceBank()
  const target = `${receiver.url}?key=a-secret-of-the-receiver`
  await bank.call('/webhooks/subscriptions', { token, body: { event_types: ['wallet.*'], target_url: target } })
  await bank.call(`/users/${member.id}?fields=a-query`, { token })
  expect((await credit('tx-4711', { traceparent: TRACEPARENT })).status).toBe(201)
  const [received] = await eventually(() => receiver.received.length > 0 && receiver.received)
  // A partner does not learn the traces of another.
  expect(Object.keys(received!.headers)).not.toContain('traceparent')
  // Its span ends before this is recorded.
  await eventually(async () => (await bank.sql`select 1 from deliveries where status = 'delivered'`).length > 0)
  await traces.close()

  const spans = collector.spans.filter(({ traceId }) => traceId === TRACE_ID)
  const call = named(spans, CREDIT)!
  expect(call).toMatchObject({
    parentSpanId: CALLER_SPAN,
    attributes: {
      'http.route': '/api/partner/v1/wallet/credit',
      'http.response.status_code': 201,
      'hourbank.community_id': bank.communityId,
    },
  })
  const below = (parent: ReceivedSpan) => spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId)
  const insert = spans.find(({ attributes }) => `${attributes['db.query.text']}`.includes('from insert_credits('))!
  const batch = spans.find(({ spanId }) => spanId === insert.parentSpanId)!
  expect(batch).toMatchObject({ name: 'batch', parentSpanId: call.spanId })
  const queues = below(call).filter(({ name }) => name === 'queue')
  expect(queues.map(({ links }) => links![0]!.spanId)).toContain(batch.spanId)
  expect(named(below(call), 'deliver wallet.credited')!.attributes).toMatchObject({
    'hourbank.event_id': received!.id,
    'hourbank.attempt': 1,
    'http.response.status_code': 204,
  })
  expect(collector.spans.map(({ name }) => name)).toContain('GET /api/partner/v1/users/:id')
  for (const secret of ['Ada', 'ada@', token, 'tx-4711', 'thanks', 'a-secret', receiver.url, 'a-query']) {
    expect(collector.text()).not.toContain(secret)
  }
})

test('a request that waits for the batch of another is linked to it, and what follows a response is in no trace', async () => {
  const { collector, traces, credit } = await traceBank()
  await Promise.all(['tx-1', 'tx-2', 'tx-3'].map((reference) => credit(reference)))
  await traces.close()
  const requests = collector.spans.filter(({ name }) => name === CREDIT)
  const batches = new Set(collector.spans.filter(({ name }) => name === 'batch').map(({ spanId }) => spanId))
  expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(3)
  for (const { spanId } of requests) {
    const queue = collector.spans.find(({ name, parentSpanId }) => name === 'queue' && parentSpanId === spanId)!
    expect(batches).toContain(queue.links![0]!.spanId)
  }
  // The call log and the fan-out start in a request, and belong to many.
  for (const text of ['into call_groups', 'from event_heads', 'pg_notify']) expect(collector.text()).not.toContain(text)
})

test('a body that arrives after its headers belongs to the same request', async () => {
  const { bank, collector, traces, member, token } = await traceBank()
  const sent = request(`${bank.url}/api/partner/v1/wallet/credit`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  sent.flushHeaders()
  await bank.call('/users', { token })
  sent.end(JSON.stringify({ user_id: member.id, hours: 1, reference: 'tx-1' }))
  const [response] = await once(sent, 'response')
  response.resume()
  await once(response, 'end')
  await traces.close()
  const { spanId } = named(collector.spans, CREDIT)!
  const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === spanId).map(({ name }) => name)
  expect(below).toEqual(expect.arrayContaining(['queue', 'batch']))
})

test('a malformed traceparent is ignored, probes are not traced, and the caller does not decide what is recorded', async () => {
  const { bank, collector, traces, credit } = await traceBank()
  expect((await credit('tx-1', { traceparent: 'nonsense' })).status).toBe(201)
  await bank.call('/readyz')
  await traces.close()
  expect(named(collector.spans, CREDIT)).toMatchObject({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/) })
  expect(named(collector.spans, CREDIT)!.parentSpanId).toBeFalsy()
  expect(collector.text()).not.toContain('readyz')

  const none = await traceBank({ traceRatio: 0 })
  expect((await none.credit('tx-1', { traceparent: TRACEPARENT })).status).toBe(201)
  await none.traces.close()
  expect(none.collector.spans).toEqual([])
})

test('requests succeed although the collector rejects traces, which is logged', async () => {
  const { collector, traces, credit, entries } = await traceBank()
  collector.status = 400
  expect((await credit('tx-1')).status).toBe(201)
  await traces.close()
  expect(entries()).toContainEqual(expect.objectContaining({ msg: 'traces could not be exported' }))
})

test('trace data that nodes exchange fits into a notification, and is forgotten in the end', () => {
  const [here, there] = [createTraceMemory(), createTraceMemory()]
  for (let id = 1; id <= 200; id++) here.remember(`1/2/${id}`, TRACEPARENT)
  const first = here.takeAnnouncement()
  expect(first.length).toBeLessThan(8000)
  there.hear(first)
  there.hear('')
  expect(there.recall('1/2/1')).toBe(TRACEPARENT)
  expect(there.recall('1/2/200')).toBeUndefined()
  for (let next = here.takeAnnouncement(); next; next = here.takeAnnouncement()) there.hear(next)
  expect(there.recall('1/2/200')).toBe(TRACEPARENT)
  for (let id = 1; id <= 10_000; id++) there.hear(`1/3/${id}=${TRACEPARENT}`)
  expect(there.recall('1/2/1')).toBeUndefined()
})

test('the trace of a credit goes on in the worker of another process', async () => {
  const [databaseUrl, collector] = [await newDatabase(), await startOtlpReceiver()]
  const bank = await startBank({ databaseUrl, config: { role: 'api', webhookAllowPrivateTargets: true } })
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  // Nobody listens there: the attempt fails at once, and is an attempt all the same.
  const target_url = `https://localhost:${await freePort()}/hook`
  await bank.call('/webhooks/subscriptions', { token, body: { event_types: ['wallet.*'], target_url } })
  const settings = {
    DATABASE_URL: databaseUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
  }
  const [api, worker] = await Promise.all([serve({ ...settings, ROLE: 'api' }), serve({ ...settings, ROLE: 'worker' })])
  // The announcement of a trace follows its commit. A worker that looks for work in between finds the event without it.
  for (let made = 0; made < 3; made++) {
    const answer = await callNode(api.url, '/wallet/credit', {
      token,
      headers: { traceparent: TRACEPARENT },
      body: { user_id: member.id, hours: 1, reference: `tx-${made}` },
    })
    expect(answer.status).toBe(201)
    await eventually(async () => (await bank.sql`select distinct delivery_id from attempts`).count > made)
  }
  for (const { child } of [api, worker]) child.kill('SIGTERM')
  await Promise.all([api.child.outcome, worker.child.outcome])
  const calls = collector.spans.filter(({ name }) => name === CREDIT).map(({ spanId }) => spanId)
  const followed = collector.spans.filter(
    ({ name, traceId }) => name === 'deliver wallet.credited' && traceId === TRACE_ID,
  )
  expect(followed.length).toBeGreaterThan(0)
  for (const { parentSpanId, attributes } of followed) {
    expect(calls).toContain(parentSpanId)
    expect(attributes).toMatchObject({ 'error.type': 'connect' })
  }
})

test('without an endpoint, no module of OpenTelemetry is loaded', async () => {
  // Refuses them, so that a process that loads one does not start.
  const hooks = `export async function resolve(name, context, next) {
    if (name.includes('opentelemetry')) throw new Error('loaded ' + name)
    return next(name, context)
  }`
  const preload = join(tmpdir(), 'refuse-opentelemetry.mjs')
  await writeFile(
    preload,
    `import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))`,
  )
  const settings = { DATABASE_URL: await newDatabase(), NODE_OPTIONS: `--import ${preload}` }
  const { child, url } = await serve(settings)
  expect((await callNode(url, '/readyz')).status).toBe(200)
  child.kill('SIGTERM')
  expect((await child.outcome).code).toBe(0)
  const traced = serve({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })
  await expect(traced).rejects.toThrow(/loaded .*opentelemetry/)
})
