import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makeCertificate } from './certificate.ts'
import { startChild } from './children.ts'
import { startReceiver } from './deliveries.ts'
import { rounded } from './figures.ts'
import { explainOperations } from './growth-plans.ts'
import type { Arrivals, Arrived, Kind } from './load/arrivals.ts'
import { openDatabaseServer, startService } from './service.ts'
import { drawSoak } from './soak-chart.ts'
import { takeSample, worstDeadShare, type Sample } from './soak-samples.ts'
import { findFaults } from './soak-verdict.ts'
import { startTown, type Town } from './town.ts'

/*
 * `npm run test:soak`: an hour of mixed load on one process, and what must not grow with it. `-- --minutes 10` takes
 * less, `-- --break leak` and `-- --break prune` show that a fault is found.
 */

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'per-second': { type: 'string', default: '60' },
    break: { type: 'string' },
  },
})
const MINUTES = Number(options.minutes)
const PER_SECOND = Number(options['per-second'])
const SAMPLES = 120
const CHART = fileURLToPath(new URL('../dist/soak.svg', import.meta.url))
const EXPIRED_TOKENS = 2000
/** The lock under which nodes prune. */
const PRUNE_LOCK = 4_711_003
/** Two small timers and some memory per second, never released. */
const LEAK = `setInterval(() => { setInterval(() => {}, 1e8); (globalThis.kept ??= []).push(Buffer.alloc(1e6, 1)) }, 1000)`

const say = (text: string) => console.error(text)

const loginOf = ({ clientId, clientSecret }: Town['partners'][number]) => ({
  grant_type: 'client_credentials',
  client_id: clientId,
  client_secret: clientSecret,
})

/** With new tokens, because they live for an hour. */
async function kindsOf({ partners, service }: Town): Promise<Kind[]> {
  const authorizations: string[] = []
  for (const partner of partners) {
    const { access_token } = await service.call('POST', '/oauth/token', '', loginOf(partner))
    authorizations.push(`Bearer ${access_token}`)
  }
  const api = '/api/partner/v1'
  const item = '{"user_id":{member},"hours":0.25,"reference":"{unique}"}'
  const get = (weight: number, path: string): Kind => ({ weight, method: 'GET', path: `${api}${path}`, authorizations })
  const post = (weight: number, path: string, body: string): Kind => ({ ...get(weight, path), method: 'POST', body })
  return [
    post(30, '/wallet/credit', item),
    post(1, '/wallet/credits/batch', `{"credits":[${Array.from({ length: 20 }, () => item).join()}]}`),
    { ...post(4, '/oauth/token', JSON.stringify(loginOf(partners[0]!))), authorizations: [] },
    get(25, '/users/{member}'),
    get(20, '/wallet/balance/{member}'),
    get(5, '/users?limit=100'),
    get(5, '/listings?q=garden'),
    get(5, '/wallet/credits?limit=50'),
    get(3, '/events?limit=50'),
    get(2, '/aggregates/community'),
  ]
}

/** Calls that got no response, or one that says that something went wrong. */
function failuresIn({ status, kind, unanswered }: Arrived, kinds: Kind[]): string[] {
  const failed = new Map<string, number>()
  status.forEach((one, index) => {
    if (one < 300) return
    const name = `${kinds[kind[index]!]!.path} got ${one}`
    failed.set(name, (failed.get(name) ?? 0) + 1)
  })
  if (unanswered > 0) failed.set('no response', unanswered)
  return [...failed].map(([name, count]) => `${count} × ${name}`)
}

/** Steps of the plans without figures, which change with every run. */
async function shapesOf(town: Town): Promise<Map<string, string>> {
  const { service, communityId, clients, members } = town
  const lateMemberId = members[Math.floor(members.length * 0.9)]!
  const plans = await explainOperations({ service, communityId, ...clients[0]!, members, lateMemberId })
  return new Map(
    plans.map(({ operation, text }) => [
      operation,
      [...text.matchAll(/^[\s>-]*(\S.*?) {2}\(cost/gm)].map(([, step]) => step).join('\n'),
    ]),
  )
}

async function addExpiredTokens({ service, communityId, clients }: Town): Promise<void> {
  const hashes = Array.from({ length: EXPIRED_TOKENS }, () => randomBytes(32))
  await service.sql`
    insert into tokens (community_id, hash, client_id, scopes, issued_at, expires_at)
    select ${communityId}, hash, ${clients[0]!.clientId}, '{}', now() - interval '31 days', now() - interval '30 days'
    from unnest(${hashes}::bytea[]) as t(hash)`
}

const certificate = makeCertificate()
const server = await openDatabaseServer()
const settings = {
  WEB_CONCURRENCY: '1',
  WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
  NODE_EXTRA_CA_CERTS: certificate.caFile,
  ...(options.break === 'leak' && { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LEAK)}` }),
}
const made = await startTown(server, { WEB_CONCURRENCY: '1' }, say)
await addExpiredTokens(made)
// Pruning comes a minute after the start, so the process that is watched starts after there is something to prune.
await made.service.stop()
const service = await startService({ databaseUrl: made.service.databaseUrl, settings })
const town: Town = { ...made, service }
const receiver = await startReceiver(certificate)
const generator = await startChild<Arrivals, Arrived>('load/arrivals-generator.ts')

try {
  const target_url = `https://localhost:${receiver.port}/hook`
  await service.call('POST', '/webhooks/subscriptions', town.partners[0]!.token, { event_types: ['*'], target_url })
  if (options.break === 'prune') await service.sql`select pg_advisory_lock(${PRUNE_LOCK})`
  const plansBefore = await shapesOf(town)
  const samples: Sample[] = []
  const failedCalls: string[] = []
  const seconds = (MINUTES * 60) / SAMPLES
  let calls = 0
  say(`${rounded(MINUTES)} minutes of ${PER_SECOND} calls per second`)
  for (let sample = 0; sample < SAMPLES; sample++) {
    const kinds = await kindsOf(town)
    const load = { kinds, members: town.members, seconds, perSecond: PER_SECOND }
    const arrived = await generator.ask({ port: service.port, ...load })
    calls += arrived.status.length
    failedCalls.push(...failuresIn(arrived, kinds))
    samples.push(await takeSample(service, arrived))
    const last = Object.entries(samples.at(-1)!).map(([name, value]) => `${name} ${rounded(value)}`)
    if (sample % 10 === 9) say(`${sample + 1} of ${SAMPLES}: ${last.join(', ')}`)
  }
  const plansAfter = await shapesOf(town)
  const [expired] = await service.sql<[{ count: number }]>`
    select count(*) from tokens where community_id = ${town.communityId} and expires_at < now() - interval '29 days'`
  const findings = {
    samples,
    failedCalls,
    prunableLeft: expired.count,
    changedPlans: [...plansBefore].filter(([name, shape]) => plansAfter.get(name) !== shape).map(([name]) => name),
    dead: await worstDeadShare(service),
  }
  const delivered = (await receiver.process.ask('arrivals')).count
  await writeFile(CHART, drawSoak(samples, MINUTES))
  const faults = findFaults(findings)
  const what = `${rounded(MINUTES)} minutes, ${calls} calls, ${delivered} deliveries`
  say(`chart: ${CHART}`)
  console.log(faults.length === 0 ? `soak: holds (${what})` : `soak: failed (${what}): ${faults.join('; ')}`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await generator.stop()
  await made.generator.stop()
  await service.stop()
  await receiver.process.stop()
  await server.close()
  certificate.remove()
}
