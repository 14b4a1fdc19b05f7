import { networkOf } from '../../core/networks.ts'
import { andThen, type Awaitable } from '../../core/awaitable.ts'
import type { FastifyReply } from 'fastify'
import type { Caller } from './access.ts'
import type { Counters } from '../shared/counters.ts'
import type { Count } from '../shared/memory-counter.ts'
import { ApiError, tooManyFailures } from '../shared/errors.ts'

const WINDOW_SECONDS = 60
const FAILURES_PER_CLIENT_AND_ADDRESS_MAX = 10
const FAILURES_PER_ADDRESS_MAX = 100
const RETRY_ADVICE = 'Try again after the time in Retry-After.'
/** Truncates client ids in counter keys, because callers can send any text. */
const CLIENT_ID_LENGTH_MAX = 100

export interface RateLimits {
  /** Counts the call against its partner, sets the rate limit headers and rejects calls over the limit. */
  spend(caller: Caller, reply: FastifyReply): Awaitable<void>
  /** Counts further calls that this one stands for; rejects it without counting them if fewer are left. */
  spendMore(caller: Caller, reply: FastifyReply, calls: number): Promise<void>
  /** Rejects further guesses at this client from this address only. */
  rejectGuessing(address: string, clientId: string): Promise<void>
  /** Counts a failed authentication of a client, or of a token without `clientId`; returns true over the limit. */
  countFailure(address: string, clientId?: string): Promise<boolean>
}

/** `processes`: how many share the calls. One that counts in memory sees its share, and grants its share of the limit. */
export function createRateLimits(counters: Counters, processes: number): RateLimits {
  const calls = counters.counter('calls', WINDOW_SECONDS)
  const clientFailures = counters.counter('client-failures', WINDOW_SECONDS)
  const addressFailures = counters.counter('address-failures', WINDOW_SECONDS)
  const tokenFailures = counters.counter('token-failures', WINDOW_SECONDS)

  function limitOf({ rateLimitPerMinute }: Caller, { isShared }: Count): number {
    return isShared ? rateLimitPerMinute : Math.ceil(rateLimitPerMinute / processes)
  }

  /** Sets the rate limit headers, and rejects a call over the limit. */
  function admit(caller: Caller, reply: FastifyReply, counted: Count): void {
    const { count, resetSeconds } = counted
    const limit = limitOf(caller, counted)
    reply.header('ratelimit-policy', `"default";q=${caller.rateLimitPerMinute};w=${WINDOW_SECONDS}`)
    reply.header('ratelimit', `"default";r=${Math.max(0, limit - count)};t=${resetSeconds}`)
    if (count > limit) throw tooManyCalls(resetSeconds)
  }

  return {
    spend: (caller, reply) => andThen(calls.add(partnerKey(caller)), (count) => admit(caller, reply, count)),

    async spendMore(caller, reply, more) {
      if (more === 0) return
      const key = partnerKey(caller)
      const counted = await calls.read(key)
      const { count, resetSeconds } = counted
      const limit = limitOf(caller, counted)
      if (count + more > limit) {
        const all = more + 1
        const advice = all > limit ? `More than ${limit} are never left: send smaller batches.` : RETRY_ADVICE
        throw tooManyCalls(resetSeconds, `This batch counts as ${all} calls, and fewer are left. ${advice}`)
      }
      admit(caller, reply, await calls.add(key, more))
    },

    async rejectGuessing(address, clientId) {
      const [byClient, byAddress] = await Promise.all([
        clientFailures.read(pairKey(address, clientId)),
        addressFailures.read(networkOf(address)),
      ])
      if (byClient.count >= FAILURES_PER_CLIENT_AND_ADDRESS_MAX) throw tooManyFailures(byClient.resetSeconds)
      if (byAddress.count >= FAILURES_PER_ADDRESS_MAX) throw tooManyFailures(byAddress.resetSeconds)
    },

    async countFailure(address, clientId) {
      // Counted separately from guessed secrets: a partner whose token expires under load must get a new one.
      if (clientId === undefined) return (await tokenFailures.add(networkOf(address))).count > FAILURES_PER_ADDRESS_MAX
      const [byClient, byAddress] = await Promise.all([
        clientFailures.add(pairKey(address, clientId)),
        addressFailures.add(networkOf(address)),
      ])
      return byClient.count > FAILURES_PER_CLIENT_AND_ADDRESS_MAX || byAddress.count > FAILURES_PER_ADDRESS_MAX
    },
  }
}

function partnerKey({ communityId, partnerId }: Caller): string {
  return `${communityId}:${partnerId}`
}

function tooManyCalls(resetSeconds: number, description?: string): ApiError {
  return new ApiError('rate_limited', {
    ...(description && { description }),
    headers: { 'retry-after': `${resetSeconds}` },
  })
}

function pairKey(address: string, clientId: string): string {
  return `${networkOf(address)} ${clientId.slice(0, CLIENT_ID_LENGTH_MAX)}`
}
