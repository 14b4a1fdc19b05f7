/* `npm run bench:costs`: what one operation costs in CPU time and one row on disk, for docs/scaling.md. */
import { setTimeout as pause } from 'node:timers/promises'
import { makeCertificate } from './certificate.ts'
import { CREDIT_JOB, loadSide } from './contests.ts'
import { cpuSeconds } from './cpu.ts'
import { startReceiver, type Receiver } from './deliveries.ts'
import { rounded } from './figures.ts'
import type { Arrivals } from './receiver.ts'
import { openDatabaseServer } from './service.ts'
import { startTown, type Town } from './town.ts'

const API = '/api/partner/v1'
const TIMES = { warmUpMs: 1000, measureMs: 4000 }
const CONNECTIONS = [1, 64]
const DELIVERED = 3000
const DELIVERED_TIMEOUT_MS = 120_000
const POLL_MS = 50
const JOBS = {
  'GET /users/{id}': { path: `${API}/users/{member}` },
  'GET /wallet/balance/{id}': { path: `${API}/wallet/balance/{member}` },
  'GET /users?limit=100': { path: `${API}/users?limit=100` },
  'POST /wallet/credit': CREDIT_JOB,
}
/** Each table with what one of its rows stands for. Partitions are added up. */
const TABLES = {
  members: 'member',
  accounts: 'wallet',
  listings: 'listing',
  transfers: 'transfer',
  credits: 'credit, with its reference',
  events: 'event',
  deliveries: 'delivery',
  call_groups: 'row of the call log, for calls of one second',
}

const progress = (text: string) => process.stderr.write(`${text}\n`)

async function measureCalls(town: Town): Promise<void> {
  console.log(
    '| operation | connections | per second | service, µs of CPU | database, µs of CPU |\n| - | - | - | - | - |',
  )
  for (const [name, job] of Object.entries(JOBS)) {
    const load = loadSide(town, job)
    for (const connections of CONNECTIONS) {
      await load(connections, { ...TIMES, measureMs: 0 })
      await printCost(town, name, connections, async () => {
        const { count, perSecond } = await load(connections, { ...TIMES, warmUpMs: 0 })
        return { count, perSecond }
      })
    }
  }
}

async function printCost(
  { service }: Town,
  name: string,
  connections: number,
  work: () => Promise<{ count: number; perSecond: number }>,
): Promise<void> {
  const before = await cpuSeconds(service)
  const { count, perSecond } = await work()
  const after = await cpuSeconds(service)
  const micros = (side: 'service' | 'database') => rounded(((after[side] - before[side]) * 1e6) / count)
  console.log(`| ${name} | ${connections} | ${rounded(perSecond)} | ${micros('service')} | ${micros('database')} |`)
}

/** Credits with one subscription, until the last event has arrived. */
async function measureDeliveries(town: Town, receiver: Receiver): Promise<{ count: number; perSecond: number }> {
  const { token } = town.partners[0]!
  const input = { event_types: ['wallet.*'], target_url: `https://localhost:${receiver.port}/hook` }
  await town.service.call('POST', '/webhooks/subscriptions', token, input)
  await receiver.process.ask('forget')
  const times = { warmUpMs: 0, measureMs: DELIVERED_TIMEOUT_MS }
  const { span } = await loadSide(town, { ...CREDIT_JOB, requestsMax: DELIVERED })(CONNECTIONS.at(-1)!, times)
  const deadlineMs = performance.now() + DELIVERED_TIMEOUT_MS
  for (;;) {
    const { count, lastAtMs }: Arrivals = await receiver.process.ask('arrivals')
    if (count >= DELIVERED) return { count, perSecond: (count * 1000) / (lastAtMs - span!.fromMs) }
    if (performance.now() > deadlineMs) throw new Error(`${count} of ${DELIVERED} events arrived`)
    await pause(POLL_MS)
  }
}

async function measureDisk({ service }: Town): Promise<void> {
  await service.sql.unsafe('vacuum (analyze)')
  console.log('\n| a row of | is a | rows | bytes with indexes |\n| - | - | - | - |')
  for (const [table, meaning] of Object.entries(TABLES)) {
    const [{ rows }] = await service.sql.unsafe<[{ rows: number }]>(`select count(*)::int8 as rows from ${table}`)
    const [{ bytes }] = await service.sql<[{ bytes: number }]>`
      select (pg_total_relation_size(${table}::regclass) +
        coalesce((select sum(pg_total_relation_size(relid)) from pg_partition_tree(${table}::regclass)), 0))::int8 as bytes`
    console.log(`| ${table} | ${meaning} | ${rows} | ${rows > 0 ? rounded(bytes / rows) : '–'} |`)
  }
}

const server = await openDatabaseServer()
const certificate = await makeCertificate()
const settings = { NODE_EXTRA_CA_CERTS: certificate.caFile, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on' }
const town = await startTown(server, settings, progress)
const receiver = await startReceiver(certificate)
try {
  await measureCalls(town)
  await printCost(town, 'credit with its delivery', CONNECTIONS.at(-1)!, () => measureDeliveries(town, receiver))
  await measureDisk(town)
} finally {
  await receiver.process.stop()
  await town.stop()
  await server.close()
}
