import dns from 'node:dns'
import { afterEach, onTestFinished, test, vi } from 'vitest'
import { startBank, startTestNode } from './bank.ts'
import { newDatabase } from './database.ts'
import { startFaultTrial } from './fault-trial.ts'
import { startFlakyProxy, type FlakyProxy } from './flaky-proxy.ts'
import { startRedis } from './redis.ts'
import { resetSystemClock, setSystemClock } from './system-clock.ts'

const TIMEOUTS = { handlerMs: 3000, requestMs: 30_000 }
const SLOW_MS = 200
const HOUR_MS = 60 * 60 * 1000
/** For a server with any other name, connections have to be encrypted. */
const DATABASE_NAME = 'localhost'

afterEach(resetSystemClock)

/** What happens to the database, and what callers may be told. */
const DATABASE_FAULTS: Record<string, { begin: (proxy: FlakyProxy) => void; told: number[] }> = {
  away: { begin: (proxy) => proxy.cut(), told: [503] },
  frozen: { begin: (proxy) => proxy.freeze(), told: [503] },
  slow: { begin: (proxy) => proxy.slow(SLOW_MS), told: [201, 503] },
  'half-open': {
    begin(proxy) {
      proxy.freeze()
      proxy.forget()
    },
    told: [201, 503],
  },
  resetting: { begin: (proxy) => proxy.reset(), told: [201, 503] },
  'out of connections': { begin: (proxy) => proxy.exhaust(), told: [503] },
}

test('when the database fails in any way, callers get an error in time, and nothing is lost or doubled', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const proxy = await startFlakyProxy(bank.databaseUrl)
  const { url } = await startTestNode(proxy.url, { config: { role: 'api' }, timeouts: TIMEOUTS })
  const trial = await startFaultTrial(bank, url)
  for (const [name, { begin, told }] of Object.entries(DATABASE_FAULTS)) {
    await trial.endure({ name: `database ${name}`, begin: () => begin(proxy), end: () => proxy.restore(), told })
  }
  await trial.finish()
})

/** Resolves the database's name until told otherwise. */
function serveDatabaseName(): { fail: () => void; restore: () => void } {
  const { lookup } = dns
  let isDown = false
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(((name: string, options: object, done: Function) => {
    if (name !== DATABASE_NAME) return lookup(name, options, done as () => void)
    if (!isDown) return lookup('127.0.0.1', options, done as () => void)
    const failure = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), {
      code: 'EAI_AGAIN',
      syscall: 'getaddrinfo',
    })
    process.nextTick(() => done(failure))
  }) as typeof lookup)
  onTestFinished(() => spy.mockRestore())
  return { fail: () => (isDown = true), restore: () => (isDown = false) }
}

test('while the name of the database does not resolve, callers get an error in time, and nothing is lost or doubled', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const names = serveDatabaseName()
  const proxy = await startFlakyProxy(bank.databaseUrl)
  const { url } = await startTestNode(proxy.url.replace('127.0.0.1', DATABASE_NAME), {
    config: { role: 'api' },
    timeouts: TIMEOUTS,
  })
  const trial = await startFaultTrial(bank, url)
  await trial.endure({
    name: 'DNS of the database fails',
    begin() {
      names.fail()
      // Names are only resolved for new connections.
      proxy.reset()
    },
    end: names.restore,
    told: [503],
  })
  await trial.finish()
})

test('while Redis is away or frozen, credits succeed', async () => {
  const redis = await startRedis()
  const databaseUrl = await newDatabase()
  const bank = await startBank({ databaseUrl, config: { role: 'api', redisUrl: redis.url } })
  const trial = await startFaultTrial(bank, bank.url)
  await trial.endure({ name: 'Redis away', begin: redis.kill, end: redis.restart, told: [201] })
  await trial.endure({ name: 'Redis frozen', begin: redis.freeze, end: redis.thaw, told: [201] })
  await trial.finish()
})

test('when the clock of the service steps, callers notice nothing', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const trial = await startFaultTrial(bank, bank.url)
  for (const [name, stepMs] of [
    ['one hour back', -HOUR_MS],
    ['two hours on', 2 * HOUR_MS],
  ] as const) {
    const begin = () => setSystemClock(stepMs)
    await trial.endure({ name: `clock steps ${name}`, begin, end: resetSystemClock, told: [201] })
  }
  await trial.finish()
})
