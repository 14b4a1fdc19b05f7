import { parseArgs } from 'node:util'
import { makeCertificate } from './certificate.ts'
import { hold, type Outcome, type Plan } from './contest.ts'
import { prepareContests } from './contests.ts'
import { deliveryContest, measureBacklog, startReceiver, type Backlog } from './deliveries.ts'
import { EARLIER_CONTESTS, startEarlierContest } from './earlier-contests.ts'
import { measureOneSubscription, type OneSubscription } from './one-subscription.ts'
import { report, type Results } from './report.ts'
import { openDatabaseServer } from './service.ts'
import { startTown } from './town.ts'
import { watchMemory } from './memory.ts'

/**
 * Many short rounds: the speed of a shared machine changes within seconds, and both sides of a pair should meet it. The
 * first warming up is long: after twelve seconds of lists, each took a third less CPU time than before.
 */
const WHOLE: Plan = { rounds: 15, firstWarmUpMs: 20_000, times: { warmUpMs: 300, measureMs: 1000 }, barsOnly: false }
/** Each has 5,000 credits, so few are enough. */
const ONE_SUBSCRIPTION_ROUNDS_MAX = 5
const QUICK: Plan = { rounds: 3, firstWarmUpMs: 1000, times: { warmUpMs: 150, measureMs: 500 }, barsOnly: true }
const ROWS = [
  'users-by-id',
  'credit',
  ...Object.keys(EARLIER_CONTESTS),
  'batch',
  'token',
  'users-page',
  'aggregates',
  'deliveries',
  'one-subscription',
  'backlog',
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, help: { type: 'boolean' }, rounds: { type: 'string' } },
})
const unknown = positionals.filter((name) => !ROWS.includes(name))
if (values.help || unknown.length > 0) {
  console.log(`npm run bench -- [--quick] [--rounds N] [ROW …]\nRows: ${ROWS.join(', ')}`)
  process.exit(unknown.length > 0 ? 1 : 0)
}
const wanted = positionals.length > 0 ? positionals : ROWS
const plan = { ...(values.quick ? QUICK : WHOLE), ...(values.rounds && { rounds: Number(values.rounds) }) }

const startedMs = performance.now()
function progress(text: string): void {
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  process.stderr.write(`[${`${seconds}`.padStart(4)} s] ${text}\n`)
}

async function run(): Promise<Results> {
  progress('starting a database')
  const certificate = makeCertificate()
  const server = await openDatabaseServer()
  const town = await startTown(
    server,
    { NODE_EXTRA_CA_CERTS: certificate.caFile, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
    progress,
  )
  const { service } = town
  const contests = await prepareContests(town)
  const receiver = await startReceiver(certificate)
  const memory = watchMemory(() => service.peakResidentBytes())
  const outcomes: Outcome[] = []
  let oneSubscription: OneSubscription | undefined
  let backlog: Backlog | undefined
  try {
    for (const contest of contests.list) {
      if (wanted.includes(contest.name)) outcomes.push(...(await hold(contest, plan, progress)))
    }
    for (const name of Object.keys(EARLIER_CONTESTS).filter((one) => wanted.includes(one))) {
      const { contest, stop } = await startEarlierContest(name, progress)
      outcomes.push(...(await hold(contest, plan, progress)))
      await stop()
    }
    if (wanted.includes('deliveries')) {
      const { contest, stop } = await deliveryContest(service, receiver, certificate)
      outcomes.push(...(await hold(contest, plan, progress)))
      await stop()
    }
    if (wanted.includes('one-subscription')) {
      oneSubscription = await measureOneSubscription(
        town,
        receiver,
        Math.min(plan.rounds, ONE_SUBSCRIPTION_ROUNDS_MAX),
        progress,
      )
    }
    if (wanted.includes('backlog')) {
      progress('backlog: 100 fresh events beside 100,000 waiting deliveries')
      backlog = await measureBacklog(service, receiver)
    }
    const [version] = await service.sql<[{ server_version: string }]>`show server_version`
    return { outcomes, oneSubscription, backlog, residentBytesMax: memory.max(), postgres: version.server_version }
  } finally {
    memory.stop()
    await receiver.process.stop()
    await contests.stop()
    await town.stop()
    await server.close()
    certificate.remove()
  }
}

const isWhole = positionals.length === 0 && !values.quick
process.exitCode = (await report(await run(), { isWhole, plan })) ? 0 : 1
