import type { Logger } from 'pino'
import {
  communitiesToFanOut,
  dueSubscriptions,
  limitRetryDelays,
  storePositions,
  type SubscriptionKey,
} from '../postgres/across-communities.ts'
import { databaseClock } from '../postgres/clock.ts'
import { coalesce, type CoalesceLimits } from '../postgres/coalesce.ts'
import type { Sql } from '../postgres/connect.ts'
import { createEndOfTurnQueue } from '../core/end-of-turn.ts'
import { FAN_OUT_MAX, fanOut } from './fan-out.ts'
import type { SecretBox } from '../crypto/secret-box.ts'
import { within } from '../core/within.ts'
import { readAhead } from './ahead.ts'
import { createBreaker } from './breaker.ts'
import { deliver, type DeliverDeps } from './deliver.ts'
import { completeDeliveries, type Completion } from './complete-deliveries.ts'
import { disableFailing, noteHealth } from './delivery-queries.ts'
import { watchHealth } from './health.ts'
import { holdInHand } from './in-hand.ts'
import { holdLeases } from './leases.ts'
import { countPlaces } from './places.ts'
import { readDueDeliveries, type DueDelivery, type Recipient, type Room } from './read-due.ts'
import { repeat } from './repeat.ts'
import { FAILING_MAX_MS, LONGEST_DELAYS_MS } from './schedule.ts'
import { SenderClosed, type Sender } from './send.ts'
import { rememberUnread, type Due } from './unread.ts'
import { materializePending } from '../features/subscriptions/untried.ts'
import { otherWorkersAnnouncer } from './wake.ts'

const POLL_MS = 1000
const PER_SUBSCRIPTION_MAX = 4
/** What could not be written down is sent again, but not without a pause. */
const UNWRITTEN_PAUSE_MS = 25_000
/** The database's clock was set back by more than this: retries that were planned before would be late. */
const SET_BACK_MS = 5_000
const COMPLETION_LIMITS: CoalesceLimits = { batchMax: 256, inFlightMax: 1, waitingMax: 100_000 }
/** For what is on the wire, then for what is left to write down; all of it within the ten seconds of a shutdown. */
const CLOSE_TIMEOUT_MS = 8000
const LAST_WORDS_TIMEOUT_MS = 1000

const NOTHING_DUE = { recipients: new Map<number, Recipient>(), deliveries: [] as DueDelivery[] }

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
  delivery: DueDelivery
}

export function startDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { sql, log, box, sender, random = Math.random, mayReadAhead = () => true } = options
  const shared = databaseClock(sql)
  const clock = options.clock ?? shared.now
  // For pauses kept in memory, which must not grow or shrink when the database's clock is set.
  const elapsedMs = options.clock ? () => clock().getTime() : () => performance.now()
  const deps: DeliverDeps = { sql, box, sender, clock, random }
  const breaker = createBreaker()
  const healthNews = watchHealth()
  const leases = holdLeases(sql, clock)
  const tellOthers = otherWorkersAnnouncer(sql, log, leases.worker)
  const places = countPlaces()
  const inHand = holdInHand()
  const ahead = readAhead<Taken>(giveBack, options.staleMs)
  const unread = rememberUnread()
  const atEndOfTurn = createEndOfTurnQueue()
  let closing = false
  let wasSetBack = false
  let keptProgressMs = 0
  /** The next round asks what is due at all, not only for more of what it knows of. */
  let fromStart = false
  // Of access: what was read during a change may have been judged before it.
  let generation = 0

  // Apart, so that a community that writes without pause does not keep the others' deliveries from being taken.
  const fanningOut = repeat(fanOutAll, () => closing)
  const taking = repeat(
    async () => {
      try {
        await syncClock()
        await keepLeases()
        const seenGeneration = generation
        if (!fromStart) return await takeFairly(unread.all(), seenGeneration)
        fromStart = false
        if (performance.now() - keptProgressMs >= POLL_MS) await keepProgress()
        // What a quick receiver has is gone by the next round, and too much to look past in each.
        const slow = inHand.pairs((of) => !ahead.isQuick(keyOf(of.communityId, of.subscriptionId)))
        const now = clock()
        const due = await dueSubscriptions(sql, leases.worker, slow, inHand.read(), now, leases.endMax(now))
        await takeFairly(due, seenGeneration)
      } catch (error) {
        // The poll tries again.
        log.warn({ err: error }, 'deliveries could not be looked for')
      }
    },
    () => closing,
  )

  function takeFromStart(): void {
    fromStart = true
    taking.wake()
  }

  /** Of what is known to be there. */
  function takeMore(): void {
    if (unread.isEmpty()) takeFromStart()
    else taking.wake()
  }

  function look(): void {
    fanningOut.wake()
    takeFromStart()
  }
  function wake(): void {
    look()
    tellOthers()
  }

  async function syncClock(): Promise<void> {
    const setByMs = await shared.sync()
    if (setByMs < -SET_BACK_MS) wasSetBack = true
    if (!wasSetBack) return
    const changed = await limitRetryDelays(sql, LONGEST_DELAYS_MS, clock())
    wasSetBack = false
    log.warn({ setByMs: Math.round(setByMs), changed }, 'the clock of the database was set back; retries were moved')
  }

  /** Of all that is under way, also of what is paused meanwhile, and while this worker closes. */
  async function keepLeases(): Promise<void> {
    for (const [communityId, ids] of inHand.subscriptions()) await leases.hold(communityId, ids)
  }

  /** Now and then, for whoever has the lease next: what was done after it has a row, and is looked past. */
  async function keepProgress(): Promise<void> {
    keptProgressMs = performance.now()
    const progress = inHand.unstored()
    if (progress.length === 0) return
    inHand.stored(await storePositions(sql, progress))
  }

  /** One batch of each community that has any, then again. */
  async function fanOutAll(): Promise<void> {
    try {
      await syncClock()
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
        takeFromStart()
        tellOthers()
      }
      if (placed === FAN_OUT_MAX) fanningOut.wake()
    } catch (error) {
      log.warn({ err: error, communityId }, 'events could not be put in order; the next round tries again')
    }
  }

  const complete = coalesce(async (communityId: number, completions: Completion[]) => {
    await completeDeliveries(sql, communityId, completions, clock())
    const news = healthNews(communityId, completions, elapsedMs())
    if (news.length > 0) await noteHealth(sql, communityId, news, clock())
    return completions
  }, COMPLETION_LIMITS)

  /** Each community in turn gets its share, so that none waits for another's backlog. */
  async function takeFairly(due: Due[], seenGeneration: number): Promise<void> {
    for (const [communityId, subscriptions] of groupBy(shuffled(due, random), (one) => one.community_id)) {
      if (closing) return
      try {
        await takeFor(communityId, subscriptions, seenGeneration)
      } catch (error) {
        log.warn({ err: error, communityId }, 'deliveries could not be read; the next round tries again')
      }
    }
  }

  async function takeFor(communityId: number, subscriptions: Due[], seenGeneration: number): Promise<void> {
    const room = roomFor(communityId, subscriptions)
    const leased = await leases.hold(
      communityId,
      room.map(({ subscriptionId }) => subscriptionId),
    )
    const leasedRoom = room.filter(({ subscriptionId }) => leased.has(subscriptionId))
    const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]))
    const pairs = inHand.pairs((of) => of.communityId === communityId && leased.has(of.subscriptionId))
    const { recipients, deliveries } =
      leasedRoom.length > 0
        ? await readDueDeliveries(sql, communityId, leases.worker, leasedRoom, pairs, clock())
        : NOTHING_DUE
    const bySubscription = groupBy(deliveries, (delivery) => delivery.subscription_id)
    for (const one of room) {
      const subscription = byId.get(one.subscriptionId)!
      const read = bySubscription.get(one.subscriptionId) ?? []
      noteRead(subscription, one, recipients.get(one.subscriptionId), read)
      const key = keyOf(communityId, one.subscriptionId)
      const breakerKey = `${key} ${subscription.set_going_at}`
      for (const delivery of read) {
        const taken = { communityId, key, breakerKey, delivery }
        inHand.take(subscriptionOf(taken), delivery.event_id, delivery.position)
        if (closing || seenGeneration !== generation) giveBack(taken)
        else ahead.put(key, taken)
      }
      startWaiting(communityId, key)
    }
  }

  /** How far it has been read, and whether there may be more. */
  function noteRead(subscription: Due, { free, reading }: Room, recipient: Recipient | undefined, read: DueDelivery[]) {
    const isFull = read.length === free
    const isLeft = !isFull && recipient !== undefined && recipient.seen_position < recipient.wanted_position
    const readTo = isFull ? read.at(-1)!.position : recipient?.seen_position
    if (readTo !== undefined) reading.readTo = readTo
    const after = read.findLast(({ row }) => row)?.row ?? subscription.after
    const isMore = (isFull || isLeft) && mayReadAhead()
    unread.note(keyOf(subscription.community_id, subscription.id), isMore ? { ...subscription, after } : undefined)
    // At the end: what may have come due before where it began.
    if (!isMore && (isLeft || subscription.after)) takeFromStart()
    else if (isLeft) taking.wake()
  }

  function roomFor(communityId: number, subscriptions: Due[]): Room[] {
    let { share, reserved } = places.left(communityId)
    return subscriptions.flatMap((subscription) => {
      const { id, set_going_at, after } = subscription
      const key = keyOf(communityId, id)
      // Now, not after the lease was asked for: something may be given back meanwhile.
      const reading = inHand.reading({ communityId, subscriptionId: id })
      const ofSubscription = places.of(key)
      const wanted = breaker.room(
        `${key} ${set_going_at}`,
        PER_SUBSCRIPTION_MAX - ofSubscription,
        ofSubscription,
        elapsedMs(),
      )
      const free = Math.min(wanted, share)
      share -= Math.max(0, free)
      // Ahead only of what may go at once: whatever else is short of places has to wait its turn.
      const room = free + (free === wanted && mayReadAhead() ? ahead.room(key) : 0)
      if (room > 0) return [{ subscriptionId: id, free: room, after, reading }]
      if (wanted <= 0) return []
      if (ofSubscription > 0 || reserved <= 0) {
        // Read as soon as there is a place.
        if (mayReadAhead()) unread.note(key, subscription)
        return []
      }
      reserved -= 1
      return [{ subscriptionId: id, free: 1, after, reading }]
    })
  }

  function start(taken: Taken): void {
    const { communityId, key } = taken
    places.take(communityId, key)
    let isOnTheWire = true
    // The receiver is free for another as soon as it has answered, not only when that has been written down.
    const release = () => {
      if (!isOnTheWire) return
      isOnTheWire = false
      places.answered(communityId, key)
      startNext(communityId, key)
    }
    atEndOfTurn(() => void attempt(taken, release))
  }

  /** Of what was read, as many as there are places for. Says whether there was any. */
  function startWaiting(communityId: number, key: string): boolean {
    let isAny = false
    while (places.of(key) < PER_SUBSCRIPTION_MAX && places.isFree(communityId, key)) {
      const next = ahead.take(key)
      if (!next) break
      start(next)
      isAny = true
    }
    return isAny
  }

  /** A place is free: for what was read already, else for what the next round finds. */
  function startNext(communityId: number, key: string): void {
    if (startWaiting(communityId, key) && !ahead.isLow(key)) return
    if (unread.has(key)) taking.wake()
    else takeFromStart()
  }

  /** For another round, or another node. */
  function giveBack(taken: Taken): void {
    inHand.giveBack(subscriptionOf(taken), taken.delivery.event_id)
    unread.note(taken.key, undefined)
    takeFromStart()
  }

  /** Never rejects. */
  async function attempt(taken: Taken, release: () => void): Promise<void> {
    const { communityId, key, breakerKey, delivery } = taken
    try {
      const completion = await deliver(deps, communityId, delivery)
      const { ok, durationMs = 0 } = completion?.attempt?.outcome ?? {}
      if (ok !== undefined) {
        breaker.note(breakerKey, ok, elapsedMs())
        ahead.noteAnswer(key, ok, durationMs)
      }
      if (ok) release()
      if (completion) await complete(communityId, completion)
      if (ok === false) await noteFailure(communityId, delivery.subscription_id)
      inHand.done(subscriptionOf(taken), delivery.event_id)
    } catch (error) {
      if (error instanceof SenderClosed) return giveBack(taken)
      const { subscription_id: subscription, event_id: event } = delivery
      log.error({ err: error, subscription, event }, 'a delivery could not be completed; it will be sent again')
      setTimeout(() => giveBack(taken), UNWRITTEN_PAUSE_MS).unref()
    } finally {
      release()
      if (places.written(communityId)) takeMore()
    }
  }

  /** It may stay behind for long, and what waits for it must not be passed by what is made a row of from now on. */
  async function noteFailure(communityId: number, subscriptionId: number): Promise<void> {
    const now = clock()
    const failingSince = new Date(now.getTime() - FAILING_MAX_MS)
    try {
      await materializePending(sql, communityId, subscriptionId)
      const disabled = await disableFailing(sql, communityId, [subscriptionId], failingSince, now)
      if (disabled.length > 0) log.warn({ communityId, subscriptionId }, 'disabled: nothing but failures for five days')
    } catch (error) {
      log.warn({ err: error, communityId, subscriptionId }, 'what a failure leads to will be asked again')
    }
  }

  async function giveUpLeases(): Promise<void> {
    try {
      await keepProgress()
      await leases.giveUpAll()
    } catch (error) {
      log.warn({ err: error }, 'leases could not be given up; they will end')
    }
  }

  const timer = options.poll === false ? undefined : setInterval(look, POLL_MS)
  look()

  async function idle(): Promise<void> {
    for (;;) {
      const busy = [fanningOut.running(), taking.running(), places.emptied()].filter((work) => work !== undefined)
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
      unread.forget(communityId)
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

function subscriptionOf({ communityId, delivery: { subscription_id: subscriptionId } }: Taken): SubscriptionKey {
  return { communityId, subscriptionId }
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

function shuffled<T>(items: T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ item }) => item)
}
