/*
 * `npm run bench:citus`: credits over many communities on one PostgreSQL, and on Citus with one and two workers, on the same
 * machine. CITUS_SOURCE names a source tree of Citus, as for `npm run test:citus`.
 */
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installCitus, startCluster } from '../scripts/citus.mjs'
import type { Actor } from '../server/src/features/audit/record.ts'
import { createCommunity } from '../server/src/features/communities/create-community.ts'
import { addMember } from '../server/src/features/members/change-member.ts'
import { createPartner } from '../server/src/features/partners/create-partner.ts'
import { insertCredits, startPartnerDays, type CreditItem } from '../server/src/features/wallet/insert-credits.ts'
import { distribute, SHARDS_DEFAULT } from '../server/src/postgres/cluster/distribute.ts'
import { connect, type Sql } from '../server/src/postgres/connect.ts'
import { migrate } from '../server/src/postgres/migrate.ts'
import { createPartitions } from '../server/src/postgres/partitions.ts'
import { median, rounded, spread } from './figures.ts'
import { machine, markdownTable } from './report.ts'

const COMMUNITIES = 50
const MEMBERS = 10
const CONNECTIONS = 20
const BATCHES = [1, 10, 40]
const TIMES = { warmUpMs: 2000, measureMs: 4000 }
const AMOUNT_CENTIHOURS = 1
const DAILY_LIMIT_CENTIHOURS = 1_000_000_000
const BENCH: Actor = { kind: 'system', name: 'bench' }

interface Place {
  communityId: number
  partnerId: number
  clientId: number
  members: number[]
}

interface Database {
  title: string
  sql: Sql
  places: Place[]
  /** Credits per second in each round, by size of batch. */
  rates: Map<number, number[]>
  stop(): Promise<void>
}

const progress = (text: string) => process.stderr.write(`${text}\n`)

async function openDatabase(title: string, workers: number): Promise<Database> {
  progress(`${title}: starting and filling`)
  const cluster = await startCluster({ workers, isDurable: true })
  const sql = connect(cluster.url, { connectionsMax: CONNECTIONS, name: 'command' })
  await migrate(sql)
  await createPartitions(sql)
  if (workers > 0) await distribute(sql, SHARDS_DEFAULT, () => {})
  const places: Place[] = []
  for (let n = 1; n <= COMMUNITIES; n++) places.push(await makePlace(sql, `town-${n}`))
  return {
    title,
    sql,
    places,
    rates: new Map(BATCHES.map((batch) => [batch, []])),
    async stop() {
      await sql.end()
      await cluster.stop()
    },
  }
}

async function makePlace(sql: Sql, slug: string): Promise<Place> {
  const { id: communityId } = await createCommunity(sql, BENCH, { slug, name: slug })
  const { partnerId } = await createPartner(sql, BENCH, communityId, {
    name: 'Bank',
    scopes: ['wallet.write'],
    dailyLimitCentihours: DAILY_LIMIT_CENTIHOURS,
  })
  const [client] = await sql<[{ id: number }]>`
    select id from clients where community_id = ${communityId} and partner_id = ${partnerId}`
  const members: number[] = []
  for (let n = 1; n <= MEMBERS; n++) {
    members.push((await addMember(sql, BENCH, communityId, { name: `Member ${n}` })).id)
  }
  return { communityId, partnerId, clientId: client.id, members }
}

/** Credits batches, each connection in the communities in turn; returns credits per second. */
async function measure({ sql, places }: Database, batch: number): Promise<number> {
  await Promise.all(places.map(({ communityId, partnerId }) => startPartnerDays(sql, communityId, [partnerId])))
  const startMs = performance.now() + TIMES.warmUpMs
  const endMs = startMs + TIMES.measureMs
  let credits = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      for (let n = index; performance.now() < endMs; n += CONNECTIONS + 1) {
        const place = places[n % places.length]!
        const rows = await insertCredits(sql, place.communityId, makeItems(place, batch))
        if (rows.some(({ outcome }) => outcome !== 'created')) throw new Error(JSON.stringify(rows))
        const nowMs = performance.now()
        if (nowMs >= startMs && nowMs <= endMs) credits += batch
      }
    }),
  )
  return credits / (TIMES.measureMs / 1000)
}

function makeItems({ partnerId, clientId, members }: Place, batch: number): CreditItem[] {
  return Array.from({ length: batch }, (_, n) => ({
    partnerId,
    clientId,
    memberId: members[n % members.length]!,
    amount: AMOUNT_CENTIHOURS,
    reference: randomUUID(),
    note: null,
    settledOn: null,
  }))
}

function table(databases: Database[]): string {
  const head = [
    'credits per second',
    ...databases.map(({ title }) => title),
    ...databases.slice(1).map(({ title }) => `${title}, ratio`),
  ]
  const rows = BATCHES.map((batch) => {
    const rates = databases.map((database) => database.rates.get(batch)!)
    const ratios = rates.slice(1).map((those) => those.map((rate, round) => rate / rates[0]![round]!))
    return [
      batch === 1 ? 'one by one' : `in batches of ${batch}`,
      ...rates.map((those) => rounded(median(those))),
      ...ratios.map((those) => `× ${median(those).toFixed(2)} (± ${Math.round(spread(those) * 50)} %)`),
    ]
  })
  return markdownTable(head, rows)
}

async function run(rounds: number): Promise<void> {
  const { CITUS_SOURCE: source } = process.env
  if (!source) throw new Error('Set CITUS_SOURCE to a source tree of Citus.')
  await installCitus(source)
  const databases: Database[] = []
  try {
    databases.push(await openDatabase('one PostgreSQL', 0))
    databases.push(await openDatabase('Citus, one worker', 1))
    databases.push(await openDatabase('Citus, two workers', 2))
    for (const batch of BATCHES) {
      for (let round = 1; round <= rounds; round++) {
        progress(`batches of ${batch}, round ${round} of ${rounds}`)
        // In alternating order, so that other load on the machine affects all equally.
        for (const database of round % 2 === 1 ? databases : databases.toReversed()) {
          database.rates.get(batch)!.push(await measure(database, batch))
        }
      }
    }
    const [version] = await databases[0]!.sql<[{ server_version: string }]>`show server_version`
    const text = table(databases)
    console.log(`\n${text}`)
    await writeFile(fileURLToPath(new URL('CITUS.md', import.meta.url)), page(text, rounds, version.server_version))
    console.log('\nWritten: bench/CITUS.md')
  } finally {
    for (const database of databases) await database.stop()
  }
}

function page(text: string, rounds: number, postgres: string): string {
  return `# Credits on Citus

Written by \`npm run bench:citus\`.

${machine(postgres, 'fsync and synchronous_commit on')}

${text}

${COMMUNITIES} communities with a partner each, ${CONNECTIONS} connections, durable commits, through the driver without HTTP.
Medians of ${rounds} rounds; the ratios are to one PostgreSQL in the same round, with half of their range.

All servers and the load generator share the same cores. So this shows what distribution costs per credit, not what more
machines bring: a second worker adds no core here. With a machine for each worker, the work of the workers is divided among
them; the coordinator's is not.
`
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
await run(Number(values.rounds))
