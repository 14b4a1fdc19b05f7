import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { deliver, type DeliverDeps } from './deliver.ts'
import type { Hold } from './delivery-queries.ts'
import type { Limiter } from './limiter.ts'
import type { ClaimedQueue, Release } from './queue-queries.ts'
import type { DueDelivery, DueRequest } from './read-due.ts'
import type { Completion } from './record-completions.ts'
import { SenderClosed } from './send.ts'

/** Deliveries in flight to one receiver: at first, and after as many quick successes as it takes to grow by one each. */
const CONCURRENCY_MIN = 4
const CONCURRENCY_MAX = 16
/** A receiver that succeeds within this time is quick: it gets more at once, and more is loaded ahead for it. */
const QUICK_MS = 50
/** Loaded for a quick receiver beyond what can be sent at once; the next batch is read when a quarter is left. */
const AHEAD_MAX = 64
/** Access and visibility are checked as they were when a delivery was read; after this time it is read again. */
const STALE_MS = 250
/** In flight, or answered and not yet recorded. */
const IN_HAND_MAX = 256
/** A delivery that could not be recorded is sent again, but not immediately. */
const ERROR_PAUSE_MS = 25_000
/** A busy queue is given up after this time if it is quick, so that workers share the queues, or if others may wait. */
const TURN_MS = 2000
/** Gives other workers time to claim a queue that was given up. */
const YIELD_MS = 25

/** The circuit breaker: after so many failures in a row the queue pauses, and each pause ends with one probe. */
const FAILURES_TO_PAUSE = 5
const PAUSE_MIN_MS = 10_000
const PAUSE_MAX_MS = 5 * 60_000

export interface QueueDeps extends DeliverDeps {
  log: Logger
  limiter: Limiter
  /** Whether access changes are sure to be announced; see `invalidate`. */
  mayReadAhead: () => boolean
  /** Whether the worker has as many queues of the community as it may: others may wait for a place. */
  isFull: (communityId: number) => boolean
  readDue: (communityId: number, request: DueRequest) => Promise<DueDelivery[]>
  record: (communityId: number, completion: Completion) => Promise<unknown>
  /** Returns once it is held or due again, or a little later: then it has to be read again. */
  hold: (communityId: number, hold: Hold) => Promise<unknown>
  /** Gives the lease up. Returns when the queue is due next, undefined if the lease was lost. */
  release: (communityId: number, release: Release) => Promise<{ dueAt: Date | undefined } | undefined>
  announce: () => void
}

/** A subscription that this worker has leased and sends for. See README.md. */
export interface Queue {
  readonly communityId: number
  readonly subscriptionId: number
  /** Set by the worker when it renews the lease. */
  leasedUntil: Date
  /** There may be more deliveries. */
  wake(): void
  /** Access may have changed: what was loaded is read and checked again. */
  invalidate(): void
  /** Sends nothing more, and gives the lease up when everything in flight is recorded. */
  stop(): void
  /** Resolves when the lease is given up: whether more is due. */
  finished: Promise<boolean>
}

interface Loaded {
  delivery: DueDelivery
  loadedAtMs: number
}

export function openQueue(deps: QueueDeps, communityId: number, claimed: ClaimedQueue, leasedUntil: Date): Queue {
  const { log, limiter, clock } = deps
  const { subscription_id: subscriptionId, resets } = claimed
  const turnEndsMs = performance.now() + TURN_MS
  const stopping = new AbortController()
  // While the database is away, every delivery in hand waits for it.
  setMaxListeners(IN_HAND_MAX, stopping.signal)
  /** In the order in which they are sent. */
  let loaded: Loaded[] = []
  /** Ids of deliveries in flight, or answered and not yet recorded. */
  const inHand = new Set<number>()
  let inFlight = 0
  let concurrency = CONCURRENCY_MIN
  let isQuick = false
  let { failures } = claimed
  let pausedUntil = claimed.paused_until === null ? undefined : new Date(claimed.paused_until)
  let mayHaveMore = true
  let isYielding = false
  /** Reading or releasing. */
  let isAsking = false
  /** The database did not answer: the next wake tries again. */
  let isStalled = false
  let isFinished = false
  /** Incremented on every access change; what was read under an older generation is dropped. */
  let generation = 0
  let finish!: (isDue: boolean) => void
  const finished = new Promise<boolean>((resolve) => (finish = resolve))

  const isPaused = () => pausedUntil !== undefined && clock() < pausedUntil
  const isLeased = () => clock() < queue.leasedUntil
  const mustStop = () => stopping.signal.aborted || isYielding || isPaused() || !isLeased()

  /** How many more may be sent now. While the breaker is open: one probe. */
  function room(): number {
    const limit = failures >= FAILURES_TO_PAUSE ? 1 : concurrency
    return Math.min(limit - inFlight, IN_HAND_MAX - inHand.size)
  }

  /** Sends what it may, reads more, and finishes when there is nothing left. Called after every change. */
  function proceed(): void {
    if (isFinished) return
    dropUnsendable()
    while (loaded.length > 0 && room() > 0 && limiter.take(communityId, inFlight === 0, proceed)) {
      void attempt(loaded.shift()!.delivery)
    }
    if (isAsking || isStalled) return
    if (mayHaveMore && !mustStop()) {
      if (room() > 0 && loaded.length <= AHEAD_MAX / 4) void load()
    } else if (loaded.length === 0 && inHand.size === 0) void release()
  }

  function dropUnsendable(): void {
    const isBusy = loaded.length > 0 || mayHaveMore
    if (isBusy && performance.now() > turnEndsMs && (isQuick || deps.isFull(communityId))) isYielding = true
    if (mustStop()) loaded = []
    else if (loaded[0] && performance.now() - loaded[0].loadedAtMs > STALE_MS) {
      isQuick = false
      reload()
    }
  }

  function reload(): void {
    loaded = []
    mayHaveMore = true
  }

  async function load(): Promise<void> {
    isAsking = true
    mayHaveMore = false
    const readGeneration = generation
    const limit = room() + (isQuick && deps.mayReadAhead() ? AHEAD_MAX : 0)
    try {
      const exclude = [...inHand, ...loaded.map(({ delivery }) => delivery.id)]
      const due = await deps.readDue(communityId, { subscriptionId, limit, exclude })
      const loadedAtMs = performance.now()
      if (readGeneration === generation) loaded.push(...due.map((delivery) => ({ delivery, loadedAtMs })))
      if (readGeneration !== generation || due.length === limit) mayHaveMore = true
    } catch (error) {
      log.warn({ err: error, communityId, subscriptionId }, 'deliveries could not be read; the next round tries again')
      isStalled = true
    }
    isAsking = false
    proceed()
  }

  async function attempt(delivery: DueDelivery): Promise<void> {
    inHand.add(delivery.id)
    inFlight += 1
    let isInFlight = true
    // The receiver is free for another delivery as soon as it has answered, not only when that is recorded.
    const land = () => {
      if (!isInFlight) return
      isInFlight = false
      inFlight -= 1
      limiter.giveBack(communityId)
      proceed()
    }
    try {
      const startGeneration = generation
      const result = await deliver(deps, communityId, delivery, () => generation !== startGeneration)
      const completion = result && 'status' in result ? result : undefined
      const outcome = completion?.attempt?.outcome
      if (outcome) noteAnswer(outcome.ok, outcome.durationMs)
      land()
      if (completion) await deps.record(communityId, completion)
      else {
        if (result && 'reasonToHold' in result) await deps.hold(communityId, result)
        mayHaveMore = true
      }
    } catch (error) {
      land()
      if (!(error instanceof SenderClosed)) {
        log.error({ err: error, delivery: delivery.id }, 'a delivery could not be completed; it will be sent again')
        await pause(ERROR_PAUSE_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
        mayHaveMore = true
      }
    }
    inHand.delete(delivery.id)
    proceed()
  }

  function noteAnswer(ok: boolean, durationMs: number): void {
    isQuick = ok && durationMs <= QUICK_MS
    if (ok) {
      failures = 0
      pausedUntil = undefined
      if (isQuick) concurrency = Math.min(concurrency + 1, CONCURRENCY_MAX)
      return
    }
    concurrency = CONCURRENCY_MIN
    // Attempts that were in flight when the pause began say nothing new.
    if (isPaused()) return
    failures += 1
    if (failures < FAILURES_TO_PAUSE) return
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (failures - FAILURES_TO_PAUSE))
    pausedUntil = new Date(clock().getTime() + pauseMs)
  }

  async function release(): Promise<void> {
    isAsking = true
    mayHaveMore = false
    try {
      const released = await deps.release(communityId, { subscriptionId, failures, pausedUntil, resets })
      isFinished = true
      if (isYielding) {
        deps.announce()
        await pause(YIELD_MS)
      }
      const isDue = released?.dueAt !== undefined && released.dueAt <= clock()
      finish(isDue || mayHaveMore)
    } catch (error) {
      log.warn({ err: error, communityId, subscriptionId }, 'a lease was not given up; the next round tries again')
      isStalled = true
      isAsking = false
    }
  }

  const queue: Queue = {
    communityId,
    subscriptionId,
    leasedUntil,
    wake() {
      isStalled = false
      mayHaveMore = true
      proceed()
    },
    invalidate() {
      generation += 1
      reload()
      proceed()
    },
    stop() {
      stopping.abort()
      isStalled = false
      proceed()
    },
    finished,
  }
  proceed()
  return queue
}
