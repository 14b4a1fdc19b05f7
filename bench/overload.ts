import { cpus } from 'node:os'
import { startChild } from './children.ts'
import { pin, splitCores } from './cores.ts'
import { stolenSeconds } from './cpu.ts'
import { percentile, rounded } from './figures.ts'
import type { Arrivals, Arrived, Kind } from './load/arrivals.ts'
import { watchMemory } from './memory.ts'
import {
  disturbances,
  goodput,
  latencies,
  misses,
  percent,
  secondsUntilNormal,
  type Figures,
} from './overload-verdict.ts'
import { openDatabaseServer, residentBytes } from './service.ts'
import { startTown, type Town } from './town.ts'

/*
 * `npm run test:overload`: more calls than the service can handle. One process of the service, with the database on
 * the same half of the cores; the load generator has the other half to itself.
 */

const TIMES = [1, 2, 4]
const WARM_UP_SECONDS = 8
const PEAK_SECONDS = 6
const PEAK_CONNECTIONS = 64
const OVERLOAD_SECONDS = 10
const AFTER_SECONDS = 8
/** A round that something else on the machine disturbed is measured again, up to this number in all. */
const TRIES_MAX = 6
/** What the service handles without queues. */
const LIGHT_SHARE = 0.3

const say = (text: string) => console.error(text)

function kindsOf({ partners }: Town): Kind[] {
  const authorizations = partners.map(({ token }) => `Bearer ${token}`)
  const api = '/api/partner/v1'
  const credit = JSON.stringify({ user_id: '{member}', hours: 0.25, reference: '{unique}' })
  return [
    {
      weight: 6,
      method: 'POST',
      path: `${api}/wallet/credit`,
      body: credit.replace('"{member}"', '{member}'),
      authorizations,
    },
    { weight: 2, method: 'GET', path: `${api}/users/{member}`, authorizations },
    { weight: 1, method: 'GET', path: `${api}/wallet/balance/{member}`, authorizations },
    { weight: 1, method: 'GET', path: `${api}/users?limit=100`, authorizations },
  ]
}

const cores = splitCores()
if (!cores) say('The load generator shares its cores with the service: rejections may look late.')
const server = await openDatabaseServer()
const town = await startTown(server, { WEB_CONCURRENCY: '1' }, say)
const generator = await startChild<Arrivals, Arrived>('load/arrivals-generator.ts')
if (cores) pin(generator.pid, cores.generator)

const kinds = kindsOf(town)
const send = (load: Pick<Arrivals, 'perSecond' | 'connections'>, seconds: number) =>
  generator.ask({ port: town.service.port, kinds, members: town.members, seconds, ...load })

async function measurePeak(): Promise<number> {
  return goodput(await send({ connections: PEAK_CONNECTIONS }, PEAK_SECONDS), PEAK_SECONDS)
}

async function overload(times: number): Promise<Figures> {
  const peakBefore = await measurePeak()
  const perSecond = times * peakBefore
  const light = { perSecond: LIGHT_SHARE * peakBefore }
  const normal = await send(light, PEAK_SECONDS)
  const normalMs = percentile(latencies(normal, Boolean), 0.95)
  const memory = watchMemory(() => residentBytes(town.service.pid))
  const stolenBefore = await stolenSeconds()
  const during = await send({ perSecond }, OVERLOAD_SECONDS)
  const stolen = ((await stolenSeconds()) - stolenBefore) / OVERLOAD_SECONDS
  memory.stop()
  const after = await send(light, AFTER_SECONDS)
  const peakAfter = await measurePeak()

  const peakPerSecond = (peakBefore + peakAfter) / 2
  const rejected = latencies(during, (status) => status === 503)
  const admitted = latencies(during, (status) => status < 300)
  return {
    times,
    perSecond,
    peakPerSecond,
    // At the peak itself there is no excess, and arrivals are what limits the throughput.
    kept: goodput(during, OVERLOAD_SECONDS) / Math.min(peakPerSecond, perSecond),
    rejected: rejected.length,
    rejectedMs: { p50: percentile(rejected, 0.5), p99: percentile(rejected, 0.99) },
    admittedMs: { p50: percentile(admitted, 0.5), p99: percentile(admitted, 0.99) },
    withoutRetryAfter: during.withoutRetryAfter,
    failed: during.unanswered + during.status.length - rejected.length - admitted.length,
    generatorLateMs: during.lateMs.p99,
    stolen,
    peaksApart: Math.abs(peakBefore - peakAfter) / Math.min(peakBefore, peakAfter),
    residentMb: (memory.max() ?? 0) / 2 ** 20,
    normalAgainSeconds: secondsUntilNormal(after, normalMs, AFTER_SECONDS),
  }
}

/** Undefined if the machine was never quiet. */
async function overloadUndisturbed(times: number): Promise<Figures | undefined> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const figures = await overload(times)
    say(describe(figures))
    const disturbed = disturbances(figures)
    if (disturbed.length === 0) return figures
    say(`measured again: ${disturbed.join('; ')}`)
  }
  return undefined
}

function describe(figures: Figures): string {
  const { times, perSecond, kept, peakPerSecond, rejected, rejectedMs, admittedMs } = figures
  return (
    `${times} ×: ${rounded(perSecond)} calls/s, ${percent(kept)} of the peak of ${rounded(peakPerSecond)}/s kept, ` +
    `admitted in ${rounded(admittedMs.p50)} ms (p99 ${rounded(admittedMs.p99)}), ` +
    `${rejected} rejected in ${rounded(rejectedMs.p50)} ms (p99 ${rounded(rejectedMs.p99)}), ` +
    `${figures.failed} failed, ${rounded(figures.residentMb)} MB, normal again after ${figures.normalAgainSeconds} s, ` +
    `generator late by ${rounded(figures.generatorLateMs)} ms`
  )
}

try {
  say('warming up')
  await send({ connections: PEAK_CONNECTIONS }, WARM_UP_SECONDS)
  const missed: string[] = []
  for (const times of TIMES) {
    const figures = await overloadUndisturbed(times)
    missed.push(...(figures ? misses(figures) : [`${times} ×: disturbed ${TRIES_MAX} times`]))
  }
  const where = `${cpus().length} cores${cores ? `, ${cores.generator} for the generator` : ''}`
  console.log(missed.length === 0 ? `overload: holds (${where})` : `overload: missed (${where}): ${missed.join('; ')}`)
  process.exitCode = missed.length === 0 ? 0 : 1
} finally {
  await generator.stop()
  await town.stop()
  await server.close()
}
