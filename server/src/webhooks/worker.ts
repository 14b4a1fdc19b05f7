import type { Logger } from 'pino'
import { communitiesToFanOut, dueSubscriptions, type DueSubscription } from '../db/across-communities.ts'
import { databaseClock } from '../db/clock.ts'
import { coalesce, type CoalesceLimits } from '../db/coalesce.ts'
import type { Sql } from '../db/connect.ts'
import { FAN_OUT_MAX, fanOut } from '../events/fan-out.ts'
import type { SecretBox } from '../http/secret-box.ts'
import { within } from '../within.ts'
import { createBreaker } from './breaker.ts'
import { deliver } from './deliver.ts'
import {
  claimDeliveries,
  completeDeliveries,
  disableFailing,
  noteHealth,
  type ClaimedDelivery,
  type Completion,
  type LostDelivery,
} from './delivery-queries.ts'
import { FAILING_MAX_MS } from './schedule.ts'
import { TIMEOUT_MS, type Sender } from './send.ts'

const POLL_MS = 1000
const PER_SUBSCRIPTION_MAX = 4
/** Under way at once on this node, and for one community. */
const UNDER_WAY_MAX = 256
const PER_COMMUNITY_MAX = 64
/** Beyond these, for subscriptions with nothing under way: slow receivers may take all of the above for their 15 s. */
const RESERVED_MAX = 768
const RESERVED_PER_COMMUNITY_MAX = 192
/** Longer than an attempt may take; when a worker dies, its deliveries are taken over after this. */
const LEASE_MS = TIMEOUT_MS + 10_000
const COMPLETION_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 2, waitingMax: 100_000 }
/** For what is on the wire, then for what is left to write down; all of it within the ten seconds of a shutdown. */
const CLOSE_TIMEOUT_MS = 8000
const LAST_WORDS_TIMEOUT_MS = 1000

export interface WorkerOptions {
  sql: Sql
  log: Logger
  box: SecretBox
  sender: Sender
  /** The database's unless told otherwise. Tests move it; nothing here reads another. */
  clock?: () => Date
  random?: () => number
  /** Without it only `wake` starts a round. */
  poll?: boolean
  /** Shorter than usual, for tests that wait for it. */
  closeTimeoutMs?: number
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
  const { sql, log, box, sender, random = Math.random } = options
  const shared = databaseClock(sql)
  const clock = options.clock ?? shared.now
  const breaker = createBreaker()
  const underWay = new Map<string, number>()
  const pending = new Set<Promise<void>>()
  let closing = false

  // Apart, so that a community that writes without pause does not keep the others' deliveries from being claimed.
  const fanningOut = repeat(fanOutAll, () => closing)
  const claiming = repeat(
    async () => {
      try {
        await shared.sync()
        await claimFairly(await dueSubscriptions(sql, clock()))
      } catch (error) {
        // The poll tries again; whatever was claimed comes back when its lease ends.
        log.warn({ err: error }, 'deliveries could not be looked for')
      }
    },
    () => closing,
  )

  function wake(): void {
    fanningOut.wake()
    claiming.wake()
  }

  /** One batch of each community that has any, then again. */
  async function fanOutAll(): Promise<void> {
    try {
      await shared.sync()
      for (const communityId of await communitiesToFanOut(sql)) {
        if (closing) return
        await fanOutOne(communityId)
      }
    } catch (error) {
      log.warn({ err: error }, 'events could not be looked for')
    }
  }

  async function fanOutOne(communityId: number): Promise<void> {
    try {
      const placed = await fanOut(sql, communityId, clock())
      if (placed > 0) claiming.wake()
      if (placed === FAN_OUT_MAX) fanningOut.wake()
    } catch (error) {
      log.warn({ err: error, communityId }, 'events could not be put in order; the next round tries again')
    }
  }

  const complete = coalesce(async (communityId: number, completions: Completion[]) => {
    await completeDeliveries(sql, communityId, completions, clock())
    const health = healthOf(completions)
    if (health.length > 0) await noteHealth(sql, communityId, health, clock())
    return completions
  }, COMPLETION_LIMITS)

  /** Each community in turn gets its share, so that none waits for another's backlog. */
  async function claimFairly(due: DueSubscription[]): Promise<void> {
    for (const [communityId, subscriptions] of byCommunity(shuffled(due, random))) {
      if (closing) return
      const room = roomFor(communityId, subscriptions)
      if (room.length === 0) continue
      const goingBy = new Map(subscriptions.map(({ id, set_going_at }) => [id, set_going_at]))
      for (const claimed of await claimDeliveries(sql, communityId, room, clock(), LEASE_MS)) {
        start(communityId, claimed, goingBy.get(claimed.subscription_id)!)
      }
    }
  }

  function roomFor(communityId: number, subscriptions: DueSubscription[]): { subscriptionId: number; free: number }[] {
    const ofCommunity = count(`${communityId}`)
    let share = Math.min(PER_COMMUNITY_MAX - ofCommunity, UNDER_WAY_MAX - pending.size)
    const beyond = [
      RESERVED_PER_COMMUNITY_MAX + PER_COMMUNITY_MAX - ofCommunity,
      RESERVED_MAX + UNDER_WAY_MAX - pending.size,
    ]
    let reserved = Math.min(...beyond) - Math.max(0, share)
    return subscriptions.flatMap(({ id, set_going_at }) => {
      const key = keyOf(communityId, id)
      const ofSubscription = count(key)
      const wanted = breaker.room(
        `${key} ${set_going_at}`,
        PER_SUBSCRIPTION_MAX - ofSubscription,
        ofSubscription,
        clock().getTime(),
      )
      const free = Math.min(wanted, Math.max(0, share))
      share -= Math.max(0, free)
      if (free > 0) return [{ subscriptionId: id, free }]
      if (wanted <= 0 || ofSubscription > 0 || reserved <= 0) return []
      reserved -= 1
      return [{ subscriptionId: id, free: 1 }]
    })
  }

  function start(communityId: number, claimed: ClaimedDelivery | LostDelivery, setGoingAt: string): void {
    const key = keyOf(communityId, claimed.subscription_id)
    add(key, 1)
    add(`${communityId}`, 1)
    let isOnTheWire = true
    // The receiver is free for another as soon as it has answered, not only when that has been written down.
    const release = () => {
      if (!isOnTheWire) return
      isOnTheWire = false
      add(key, -1)
      add(`${communityId}`, -1)
      claiming.wake()
    }
    const work = attempt(communityId, `${key} ${setGoingAt}`, claimed, release).finally(() => {
      release()
      pending.delete(work)
      claiming.wake()
    })
    pending.add(work)
  }

  /** Never rejects: what could not be written down is tried again when its lease ends. */
  async function attempt(
    communityId: number,
    breakerKey: string,
    claimed: ClaimedDelivery | LostDelivery,
    release: () => void,
  ): Promise<void> {
    try {
      const completion = await deliver({ sql, box, sender, clock, random }, communityId, claimed)
      if (!completion) return
      const ok = completion.attempt?.ok
      if (ok !== undefined) breaker.note(breakerKey, ok, clock().getTime())
      if (ok) release()
      await complete(communityId, completion)
      if (ok === false) await disableIfDead(communityId, claimed.subscription_id)
    } catch (error) {
      log.error({ err: error, delivery: claimed.id }, 'a delivery could not be completed; its lease will end')
    }
  }

  async function disableIfDead(communityId: number, subscriptionId: number): Promise<void> {
    const now = clock()
    const failingSince = new Date(now.getTime() - FAILING_MAX_MS)
    const disabled = await disableFailing(sql, communityId, [subscriptionId], failingSince, now)
    if (disabled.length > 0) log.warn({ communityId, subscriptionId }, 'disabled: nothing but failures for five days')
  }

  function count(key: string): number {
    return underWay.get(key) ?? 0
  }
  function add(key: string, change: number): void {
    const next = count(key) + change
    if (next === 0) underWay.delete(key)
    else underWay.set(key, next)
  }

  const timer = options.poll === false ? undefined : setInterval(wake, POLL_MS)
  wake()

  async function idle(): Promise<void> {
    for (;;) {
      const busy = [fanningOut.running(), claiming.running(), ...pending].filter((work) => work !== undefined)
      if (busy.length === 0) return
      await Promise.all(busy)
    }
  }

  return {
    wake,
    idle,
    async close() {
      clearInterval(timer)
      closing = true
      await within(options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS, idle())
      // What is still on the wire is broken off, and given back for another node to send.
      await sender.close()
      await within(LAST_WORDS_TIMEOUT_MS, idle())
    },
  }
}

/** One run at a time; a wake during a run makes another. */
function repeat(work: () => Promise<void>, isClosing: () => boolean) {
  let current: Promise<void> | undefined
  let again = false

  async function run(): Promise<void> {
    do {
      again = false
      await work()
    } while (again && !isClosing())
    current = undefined
  }

  return {
    wake() {
      if (isClosing()) return
      again = true
      current ??= run()
    },
    running: () => current,
  }
}

function keyOf(communityId: number, subscriptionId: number): string {
  return `${communityId}/${subscriptionId}`
}

/** One success among them says that the receiver lives. */
function healthOf(completions: Completion[]): { subscriptionId: number; ok: boolean }[] {
  const bySubscription = new Map<number, boolean>()
  for (const { subscriptionId, attempt } of completions) {
    if (attempt) bySubscription.set(subscriptionId, attempt.ok || (bySubscription.get(subscriptionId) ?? false))
  }
  return [...bySubscription].map(([subscriptionId, ok]) => ({ subscriptionId, ok }))
}

function byCommunity(due: DueSubscription[]): Map<number, DueSubscription[]> {
  const groups = new Map<number, DueSubscription[]>()
  for (const subscription of due) {
    const group = groups.get(subscription.community_id)
    if (group) group.push(subscription)
    else groups.set(subscription.community_id, [subscription])
  }
  return groups
}

function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ item }) => item)
}
