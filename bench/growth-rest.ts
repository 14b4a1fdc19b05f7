import { setTimeout as pause } from 'node:timers/promises'
import { closeDueCommunities } from '../server/src/features/aggregates/close-due-periods.ts'
import type { Sql } from '../server/src/postgres/connect.ts'
import { createLog } from '../server/src/process/log.ts'
import { copyCommunity } from '../server/test/many-communities.ts'
import { median } from './figures.ts'
import { openDatabaseServer, startService } from './service.ts'

const COUNTS = [1, 2000]
const ROUNDS = 5
const ROUND_MS = 10_000
/** The first seconds after a start are no rest. */
const SETTLE_MS = 5000

/** The database's time at rest, by the number of communities. */
export interface Rest {
  communities: number[]
  /** Milliseconds of database time per second, medians. */
  activeMs: number[]
  /** From the start of the command to its greeting. */
  startMs: number[]
}

/** Measures two services at rest at the same time, each with its own database: communities with a subscription each. */
export async function measureRest(onProgress: (text: string) => void): Promise<Rest> {
  const server = await openDatabaseServer()
  const services = []
  try {
    const startMs: number[] = []
    for (const count of COUNTS) {
      onProgress(`${count.toLocaleString('en-US')} communities at rest`)
      const { url } = await server.database(`rest_${count}`)
      const first = await startService({ databaseUrl: url })
      await first.hourbank('community', 'create', '--slug', 'town', '--name', 'Town')
      const { token } = await first.addPartner('town', 'Bank')
      const body = { event_types: ['*'], target_url: 'https://receiver.test/hook' }
      await first.call('POST', '/webhooks/subscriptions', token, body)
      const [town] = await first.sql<[{ id: number }]>`select id from communities where slug = 'town'`
      // So that no month is left to close.
      await closeDueCommunities(first.sql, createLog('silent'), new Date())
      await copyCommunity(first.sql, town.id, count)
      await first.stop()
      const startedMs = performance.now()
      services.push(await startService({ databaseUrl: url }))
      startMs.push(performance.now() - startedMs)
    }
    await pause(SETTLE_MS)
    const rounds: number[][] = COUNTS.map(() => [])
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await Promise.all(services.map(({ sql }) => readActiveMs(sql)))
      await pause(ROUND_MS)
      const after = await Promise.all(services.map(({ sql }) => readActiveMs(sql)))
      rounds.forEach((times, index) => times.push(((after[index]! - before[index]!) * 1000) / ROUND_MS))
    }
    return { communities: COUNTS, activeMs: rounds.map(median), startMs }
  } finally {
    for (const service of services) await service.stop()
    await server.close()
  }
}

/** The time that all sessions have spent executing statements. */
async function readActiveMs(sql: Sql): Promise<number> {
  const [row] = await sql<[{ ms: number }]>`
    select active_time as ms from pg_stat_database where datname = current_database()`
  return row.ms
}
