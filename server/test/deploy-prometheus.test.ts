import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../../scripts/system-packages.mjs'
import { watchBacklog } from '../src/delivery/watch-backlog.ts'
import { createMetrics } from '../src/http/shared/metrics.ts'
import { connect } from '../src/postgres/connect.ts'
import { captureLog } from './capture-log.ts'
import { lockTable } from './lock-table.ts'
import { eventually, startBank, startTestNode } from './bank.ts'
import { REPOSITORY } from './guide-blocks.ts'
import { trustingSender } from './postman.ts'
import { startReceiver } from './receiver.ts'

const ALERTS = join(REPOSITORY, 'docs/deploy/prometheus-alerts.yaml')
const CASES = join(REPOSITORY, 'server/test/prometheus-alerts.test.yaml')
const promtool = findProgram('promtool')
const run = (...args: string[]) => promisify(execFile)(promtool!, args)

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}
const dashboard = JSON.parse(readFileSync(join(REPOSITORY, 'docs/deploy/grafana-dashboard.json'), 'utf8')) as Dashboard
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

const METRIC = /\b(?:hourbank|nodejs|process)_\w+/g

test('alerts and dashboard ask for metrics that the service has, and every own metric is on the dashboard', async () => {
  const bank = await startBank()
  const { body } = await bank.call('/metrics')
  const names = [...(body as string).matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? [name!, `${name}_bucket`, `${name}_count`] : [name!],
  )
  for (const text of [readFileSync(ALERTS, 'utf8'), ...expressions]) {
    for (const [name] of text.matchAll(METRIC)) expect(names).toContain(name)
  }
  const own = [...(body as string).matchAll(/^# TYPE (hourbank_\w+) /gm)].map(([, name]) => name!)
  for (const name of own) expect(expressions.join('\n')).toContain(name)
})

test('workers say how long events have waited, measured without a scrape; other nodes do not', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const HOUR_SECONDS = 3600
  await bank.sql`insert into events (community_id, type, data, created_at)
    values (${bank.communityId}, 'user.updated', '{"version": 1}', now() - interval '1 hour')`
  const gauge = async (call = bank.call) =>
    /^hourbank_delivery_backlog_age_seconds (\S+)$/m.exec((await call('/metrics')).body)?.[1]
  expect(await gauge()).toBeUndefined()

  // Nobody can fan it out meanwhile.
  const lock = await lockTable(bank.sql, 'event_heads')
  const { url } = await startTestNode(bank.databaseUrl, { config: { role: 'worker' } })
  const scrape = async () => ({ body: await (await fetch(`${url}/metrics`)).text() }) as never
  const seconds = Number(await eventually(async () => (await gauge(scrape)) !== '0' && gauge(scrape)))
  expect(seconds).toBeGreaterThanOrEqual(HOUR_SECONDS)
  await lock.release()
})

test('without the database, a worker has no figure for the backlog, so that the alert on its absence fires', async () => {
  const bank = await startBank()
  const lost = connect(bank.databaseUrl, { connectionsMax: 1, name: 'lost' })
  await lost.end()
  const metrics = createMetrics()
  const { log } = captureLog()
  const { stop } = watchBacklog(lost, metrics, log)
  onTestFinished(stop)
  await eventually(async () => !/^hourbank_delivery_backlog_age_seconds /m.test(await metrics.registry.metrics()))
})

test('callers that wait for a connection are counted by pool, and deliveries by their result', async () => {
  const receiver = await startReceiver()
  const bank = await startBank({ sender: trustingSender(receiver) })
  const token = await bank.token()
  const metric = (line: string) =>
    eventually(async () => ((await bank.call('/metrics')).body as string).split('\n').includes(line))

  // Only once, so that the count stays what it is, however late somebody looks.
  receiver.answer = (response) => response.writeHead(receiver.received.length === 2 ? 500 : 204).end()
  const body = { event_types: ['*'], target_url: receiver.url }
  const { id } = (await bank.call('/webhooks/subscriptions', { token, body })).body.data
  const sendTest = () => bank.call(`/webhooks/subscriptions/${id}/test`, { token, method: 'POST' })
  await sendTest()
  await metric('hourbank_deliveries_total{outcome="delivered"} 1')
  await sendTest()
  await metric('hourbank_deliveries_total{outcome="retried"} 1')

  const lock = await lockTable(bank.sql, 'members')
  const CONNECTIONS = 10
  const calls = Array.from({ length: CONNECTIONS + 2 }, () => bank.call('/users', { token }))
  await metric('hourbank_database_pool_waiting{pool="requests"} 2')
  await lock.release()
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
  await metric('hourbank_database_pool_waiting{pool="requests"} 0')
})

/** As recording rules, which promtool reads. */
async function checkExpressions(exprs: string[]): Promise<void> {
  const rules = exprs.map((expr, n) => ({ record: `panel_${n}`, expr: expr.replaceAll('$__rate_interval', '1m') }))
  const file = join(await mkdtemp(join(tmpdir(), 'rules-')), 'rules.json')
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  await run('check', 'rules', file)
}

describe.skipIf(!promtool)('promtool', () => {
  test('accepts the rules, and each alert fires when it should and only then', async () => {
    expect((await run('check', 'rules', ALERTS)).stdout).toContain('SUCCESS')
    await run('test', 'rules', CASES)
  })

  test('accepts the expressions of the dashboard, and no broken one', async () => {
    await checkExpressions(expressions)
    await expect(checkExpressions([...expressions, 'sum(rate(hourbank_deliveries_total[5m])'])).rejects.toThrow()
  })
})
