import { expect, test } from 'vitest'
import { eventually, startBank } from './bank.ts'
import { isCacheTrusted } from './access-calls.ts'
import { serveAsProcess } from './command-line.ts'
import { isFullVolume } from './volume.ts'
import { describeWithdrawals, type Nodes, type Withdrawal } from './withdrawals.ts'

/** The processes start, and each kind of withdrawal happens several times. */
const TIMEOUT_MS = 900_000
const ROUNDS = isFullVolume ? 5 : 2
const ROUNDS_WITHOUT_LISTENER = isFullVolume ? 2 : 1
/** Calls that start together as soon as the withdrawal is acknowledged. */
const CALLS_AT_ONCE = 8
/** What a node may take that is cut off at the moment of the withdrawal. */
const CUT_OFF_MS = 100
/** Longer than a node trusts its cache without hearing anything. */
const WATCH_MS = 1_500

async function startNodes(): Promise<Nodes> {
  const bank = await startBank()
  const [first, second] = [await serveAsProcess(bank.databaseUrl), await serveAsProcess(bank.databaseUrl)]
  return { bank, first, second }
}

/** The second node has used the access, from its cache where there is one. */
async function prepare(nodes: Nodes, make: () => Promise<Withdrawal>): Promise<Withdrawal> {
  const withdrawal = await make()
  await eventually(() => isCacheTrusted(nodes.second))
  for (let uses = 0; uses < 3; uses++) expect(await withdrawal.use()).toBeLessThan(300)
  return withdrawal
}

const isSuccess = (status: number) => status < 300

test(
  'of calls on another node that start after a withdrawal is acknowledged, none succeeds',
  { timeout: TIMEOUT_MS },
  async () => {
    const nodes = await startNodes()
    const late: Record<string, string> = {}
    for (const [kind, make] of Object.entries(await describeWithdrawals(nodes))) {
      let [calls, successes] = [0, 0]
      for (let round = 0; round < ROUNDS; round++) {
        const { use, withdraw, undo } = await prepare(nodes, make)
        expect([kind, await withdraw()]).toEqual([kind, 200])
        const statuses = await Promise.all(Array.from({ length: CALLS_AT_ONCE }, use))
        calls += statuses.length
        successes += statuses.filter(isSuccess).length
        await undo?.()
      }
      console.log(`${kind}: ${calls} calls after the acknowledgement, ${successes} succeeded`)
      if (successes > 0) late[kind] = `${successes} of ${calls}`
    }
    expect(late).toEqual({})
  },
)

test(
  'a node whose listening connection is ended at that moment distrusts its cache at once',
  { timeout: TIMEOUT_MS },
  async () => {
    const nodes = await startNodes()
    const late: Record<string, number> = {}
    for (const [kind, make] of Object.entries(await describeWithdrawals(nodes))) {
      let latestMs = -Infinity
      for (let round = 0; round < ROUNDS_WITHOUT_LISTENER; round++) {
        const { use, withdraw, undo } = await prepare(nodes, make)
        // Both at once: neither waits for the other. The listeners of all nodes end, so that nobody hears of it.
        const [status] = await Promise.all([withdraw(), endListeners(nodes)])
        const sinceMs = performance.now()
        expect([kind, status]).toEqual([kind, 200])
        while (performance.now() - sinceMs < WATCH_MS) {
          const startedMs = performance.now() - sinceMs
          if (isSuccess(await use())) latestMs = Math.max(latestMs, startedMs)
        }
        await undo?.()
      }
      const text = latestMs === -Infinity ? 'none succeeded' : `the last success began after ${latestMs.toFixed()} ms`
      console.log(`${kind}, listener ended: ${text}`)
      if (latestMs > CUT_OFF_MS) late[kind] = latestMs
    }
    expect(late).toEqual({})
  },
)

/** Waits until PostgreSQL has ended them. */
async function endListeners({ bank }: Nodes): Promise<void> {
  await bank.sql`
    select pg_terminate_backend(pid, 60000) from pg_stat_activity
    where datname = current_database() and application_name = 'hourbank listening'`
}
