import { networkOf } from '../../core/networks.ts'
import type { Counters } from '../shared/counters.ts'
import { tooManyFailures } from '../shared/errors.ts'

const WINDOW_SECONDS = 15 * 60
const TRIES_PER_ACCOUNT_AND_ADDRESS_MAX = 10
const TRIES_PER_ADDRESS_MAX = 100

/**
 * Slows down password guessing. An IPv6 /64 counts as one address, because one customer has all of it. Guesses from one
 * address do not lock an account out elsewhere.
 */
export interface SignInLimits {
  /** Counts an attempt before the password check, so that concurrent attempts count too; rejects over the limit. */
  spend(address: string, account: string): Promise<void>
  /** Resets the account's count after a successful sign-in; attempts on other accounts still count for the address. */
  forgive(address: string, account: string): Promise<void>
}

export function createSignInLimits(counters: Counters): SignInLimits {
  const byAccount = counters.counter('sign-in-account', WINDOW_SECONDS)
  const byAddress = counters.counter('sign-in-address', WINDOW_SECONDS)

  return {
    async spend(address, account) {
      const [forAccount, forAddress] = await Promise.all([
        byAccount.add(pairKey(address, account)),
        byAddress.add(networkOf(address)),
      ])
      if (forAccount.count > TRIES_PER_ACCOUNT_AND_ADDRESS_MAX) throw tooManyFailures(forAccount.resetSeconds)
      if (forAddress.count > TRIES_PER_ADDRESS_MAX) throw tooManyFailures(forAddress.resetSeconds)
    },
    async forgive(address, account) {
      await byAccount.reset(pairKey(address, account))
    },
  }
}

function pairKey(address: string, account: string): string {
  return `${networkOf(address)} ${account.toLowerCase()}`
}
