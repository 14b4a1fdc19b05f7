import { setTimeout as pause } from 'node:timers/promises'
import { CREDIT_JOB, loadSide } from './contests.ts'
import type { Receiver } from './deliveries.ts'
import { median } from './figures.ts'
import type { Arrivals } from './receiver.ts'
import type { Town } from './town.ts'

const CREDITS = 5000
const CONNECTIONS = 64
export const ONE_SUBSCRIPTION_BAR = 1.3
/** The load generator stops at the number of credits, or after this time. */
const CREDITS_TIMEOUT_MS = 120_000
const DRAIN_MS = 120_000
const DRAIN_POLL_MS = 20

export interface OneSubscription {
  credits: number
  /** By round: the time until the last event arrived, divided by the time until the last credit was answered. */
  ratios: number[]
  /** By round: the time until the last event arrived, divided by the time of as many credits without a subscription. */
  ratiosToAlone: number[]
  creditsMs: number
  deliveredMs: number
  aloneMs: number
}

/** One subscription while its events happen: does its endpoint keep up with the credits? */
export async function measureOneSubscription(
  town: Town,
  receiver: Receiver,
  rounds: number,
  onProgress: (text: string) => void,
): Promise<OneSubscription> {
  const { service } = town
  const { token } = town.partners[0]!
  const credit = loadSide(town, { ...CREDIT_JOB, requestsMax: CREDITS })
  const makeCredits = async () => (await credit(CONNECTIONS, { warmUpMs: 0, measureMs: CREDITS_TIMEOUT_MS })).span!

  async function withoutSubscription(): Promise<number> {
    const span = await makeCredits()
    await noEventsLeft()
    return span.untilMs - span.fromMs
  }

  async function withSubscription(): Promise<{ creditsMs: number; deliveredMs: number }> {
    const input = { event_types: ['wallet.*'], target_url: `https://localhost:${receiver.port}/hook` }
    const { id } = (await service.call('POST', '/webhooks/subscriptions', token, input)).data
    await receiver.process.ask('forget')
    const span = await makeCredits()
    const lastAtMs = await lastArrival()
    await service.call('DELETE', `/webhooks/subscriptions/${id}`, token)
    return { creditsMs: span.untilMs - span.fromMs, deliveredMs: lastAtMs - span.fromMs }
  }

  async function lastArrival(): Promise<number> {
    const deadlineMs = performance.now() + DRAIN_MS
    for (;;) {
      const arrivals: Arrivals = await receiver.process.ask('arrivals')
      if (arrivals.count >= CREDITS) return arrivals.lastAtMs
      if (performance.now() > deadlineMs) throw new Error(`${arrivals.count} of ${CREDITS} events arrived`)
      await pause(DRAIN_POLL_MS)
    }
  }

  /** Events of a round without a subscription must not be fanned out to that of the next round. */
  async function noEventsLeft(): Promise<void> {
    const deadlineMs = performance.now() + DRAIN_MS
    while ((await service.sql`select from events where position is null limit 1`).length > 0) {
      if (performance.now() > deadlineMs) throw new Error('events are not fanned out')
      await pause(DRAIN_POLL_MS)
    }
  }

  onProgress('one-subscription, warming up')
  await withoutSubscription()
  await withSubscription()
  const results: { creditsMs: number; deliveredMs: number; aloneMs: number }[] = []
  for (let round = 1; round <= rounds; round++) {
    onProgress(`one-subscription, ${CONNECTIONS} connections, round ${round} of ${rounds}`)
    const aloneMs = await withoutSubscription()
    results.push({ aloneMs, ...(await withSubscription()) })
  }
  return {
    credits: CREDITS,
    ratios: results.map(({ creditsMs, deliveredMs }) => deliveredMs / creditsMs),
    ratiosToAlone: results.map(({ aloneMs, deliveredMs }) => deliveredMs / aloneMs),
    creditsMs: median(results.map(({ creditsMs }) => creditsMs)),
    deliveredMs: median(results.map(({ deliveredMs }) => deliveredMs)),
    aloneMs: median(results.map(({ aloneMs }) => aloneMs)),
  }
}
