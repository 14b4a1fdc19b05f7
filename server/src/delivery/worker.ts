import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { within } from '../core/within.ts'
import type { SecretBox } from '../crypto/secret-box.ts'
import { createEmailReadRecorder } from '../features/members/record-email-reads.ts'
import { communitiesToFanOut, communitiesWithRetries, dueQueues } from '../postgres/across-communities.ts'
import { databaseClock } from '../postgres/clock.ts'
import { coalesce, type CoalesceLimits } from '../postgres/coalesce.ts'
import type { Sql } from '../postgres/connect.ts'
import { disableFailing, holdDeliveries, noteHealth, type Hold } from './delivery-queries.ts'
import { FAN_OUT_MAX, fanOut } from './fan-out.ts'
import type { Metrics } from '../http/shared/metrics.ts'
import { createLimiter } from './limiter.ts'
import { claimQueues, limitDelays, releaseQueues, renewLeases, type Lease, type Release } from './queue-queries.ts'
import { openQueue, type Queue, type QueueDeps } from './queue.ts'
import { readDueDeliveries, type DueRequest } from './read-due.ts'
import { recordCompletions, type Completion } from './record-completions.ts'
import { repeat } from './repeat.ts'
import { LONGEST_DELAYS_MS } from './schedule.ts'
import type { Sender } from './send.ts'
import { deliveryAnnouncer } from './wake.ts'

const POLL_MS = 1000
/** When a worker dies, others take over its queues after this time. */
const LEASE_MS = 10_000
/** A lease that ends sooner is renewed. */
const RENEW_MS = 7000
/** A lease that ends later than this was taken before the database's clock was set back. */
const LEASE_MAX_MS = 2 * LEASE_MS
/** Queues of one community: claimed in one round, so that other workers get their share; and held at once. */
const CLAIMS_MAX = 16
const QUEUES_PER_COMMUNITY_MAX = 256
/** Queues found in one round. */
const FOUND_MAX = 1000
/** If the database's clock is set back by more than this, scheduled retries would be late. */
const SET_BACK_MS = 5000
/** Statements of one community, one at a time per kind. */
const STATEMENT_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 1, waitingMax: 100_000 }
/** For deliveries in flight, then for what is left to record; together within the ten seconds of a shutdown. */
const CLOSE_TIMEOUT_MS = 8000
const FINAL_RECORD_TIMEOUT_MS = 1000
/** Until a delivery that someone else has locked, such as a replay, is recorded, or read again to be held. */
const LOCKED_PAUSE_MS = 250

export interface WorkerOptions {
  sql: Sql
  log: Logger
  box: SecretBox
  sender: Sender
  /** Defaults to the database's clock. Tests set it; nothing here reads another clock. */
  clock?: () => Date
  random?: () => number
  /** Whether access changes are sure to be announced to `invalidate`. */
  mayReadAhead?: () => boolean
  /** Counts results by outcome. */
  counter?: Pick<Metrics['deliveries'], 'inc'>
  /** If false, only `wake` starts a round. */
  poll?: boolean
  /** Tests pass a shorter one. */
  closeTimeoutMs?: number
}

export interface DeliveryWorker {
  /** There may be events to fan out or deliveries to send. */
  wake(): void
  /** Access may have changed, in this community or in any: deliveries that were loaded are read and checked again. */
  invalidate(communityId: number | undefined): void
  /** Starts nothing more, waits for deliveries in flight and gives the leases up. */
  close(): Promise<void>
  /** Resolves when nothing is due or in flight. */
  idle(): Promise<void>
}

/** Fans events out and sends due deliveries. README.md has the picture. */
export function startDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { sql, log, random = Math.random, mayReadAhead = () => true } = options
  const worker = randomUUID()
  const shared = databaseClock(sql)
  const clock = options.clock ?? shared.now
  const announce = deliveryAnnouncer(sql, log)
  const queues = new Map<string, Queue>()
  let isClosing = false
  let wasSetBack = false
  /** Those for which this worker has as many queues as it may. */
  let fullCommunities: number[] = []

  const recordOne = coalesce(record, STATEMENT_LIMITS)
  const holdOne = coalesce(hold, STATEMENT_LIMITS)
  const deps: QueueDeps = {
    sql,
    recordEmailRead: createEmailReadRecorder(sql),
    log,
    box: options.box,
    sender: options.sender,
    clock,
    random,
    limiter: createLimiter(),
    mayReadAhead,
    isFull: (communityId) => fullCommunities.includes(communityId),
    readDue: coalesce(
      (communityId: number, requests: DueRequest[]) => readDueDeliveries(sql, communityId, worker, requests, clock()),
      STATEMENT_LIMITS,
    ),
    async record(communityId, completion) {
      while (!(await recordOne(communityId, completion))) await pause(LOCKED_PAUSE_MS, undefined, { ref: false })
    },
    async hold(communityId, held) {
      if (!(await holdOne(communityId, held))) await pause(LOCKED_PAUSE_MS, undefined, { ref: false })
    },
    release: coalesce(
      (communityId: number, releases: Release[]) => releaseQueues(sql, communityId, worker, releases),
      STATEMENT_LIMITS,
    ),
    announce,
  }

  /** Returns whether each is recorded. The statement waits for no delivery, because it serves the whole community. */
  async function record(communityId: number, completions: Completion[]): Promise<boolean[]> {
    const locked = await recordCompletions(sql, communityId, completions, clock())
    const recorded = completions.filter(({ id }) => !locked.has(id))
    for (const completion of recorded) options.counter?.inc({ outcome: outcomeOf(completion) })
    const now = clock()
    const attempts = recorded.flatMap(({ subscriptionId, attempt }) =>
      attempt ? [{ subscriptionId, at: attempt.at, ok: attempt.outcome.ok }] : [],
    )
    if (attempts.length > 0) await noteHealth(sql, communityId, attempts, now)
    const failing = attempts.flatMap(({ subscriptionId, ok }) => (ok ? [] : [subscriptionId]))
    if (failing.length > 0) {
      const disabled = await disableFailing(sql, communityId, failing, now)
      if (disabled.length > 0) log.warn({ communityId, disabled }, 'subscriptions disabled after five days of failures')
    }
    return completions.map(({ id }) => !locked.has(id))
  }

  async function hold(communityId: number, holds: Hold[]): Promise<boolean[]> {
    const done = await holdDeliveries(sql, communityId, holds, clock())
    return holds.map(({ id }) => done.has(id))
  }

  // Separate loops, so that a community that writes without pause does not keep deliveries from being claimed.
  const fanningOut = repeat(fanOutAll, () => isClosing)
  const claiming = repeat(claimDue, () => isClosing)

  function wake(): void {
    fanningOut.wake()
    for (const queue of queues.values()) queue.wake()
    claiming.wake()
  }

  /** Fans out one batch of each community that has events. */
  async function fanOutAll(): Promise<void> {
    try {
      await syncClock()
      for (const communityId of await communitiesToFanOut(sql)) {
        if (isClosing) return
        await fanOutOne(communityId)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not read which communities have events; retrying')
    }
  }

  async function fanOutOne(communityId: number): Promise<void> {
    try {
      const { events, queues: marked } = await fanOut(sql, communityId, clock())
      if (events === FAN_OUT_MAX) fanningOut.wake()
      for (const { subscription_id } of marked) queues.get(keyOf(communityId, subscription_id))?.wake()
      if (marked.length > 0) claiming.wake()
      // Another worker has the lease.
      if (marked.some((queue) => queue.worker !== null && queue.worker !== worker)) announce()
    } catch (error) {
      log.warn({ err: error, communityId }, 'events could not be fanned out; the next round tries again')
    }
  }

  async function claimDue(): Promise<void> {
    try {
      await syncClock()
      await renewAll()
      const now = clock()
      const counts = groupBy([...queues.values()], (queue) => queue.communityId)
      fullCommunities = [...counts].flatMap(([id, held]) => (held.length < QUEUES_PER_COMMUNITY_MAX ? [] : [id]))
      const found = await dueQueues(sql, {
        now,
        leaseMax: leaseFrom(now).untilMax,
        fullCommunities,
        perCommunityMax: CLAIMS_MAX,
        limit: FOUND_MAX,
      })
      for (const [communityId, due] of groupBy(found, (queue) => queue.community_id)) {
        if (isClosing) return
        const claims = await claim(
          communityId,
          due.map((queue) => queue.subscription_id),
        )
        if (claims > 0 && due.length === CLAIMS_MAX) claiming.wake()
      }
    } catch (error) {
      log.warn({ err: error }, 'could not read which queues are due; retrying')
    }
  }

  async function claim(communityId: number, subscriptionIds: number[]): Promise<number> {
    const free = subscriptionIds.filter((id) => !queues.has(keyOf(communityId, id)))
    if (free.length === 0) return 0
    const lease = leaseFrom(clock())
    const claimed = await claimQueues(sql, communityId, free, lease)
    for (const one of claimed) void run(openQueue(deps, communityId, one, lease.until))
    return claimed.length
  }

  async function run(queue: Queue): Promise<void> {
    const key = keyOf(queue.communityId, queue.subscriptionId)
    queues.set(key, queue)
    if (isClosing) queue.stop()
    const isDue = await queue.finished
    queues.delete(key)
    if (isDue) claiming.wake()
  }

  function leaseFrom(now: Date): Lease {
    const later = (ms: number) => new Date(now.getTime() + ms)
    return { worker, now, until: later(LEASE_MS), untilMax: later(LEASE_MAX_MS) }
  }

  async function renewAll(): Promise<void> {
    const lease = leaseFrom(clock())
    const ending = [...queues.values()].filter((queue) => {
      const leftMs = queue.leasedUntil.getTime() - lease.now.getTime()
      return leftMs < RENEW_MS || leftMs > LEASE_MAX_MS
    })
    for (const [communityId, ofCommunity] of groupBy(ending, (queue) => queue.communityId)) {
      const ids = ofCommunity.map((queue) => queue.subscriptionId)
      const renewed = new Set(await renewLeases(sql, communityId, ids, lease))
      for (const queue of ofCommunity) if (renewed.has(queue.subscriptionId)) queue.leasedUntil = lease.until
    }
  }

  async function syncClock(): Promise<void> {
    const setByMs = await shared.sync()
    if (setByMs < -SET_BACK_MS) wasSetBack = true
    if (!wasSetBack) return
    const now = clock()
    let changed = 0
    for (const communityId of await communitiesWithRetries(sql, now)) {
      changed += await limitDelays(sql, communityId, LONGEST_DELAYS_MS, now)
    }
    wasSetBack = false
    log.warn({ setByMs: Math.round(setByMs), changed }, 'the database clock was set back; retries were rescheduled')
  }

  const timer = options.poll === false ? undefined : setInterval(wake, POLL_MS)
  wake()

  async function idle(): Promise<void> {
    for (;;) {
      const busy = [
        fanningOut.running(),
        claiming.running(),
        ...[...queues.values()].map(({ finished }) => finished),
      ].filter((work) => work !== undefined)
      if (busy.length === 0) return
      await Promise.all(busy)
    }
  }

  return {
    wake,
    idle,
    invalidate(communityId) {
      for (const queue of queues.values()) {
        if (communityId === undefined || queue.communityId === communityId) queue.invalidate()
      }
    },
    async close() {
      clearInterval(timer)
      isClosing = true
      for (const queue of queues.values()) queue.stop()
      const renewing = setInterval(() => {
        renewAll().catch((error: unknown) => log.warn({ err: error }, 'leases could not be renewed'))
      }, POLL_MS)
      await within(options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS, idle())
      clearInterval(renewing)
      // Aborts what is still in flight, for another worker to send.
      await options.sender.close()
      await within(FINAL_RECORD_TIMEOUT_MS, idle())
    },
  }
}

function outcomeOf({ status }: Completion): string {
  return status === 'pending' ? 'retried' : status
}

function keyOf(communityId: number, subscriptionId: number): string {
  return `${communityId}/${subscriptionId}`
}

function groupBy<Key, Item>(items: Item[], keyOfItem: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOfItem(item))
    if (group) group.push(item)
    else groups.set(keyOfItem(item), [item])
  }
  return groups
}
