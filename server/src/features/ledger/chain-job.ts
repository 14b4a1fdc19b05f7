import { clearInterval, setInterval } from 'node:timers'
import type { Logger } from 'pino'
import type { Progress } from '../../core/progress.ts'
import { throttle } from '../../core/throttle.ts'
import { connect, type Sql } from '../../postgres/connect.ts'
import {
  communitiesToChain,
  findOpenTransaction,
  readLastTransferNumber,
} from '../../postgres/unchained-communities.ts'
import { BATCH_MAX, chainLedger } from './chain-ledger.ts'
import { findWaitingSeconds } from './queries.ts'

/** A transfer can be changed unnoticed until it is chained, so this is short. */
const INTERVAL_MS = 15_000
const PROGRESS_INTERVAL_MS = 10_000
const STOP_TIMEOUT_MS = 1000
/** Long transactions may end by themselves; what holds the chain back for longer is worth a line, but not every run. */
const HELD_BACK_SECONDS = 300
const WARNING_INTERVAL_MS = 3_600_000

export interface ChainJob {
  /** Rolls back a batch in progress; another node or the next start repeats it. */
  stop(): Promise<void>
}

export interface ChainJobOptions {
  /** For the question whether there is anything to do. */
  background: Sql
  databaseUrl: string
  log: Logger
  /** Tests pass a shorter one. */
  intervalMs?: number
}

/** Adds new transfers to the chains of their communities, now and at intervals. Of several nodes, one at a time works on a community. */
export function startChainJob({ background, databaseUrl, log, intervalMs = INTERVAL_MS }: ChainJobOptions): ChainJob {
  let isStopped = false
  let running: Promise<void> | undefined
  let open: Sql | undefined

  /** All transfers up to this number are chained. A node at rest need not look at each of thousands of communities. */
  let chainedUpTo: number | undefined
  let silentUntilMs = 0

  /** The order matters: transactions that took a number up to the one read first are either open or visible. */
  async function findCommunities(): Promise<number[]> {
    const last = await readLastTransferNumber(background)
    if (last === chainedUpTo) return []
    const isOpen = (await findOpenTransaction(background)) !== undefined
    const communities = await communitiesToChain(background)
    chainedUpTo = isOpen || communities.length > 0 ? undefined : last
    return communities
  }

  async function run(): Promise<void> {
    const communities = await findCommunities()
    if (communities.length === 0 || isStopped) return
    // A separate connection, because the transfers of many years take minutes after an upgrade.
    const sql = (open = connect(databaseUrl, { connectionsMax: 1, name: 'ledger chain' }))
    try {
      for (const communityId of communities) {
        if (isStopped) return
        await chainCommunity(sql, communityId)
      }
    } finally {
      open = undefined
      await sql.end({ timeoutMs: STOP_TIMEOUT_MS })
    }
  }

  /** A community that fails, for example because it is removed meanwhile, does not hold up the others. */
  async function chainCommunity(sql: Sql, communityId: number): Promise<void> {
    let progress: Progress | undefined
    const tell = throttle(PROGRESS_INTERVAL_MS, () => {
      const { done, total } = progress!
      log.info({ community_id: communityId, chained: done, of: total }, 'chaining the ledger')
    })
    const onProgress = (made: Progress) => {
      progress = made
      // Only a backlog is worth a line.
      if ((made.total ?? 0) > BATCH_MAX) tell()
    }
    try {
      await chainLedger(sql, communityId, { onProgress, isStopped: () => isStopped })
      await warnIfHeldBack(sql, communityId)
    } catch (error) {
      if (!isStopped) log.warn({ err: error, community_id: communityId }, 'a ledger could not be chained')
    }
  }

  async function warnIfHeldBack(sql: Sql, communityId: number): Promise<void> {
    const seconds = await findWaitingSeconds(sql, communityId)
    if (isStopped || seconds < HELD_BACK_SECONDS || performance.now() < silentUntilMs) return
    silentUntilMs = performance.now() + WARNING_INTERVAL_MS
    const { pid, seconds: age } = (await findOpenTransaction(background)) ?? {}
    log.warn(
      { community_id: communityId, waiting_seconds: seconds, pid, transaction_seconds: age },
      'the ledger has not been chained for minutes, so changes of new transfers would not be noticed; ' +
        'end the transaction of this pid if nobody needs it',
    )
  }

  function start(): void {
    running ??= run()
      .catch((error: unknown) => {
        if (!isStopped) log.warn({ err: error }, 'the ledgers could not be chained; the next run tries again')
      })
      .finally(() => (running = undefined))
  }

  start()
  const timer = setInterval(start, intervalMs)
  return {
    async stop() {
      isStopped = true
      clearInterval(timer)
      await open?.end({ timeoutMs: STOP_TIMEOUT_MS })
      await running
    },
  }
}
