import { networkOf } from '../../core/networks.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { QueueFull } from '../../core/work-queue.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import type { Queries } from '../../postgres/connect.ts'
import { ApiError, tooManyFailures } from '../shared/errors.ts'
import { countAttempt, resetAttempts, uncountAttempt } from './attempt-queries.ts'

const MINUTE_SECONDS = 60
const BY_ADDRESS = { max: 100, windowSeconds: 15 * MINUTE_SECONDS }
const BY_ACCOUNT_AND_ADDRESS = { max: 10, windowSeconds: 15 * MINUTE_SECONDS }
const BY_ACCOUNT_AND_BROWSER = { max: 10, windowSeconds: 15 * MINUTE_SECONDS }
/** From all addresses together. 720 guesses a day are hopeless against a password that passed the strength check. */
const BY_ACCOUNT = { max: 30, windowSeconds: 60 * MINUTE_SECONDS }

export interface Attempt {
  address: string
  /** The email address in lower case, by `foldCase`, or another name for what could be guessed. */
  account: string
  /** Limits the account's attempts from all addresses together as well. */
  acrossAddresses?: boolean
  /** A browser from which the person has signed in before: attempts from elsewhere do not lock it out. */
  knownBrowser?: string | undefined
}

/**
 * Slows down password guessing. An IPv6 /64 counts as one address, because one customer has all of it. Counted in the
 * database, so that the limits are exact with several processes and a rejected attempt costs no memory.
 */
export interface SignInLimits {
  /** Counts an attempt before the password check, so that concurrent attempts count too; rejects over the limit. */
  spend(attempt: Attempt): Promise<void>
  /** After a success: earlier failures from here are forgotten. Attempts on other accounts still count for the address. */
  forgive(attempt: Attempt): Promise<void>
  /** After an attempt that was not carried out. */
  refund(attempt: Attempt): Promise<void>
}

/** Returns the result of a counted attempt. One that is rejected because of overload, and not carried out, does not count. */
export async function refundOverloaded<T>(limits: SignInLimits, attempt: Attempt, result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (error instanceof QueueFull) await limits.refund(attempt)
    throw error
  }
}

interface Limit {
  key: Buffer
  limit: { max: number; windowSeconds: number }
  reason?: Reason
}

export function createSignInLimits(sql: Queries): SignInLimits {
  return {
    async spend(attempt) {
      // One after the other: what the first limit rejects must not use up the others.
      for (const { key, limit, reason } of limitsOf(attempt)) {
        const { count, resetSeconds } = await countAttempt(sql, key, limit)
        if (count > limit.max) throw rejection(resetSeconds, reason)
      }
    },
    async forgive(attempt) {
      await resetAttempts(sql, ownKey(attempt))
      if (attempt.acrossAddresses) await uncountAttempt(sql, [accountKey(attempt)])
    },
    async refund(attempt) {
      await uncountAttempt(
        sql,
        limitsOf(attempt).map(({ key }) => key),
      )
    },
  }
}

function limitsOf(attempt: Attempt): Limit[] {
  const key = accountKey(attempt)
  if (attempt.knownBrowser) {
    return [
      { key: ownKey(attempt), limit: BY_ACCOUNT_AND_BROWSER },
      // The token of a shared browser changes whenever somebody else signs in there, and its count begins again.
      { key, limit: BY_ACCOUNT },
    ]
  }
  const across = { key, limit: BY_ACCOUNT, reason: because('sign_ins_by_account') }
  return [
    { key: keyOf('address', networkOf(attempt.address)), limit: BY_ADDRESS },
    { key: ownKey(attempt), limit: BY_ACCOUNT_AND_ADDRESS },
    ...(attempt.acrossAddresses ? [across] : []),
  ]
}

function rejection(resetSeconds: number, reason: Reason | undefined): ApiError {
  if (!reason) return tooManyFailures(resetSeconds)
  return new ApiError('rate_limited', { reason, headers: { 'retry-after': `${resetSeconds}` } })
}

function ownKey({ address, account, knownBrowser }: Attempt): Buffer {
  return knownBrowser ? keyOf('browser', knownBrowser, account) : keyOf('pair', networkOf(address), account)
}

/** Browsers that the person has used are counted apart: nobody else can use up their attempts from elsewhere. */
function accountKey({ account, knownBrowser }: Attempt): Buffer {
  return keyOf(knownBrowser ? 'known browsers' : 'account', account)
}

/** Hashed, so that every key has the same size and the table holds no addresses. */
export function keyOf(...parts: string[]): Buffer {
  return hashSecret(JSON.stringify(parts))
}
