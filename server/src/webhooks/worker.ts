import type { Logger } from 'pino'
import { communitiesToFanOut, dueSubscriptions, type DueSubscription } from '../db/across-communities.ts'
import { databaseClock } from '../db/clock.ts'
import { coalesce, type CoalesceLimits } from '../db/coalesce.ts'
import type { Sql } from '../db/connect.ts'
import { FAN_OUT_MAX, fanOut } from '../events/fan-out.ts'
import type { SecretBox } from '../http/secret-box.ts'
import { within } from '../within.ts'
import { readAhead } from './ahead.ts'
import { createBreaker } from './breaker.ts'
import { deliver } from './deliver.ts'
import {
  completeDeliveries,
  disableFailing,
  noteHealth,
  readDueDeliveries,
  type Completion,
  type DueDelivery,
  type LostDelivery,
} from './delivery-queries.ts'
import { watchHealth } from './health.ts'
import { holdLeases } from './leases.ts'
import { repeat } from './repeat.ts'
import { FAILING_MAX_MS } from './schedule.ts'
import type { Sender } from './send.ts'
import { rememberTakenIds } from './taken-ids.ts'
import { otherWorkersAnnouncer } from './wake.ts'

const POLL_MS = 1000
const PER_SUBSCRIPTION_MAX = 4
/** Under way at once on this node, and for one community. */
const UNDER_WAY_MAX = 256
const PER_COMMUNITY_MAX = 64
/** Beyond these, for subscriptions with nothing under way: slow receivers may take all of the above for their 15 s. */
const RESERVED_MAX = 768
const RESERVED_PER_COMMUNITY_MAX = 192
/** What could not be written down is sent again, but not without a pause. */
const UNWRITTEN_PAUSE_MS = 25_000
const COMPLETION_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 1, waitingMax: 100_000 }
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
  /** Whether changes of access are sure to be heard; see judgeAnew. */
  mayReadAhead?: () => boolean
  /** Without it only `wake` starts a round. */
  poll?: boolean
  /** Shorter than usual, for tests that wait for it. */
  closeTimeoutMs?: number
  /** How long what was read ahead may wait; shorter or longer than usual for tests. */
  staleMs?: number | undefined
}

export interface DeliveryWorker {
  /** Something may be due: look now, and have other workers look whose it may be. */
  wake(): void
  /** Another says so. */
  look(): void
  /** Access may have changed, in this community or in any: what was read ahead is read and judged again. */
  judgeAnew(communityId: number | undefined): void
  /** Takes no more, and waits for what is on the wire. */
  close(): Promise<void>
  /** Resolves when nothing is due or under way. */
  idle(): Promise<void>
}

/** A delivery that was read, and is on the wire or about to be. */
interface Taken {
  communityId: number
  /** Of the subscription. */
  key: string
  /** By subscription, and anew whenever it is set going again. */
  breakerKey: string
  delivery: DueDelivery | LostDelivery
}

/** How many more deliveries of a subscription may be read. */
interface Room {
  subscriptionId: number
  free: number
}

export function startDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { sql, log, box, sender, random = Math.random, mayReadAhead = () => true } = options
  const shared = databaseClock(sql)
  const clock = options.clock ?? shared.now
  const breaker = createBreaker()
  const healthNews = watchHealth()
  const leases = holdLeases(sql, clock)
  const tellOthers = otherWorkersAnnouncer(sql, log, leases.worker)
  const underWay = new Map<string, number>()
  const takenIds = rememberTakenIds()
  const ahead = readAhead<Taken>(giveBack, options.staleMs)
  const pending = new Set<Promise<void>>()
  let closing = false
  // Of access: what was read during a change may have been judged before it.
  let generation = 0

  // Apart, so that a community that writes without pause does not keep the others' deliveries from being taken.
  const fanningOut = repeat(fanOutAll, () => closing)
  const taking = repeat(
    async () => {
      try {
        await shared.sync()
        await keepLeases()
        // What a quick receiver has is gone by the next round, and too much to look past in each.
        const slowIds = takenIds.all((communityId, id) => !ahead.isQuick(keyOf(communityId, id)))
        await takeFairly(await dueSubscriptions(sql, leases.worker, slowIds, clock()))
      } catch (error) {
        // The poll tries again.
        log.warn({ err: error }, 'deliveries could not be looked for')
      }
    },
    () => closing,
  )

  function look(): void {
    fanningOut.wake()
    taking.wake()
  }
  function wake(): void {
    look()
    tellOthers()
  }

  /** Of all that is under way, also of what is paused meanwhile, and while this worker closes. */
  async function keepLeases(): Promise<void> {
    for (const [communityId, ids] of takenIds.subscriptions()) await leases.hold(communityId, ids)
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
      if (placed > 0) {
        taking.wake()
        tellOthers()
      }
      if (placed === FAN_OUT_MAX) fanningOut.wake()
    } catch (error) {
      log.warn({ err: error, communityId }, 'events could not be put in order; the next round tries again')
    }
  }

  const complete = coalesce(async (communityId: number, completions: Completion[]) => {
    await completeDeliveries(sql, communityId, completions, clock())
    const news = healthNews(communityId, completions, clock().getTime())
    if (news.length > 0) await noteHealth(sql, communityId, news, clock())
    return completions
  }, COMPLETION_LIMITS)

  /** Each community in turn gets its share, so that none waits for another's backlog. */
  async function takeFairly(due: DueSubscription[]): Promise<void> {
    for (const [communityId, subscriptions] of byCommunity(shuffled(due, random))) {
      if (closing) return
      try {
        await takeFor(communityId, subscriptions)
      } catch (error) {
        log.warn({ err: error, communityId }, 'deliveries could not be read; the next round tries again')
      }
    }
  }

  async function takeFor(communityId: number, subscriptions: DueSubscription[]): Promise<void> {
    const room = roomFor(communityId, subscriptions)
    const leased = await leases.hold(
      communityId,
      room.map(({ subscriptionId }) => subscriptionId),
    )
    const leasedRoom = room.filter(({ subscriptionId }) => leased.has(subscriptionId))
    if (leasedRoom.length === 0) return
    const goingBy = new Map(subscriptions.map(({ id, set_going_at }) => [id, set_going_at]))
    const exceptIds = takenIds.of(communityId, leased)
    const seenGeneration = generation
    for (const delivery of await readDueDeliveries(sql, communityId, leases.worker, leasedRoom, exceptIds, clock())) {
      const key = keyOf(communityId, delivery.subscription_id)
      const breakerKey = `${key} ${goingBy.get(delivery.subscription_id)!}`
      const taken = { communityId, key, breakerKey, delivery }
      takenIds.add({ communityId, subscriptionId: delivery.subscription_id }, delivery.id)
      if (closing || seenGeneration !== generation) giveBack(taken)
      else if (count(key) < PER_SUBSCRIPTION_MAX) start(taken)
      else ahead.put(key, taken)
    }
  }

  function roomFor(communityId: number, subscriptions: DueSubscription[]): Room[] {
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
      // Ahead only of what may go at once: whatever else is short of places has to wait its turn.
      const room = free + (free === wanted && mayReadAhead() ? ahead.room(key) : 0)
      if (room > 0) return [{ subscriptionId: id, free: room }]
      if (wanted <= 0 || ofSubscription > 0 || reserved <= 0) return []
      reserved -= 1
      return [{ subscriptionId: id, free: 1 }]
    })
  }

  function start(taken: Taken): void {
    const { communityId, key } = taken
    add(key, 1)
    add(`${communityId}`, 1)
    let isOnTheWire = true
    // The receiver is free for another as soon as it has answered, not only when that has been written down.
    const release = () => {
      if (!isOnTheWire) return
      isOnTheWire = false
      add(key, -1)
      add(`${communityId}`, -1)
      startNext(communityId, key)
    }
    pend(attempt(taken, release).finally(release))
  }

  /** A place is free: for what was read already, else for what the next round finds. */
  function startNext(communityId: number, key: string): void {
    const isFree = count(`${communityId}`) < PER_COMMUNITY_MAX && pending.size < UNDER_WAY_MAX
    const next = isFree && !closing ? ahead.take(key) : undefined
    if (next) start(next)
    if (!next || ahead.isLow(key)) taking.wake()
  }

  /** For another round, or another node. */
  function giveBack(taken: Taken): void {
    forget(taken)
    taking.wake()
  }

  function forget({ communityId, delivery: { id, subscription_id: subscriptionId } }: Taken): void {
    takenIds.delete({ communityId, subscriptionId }, id)
  }

  function pend(work: Promise<void>): void {
    const tracked = work.finally(() => {
      const wasFull = pending.size >= UNDER_WAY_MAX
      pending.delete(tracked)
      if (wasFull) taking.wake()
    })
    pending.add(tracked)
  }

  /** Never rejects. */
  async function attempt(taken: Taken, release: () => void): Promise<void> {
    const { communityId, key, breakerKey, delivery } = taken
    try {
      const completion = await deliver({ sql, box, sender, clock, random }, communityId, delivery)
      const { ok, durationMs = 0 } = completion?.attempt ?? {}
      if (ok !== undefined) {
        breaker.note(breakerKey, ok, clock().getTime())
        ahead.noteAnswer(key, ok, durationMs)
      }
      if (ok) release()
      if (completion) await complete(communityId, completion)
      if (ok === false) await disableIfDead(communityId, delivery.subscription_id)
      forget(taken)
    } catch (error) {
      log.error({ err: error, delivery: delivery.id }, 'a delivery could not be completed; it will be sent again')
      setTimeout(() => forget(taken), UNWRITTEN_PAUSE_MS).unref()
    }
  }

  async function disableIfDead(communityId: number, subscriptionId: number): Promise<void> {
    const now = clock()
    const failingSince = new Date(now.getTime() - FAILING_MAX_MS)
    try {
      const disabled = await disableFailing(sql, communityId, [subscriptionId], failingSince, now)
      if (disabled.length > 0) log.warn({ communityId, subscriptionId }, 'disabled: nothing but failures for five days')
    } catch (error) {
      log.warn({ err: error, communityId, subscriptionId }, 'whether to disable it will be asked again')
    }
  }

  async function giveUpLeases(): Promise<void> {
    try {
      await leases.giveUpAll()
    } catch (error) {
      log.warn({ err: error }, 'leases could not be given up; they will end')
    }
  }

  function count(key: string): number {
    return underWay.get(key) ?? 0
  }
  function add(key: string, change: number): void {
    const next = count(key) + change
    if (next === 0) underWay.delete(key)
    else underWay.set(key, next)
  }

  const timer = options.poll === false ? undefined : setInterval(look, POLL_MS)
  look()

  async function idle(): Promise<void> {
    for (;;) {
      const busy = [fanningOut.running(), taking.running(), ...pending].filter((work) => work !== undefined)
      if (busy.length === 0) return
      await Promise.all(busy)
    }
  }

  return {
    wake,
    look,
    idle,
    judgeAnew(communityId) {
      generation += 1
      ahead.giveBack((taken) => communityId === undefined || taken.communityId === communityId)
    },
    async close() {
      clearInterval(timer)
      closing = true
      ahead.close()
      ahead.giveBack()
      const keeping = setInterval(() => {
        keepLeases().catch((error: unknown) => log.warn({ err: error }, 'leases could not be renewed'))
      }, POLL_MS)
      await within(options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS, idle())
      clearInterval(keeping)
      // What is still on the wire is broken off, for another node to send.
      await sender.close()
      await within(LAST_WORDS_TIMEOUT_MS, idle().then(giveUpLeases))
    },
  }
}

function keyOf(communityId: number, subscriptionId: number): string {
  return `${communityId}/${subscriptionId}`
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
