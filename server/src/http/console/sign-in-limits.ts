import type { Counters } from '../shared/counters.ts'
import { tooManyFailures } from '../shared/errors.ts'

const WINDOW_SECONDS = 15 * 60
const TRIES_PER_ACCOUNT_AND_ADDRESS_MAX = 10
const TRIES_PER_ADDRESS_MAX = 100

/** Guessing at passwords is slow work; guesses from one place lock nobody out elsewhere. */
export interface SignInLimits {
  /** Counts a try before it is judged, so that a hundred at once are a hundred; refuses what is over the limit. */
  spend(address: string, account: string): Promise<void>
  /** Whoever came in did not guess at this account; what they guess at others still counts for their address. */
  forgive(address: string, account: string): Promise<void>
}

export function createSignInLimits(counters: Counters): SignInLimits {
  const byAccount = counters.counter('sign-in-account', WINDOW_SECONDS)
  const byAddress = counters.counter('sign-in-address', WINDOW_SECONDS)

  return {
    async spend(address, account) {
      const [ofAccount, ofAddress] = await Promise.all([byAccount.add(pair(address, account)), byAddress.add(address)])
      if (ofAccount.count > TRIES_PER_ACCOUNT_AND_ADDRESS_MAX) throw tooManyFailures(ofAccount.resetSeconds)
      if (ofAddress.count > TRIES_PER_ADDRESS_MAX) throw tooManyFailures(ofAddress.resetSeconds)
    },
    async forgive(address, account) {
      await byAccount.reset(pair(address, account))
    },
  }
}

function pair(address: string, account: string): string {
  return `${address} ${account.toLowerCase()}`
}
