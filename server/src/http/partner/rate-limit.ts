import type { FastifyReply } from 'fastify'
import type { Caller } from './access.ts'
import type { Counters } from '../shared/counters.ts'
import type { Count } from '../shared/memory-counter.ts'
import { ApiError, tooManyFailures } from '../shared/errors.ts'

const WINDOW_SECONDS = 60
const FAILURES_PER_CLIENT_AND_ADDRESS_MAX = 10
const FAILURES_PER_ADDRESS_MAX = 100
/** Of what is sent as one, in the keys of the counters. */
const CLIENT_ID_LENGTH_MAX = 100

export interface RateLimits {
  /**
   * Counts the call against its partner, tells the state in the headers, refuses what is over the limit; at once where
   * the count is in memory.
   */
  spend(caller: Caller, reply: FastifyReply): Promise<void> | undefined
  /** Refuses further guesses at this client from this address; no other address is held back by them. At once as above. */
  refuseGuessing(address: string, clientId: string): Promise<void> | undefined
  /** Counts a failed authentication, of a client or else of a token; true when there were too many, which is to be told. */
  countFailure(address: string, clientId?: string): Promise<boolean>
}

/** `nodes`: in memory each process sees its share of the calls, so it grants its share of the limit. */
export function createRateLimits(counters: Counters, nodes: number): RateLimits {
  const calls = counters.counter('calls', WINDOW_SECONDS)
  const clientFailures = counters.counter('client-failures', WINDOW_SECONDS)
  const addressFailures = counters.counter('address-failures', WINDOW_SECONDS)
  const tokenFailures = counters.counter('token-failures', WINDOW_SECONDS)

  return {
    spend(caller, reply) {
      const judge = ({ count, resetSeconds }: Count): void => {
        const limit = Math.ceil(caller.rateLimitPerMinute / nodes)
        reply.header('ratelimit-policy', `"default";q=${caller.rateLimitPerMinute};w=${WINDOW_SECONDS}`)
        reply.header('ratelimit', `"default";r=${Math.max(0, limit - count)};t=${resetSeconds}`)
        if (count > limit) throw tooMany(resetSeconds)
      }
      const counted = calls.add(`${caller.communityId}:${caller.partnerId}`)
      if (counted instanceof Promise) return counted.then(judge)
      judge(counted)
      return undefined
    },

    refuseGuessing(address, clientId) {
      const ofClient = clientFailures.read(pair(address, clientId))
      const ofAddress = addressFailures.read(address)
      if (ofClient instanceof Promise || ofAddress instanceof Promise) {
        return Promise.all([ofClient, ofAddress]).then((both) => judgeGuesses(...both))
      }
      judgeGuesses(ofClient, ofAddress)
      return undefined
    },

    async countFailure(address, clientId) {
      // Apart from the guesses at secrets: a partner whose token ends under load must still get the next one.
      if (clientId === undefined) return (await tokenFailures.add(address)).count > FAILURES_PER_ADDRESS_MAX
      const [ofClient, ofAddress] = await Promise.all([
        clientFailures.add(pair(address, clientId)),
        addressFailures.add(address),
      ])
      return ofClient.count > FAILURES_PER_CLIENT_AND_ADDRESS_MAX || ofAddress.count > FAILURES_PER_ADDRESS_MAX
    },
  }
}

function judgeGuesses(ofClient: Count, ofAddress: Count): void {
  if (ofClient.count >= FAILURES_PER_CLIENT_AND_ADDRESS_MAX) throw tooManyFailures(ofClient.resetSeconds)
  if (ofAddress.count >= FAILURES_PER_ADDRESS_MAX) throw tooManyFailures(ofAddress.resetSeconds)
}

function pair(address: string, clientId: string): string {
  return `${address} ${clientId.slice(0, CLIENT_ID_LENGTH_MAX)}`
}

function tooMany(resetSeconds: number): ApiError {
  return new ApiError('rate_limited', { headers: { 'retry-after': `${resetSeconds}` } })
}
