import type { Logger } from 'pino'
import { communitiesToFanOut, dueSubscriptions, type DueSubscription } from '../db/across-communities.ts'
import { coalesce, type CoalesceLimits } from '../db/coalesce.ts'
import type { Sql } from '../db/connect.ts'
import { fanOut } from '../events/fan-out.ts'
import { createBreaker } from './breaker.ts'
import { deliver, type Delivered } from './deliver.ts'
import {
  claimDeliveries,
  completeDeliveries,
  disableFailing,
  type ClaimedDelivery,
  type Completion,
} from './delivery-queries.ts'
import { FAILING_MAX_MS } from './schedule.ts'
import type { SecretBox } from '../http/secret-box.ts'
import { TIMEOUT_MS, type Sender } from './send.ts'

const POLL_MS = 1000
const PER_SUBSCRIPTION_MAX = 4
/** Under way at once on this node, and the share of one community while others wait. */
const UNDER_WAY_MAX = 256
const PER_COMMUNITY_MAX = 64
/** Longer than an attempt may take; when a worker dies, its deliveries are taken over after this. */
const LEASE_MS = TIMEOUT_MS + 10_000
const COMPLETION_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 100_000 }
const CLOSE_TIMEOUT_MS = 8000

export interface WorkerOptions {
  sql: Sql
  log: Logger
  box: SecretBox
  sender: Sender
  /** Tests move the clock; nothing here reads another. */
  clock?: () => Date
  random?: () => number
  /** Without it only `wake` starts a round. */
  poll?: boolean
}

export interface DeliveryWorker {
  /** Something may be due: look now. */
  wake(): void
  /** Takes no more, and waits for what is on the wire. */
  close(): Promise<void>
  /** Resolves when nothing is due or under way. */
  idle(): Promise<void>
}

export function startDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { sql, log, box, sender, clock = () => new Date(), random = Math.random } = options
  const breaker = createBreaker()
  const underWay = new Map<string, number>()
  const pending = new Set<Promise<void>>()
  let round: Promise<void> | undefined
  let again = false
  let closing = false

  const complete = coalesce(async (communityId: number, completions: Completion[]) => {
    await completeDeliveries(sql, communityId, completions, clock())
    return completions
  }, COMPLETION_LIMITS)

  /** One round at a time; a wake during a round makes another. */
  function wake(): void {
    if (closing) return
    again = true
    round ??= run().finally(() => {
      round = undefined
      if (again) wake()
    })
  }

  async function run(): Promise<void> {
    again = false
    try {
      for (const communityId of await communitiesToFanOut(sql)) while ((await fanOut(sql, communityId, clock())) > 0);
      await claimFairly(await dueSubscriptions(sql, clock()))
    } catch (error) {
      // The poll tries again; whatever was claimed comes back when its lease ends.
      log.warn({ err: error }, 'deliveries could not be looked for')
    }
  }

  /** Each community in turn gets its share, so that none waits for another's backlog. */
  async function claimFairly(due: DueSubscription[]): Promise<void> {
    for (const [communityId, subscriptionIds] of shuffledByCommunity(due, random)) {
      let share = Math.min(PER_COMMUNITY_MAX - count(`${communityId}`), UNDER_WAY_MAX - pending.size)
      const room = subscriptionIds.flatMap((subscriptionId) => {
        const free = Math.min(share, freeOf(communityId, subscriptionId))
        share -= Math.max(0, free)
        return free > 0 ? [{ subscriptionId, free }] : []
      })
      if (room.length === 0 || closing) continue
      for (const claimed of await claimDeliveries(sql, communityId, room, clock(), LEASE_MS))
        start(communityId, claimed)
    }
  }

  function freeOf(communityId: number, subscriptionId: number): number {
    const key = keyOf(communityId, subscriptionId)
    return breaker.room(key, PER_SUBSCRIPTION_MAX - count(key), count(key), clock().getTime())
  }

  function start(communityId: number, claimed: ClaimedDelivery): void {
    const key = keyOf(communityId, claimed.subscription_id)
    add(key, 1)
    add(`${communityId}`, 1)
    const work = attempt(communityId, key, claimed).finally(() => {
      add(key, -1)
      add(`${communityId}`, -1)
      pending.delete(work)
      wake()
    })
    pending.add(work)
  }

  async function attempt(communityId: number, key: string, claimed: ClaimedDelivery): Promise<void> {
    try {
      const { completion, ok }: Delivered = await deliver({ sql, box, sender, clock, random }, communityId, claimed)
      if (ok !== undefined) breaker.note(key, ok, clock().getTime())
      await complete(communityId, completion)
      if (ok === false) await disableIfDead(communityId, claimed.subscription_id)
    } catch (error) {
      log.error({ err: error, delivery: claimed.id }, 'a delivery could not be completed; its lease will end')
    }
  }

  async function disableIfDead(communityId: number, subscriptionId: number): Promise<void> {
    const now = clock()
    const disabled = await disableFailing(
      sql,
      communityId,
      [subscriptionId],
      new Date(now.getTime() - FAILING_MAX_MS),
      now,
    )
    if (disabled.length > 0) log.warn({ communityId, subscriptionId }, 'disabled: nothing but failures for five days')
  }

  const count = (key: string) => underWay.get(key) ?? 0
  function add(key: string, change: number): void {
    const next = count(key) + change
    if (next === 0) underWay.delete(key)
    else underWay.set(key, next)
  }

  const timer = options.poll === false ? undefined : setInterval(wake, POLL_MS)
  wake()

  async function idle(): Promise<void> {
    while (round || pending.size > 0) await Promise.all([round, ...pending])
  }

  return {
    wake,
    idle,
    async close() {
      clearInterval(timer)
      closing = true
      again = false
      const timeout = new Promise((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref())
      await Promise.race([idle(), timeout])
      await sender.close()
    },
  }
}

function keyOf(communityId: number, subscriptionId: number): string {
  return `${communityId}/${subscriptionId}`
}

function shuffledByCommunity(due: DueSubscription[], random: () => number): [number, number[]][] {
  const byCommunity = new Map<number, number[]>()
  for (const { community_id, id } of due) byCommunity.set(community_id, [...(byCommunity.get(community_id) ?? []), id])
  return [...byCommunity]
    .map((entry) => ({ entry, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ entry }) => entry)
}
