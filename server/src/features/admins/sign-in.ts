import type { Logger } from 'pino'
import type { Actor } from '../audit/record.ts'
import { countRejection } from '../audit/rejections.ts'
import { findAdmin } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import { foldCase } from '../../http/console/attempt-queries.ts'
import { refundOverloaded, type Attempt, type SignInLimits } from '../../http/console/sign-in-limits.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { isKnownBrowser } from './browser-queries.ts'
import { auditInAllCommunities, replacePassword } from './create-admin.ts'
import { requireOpenSession } from './lock-own-account.ts'
import { checkPassword, hashPassword, requireHashingCapacity, verifyPassword } from './passwords.ts'
import { consumeOneTimePassword, findAdminById, lockAccount, type Entrant } from './queries.ts'

const SIGN_IN: Actor = { kind: 'system', name: 'sign-in' }

interface SignInDeps {
  sql: Queries
  signInLimits: SignInLimits
  log: Logger
}

/** Where an attempt comes from. */
export interface Origin {
  address: string
  /** The token of a browser that somebody has signed in with. */
  browser: string | undefined
  /** Whether the response is still expected; if not, the password is not checked. */
  isWanted: () => boolean
}

/** Checks the password. An unknown email and a wrong password are indistinguishable, also by timing. */
export async function signIn(
  deps: SignInDeps,
  input: { email: string; password: string },
  origin: Origin,
): Promise<Entrant> {
  const { sql, signInLimits: limits } = deps
  const email = input.email.trim()
  requireHashingCapacity()
  const isKnown = origin.browser !== undefined && (await isKnownBrowser(sql, email, hashSecret(origin.browser)))
  const knownBrowser = isKnown ? origin.browser : undefined
  const account = await foldCase(sql, email)
  const attempt: Attempt = { address: origin.address, account, acrossAddresses: true, knownBrowser }
  await limits.spend(attempt).catch((error: unknown) => {
    if (error instanceof ApiError) inBackground(deps, auditLimitedSignIn(sql, email, origin.address))
    throw error
  })
  const admin = await findAdmin(sql, email)
  const verified = verifyPassword(admin?.password_hash, input.password, origin.isWanted)
  const isRight = await refundOverloaded(limits, attempt, verified)
  if (!admin) throw new ApiError('sign_in_failed')
  const mayEnter = isRight && (!admin.password_one_time || (await consumeOneTimePassword(sql, admin)))
  if (!mayEnter) {
    const detail = { address: origin.address }
    inBackground(deps, auditInAllCommunities(sql, SIGN_IN, admin.id, 'admin.sign_in_failed', detail))
    throw new ApiError('sign_in_failed')
  }
  await limits.forgive(attempt)
  return admin
}

/** Not awaited: a response that takes longer would tell that there is such an account. */
function inBackground({ log }: SignInDeps, work: Promise<void>): void {
  work.catch((error: unknown) => log.error({ err: error }, 'a failed sign-in could not be recorded'))
}

async function auditLimitedSignIn(sql: Queries, email: string, address: string): Promise<void> {
  const admin = await findAdmin(sql, email)
  const times = admin && (await countRejection(sql, ['sign-in', `${admin.id}`]))
  if (times) await auditInAllCommunities(sql, SIGN_IN, admin.id, 'admin.sign_in_limited', { address, times })
}

/** Ends all sessions of the person and returns the new one. */
export async function changePassword(
  sql: Queries,
  session: AdminSession,
  limits: SignInLimits,
  input: { current_password: string; new_password: string },
  origin: Origin,
  openSession: (tx: Queries) => Promise<string>,
): Promise<string> {
  const { admin } = session
  const attempt: Attempt = { address: origin.address, account: `password of ${admin.id}`, acrossAddresses: true }
  await limits.spend(attempt)
  const stored = await findAdminById(sql, admin.id)
  const wrong = new Refusal(because('password_wrong'), { field: 'current_password' })
  const verified = verifyPassword(stored?.password_hash, input.current_password, origin.isWanted)
  if (!(await refundOverloaded(limits, attempt, verified))) {
    const detail = { address: origin.address, method: 'password' }
    await auditInAllCommunities(sql, 'self', admin.id, 'admin.proof_failed', detail)
    throw wrong
  }
  await limits.forgive(attempt)
  await checkPassword(input.new_password, { email: admin.email, field: 'new_password' })
  if (input.new_password === input.current_password)
    throw new Refusal(because('password_same'), { field: 'new_password' })
  const hash = await hashPassword(input.new_password, origin.isWanted)
  return transaction(sql, async (tx) => {
    // Another change may have come first: then this was not the current password.
    if ((await lockAccount(tx, admin.id)) !== stored?.password_hash) throw wrong
    await requireOpenSession(tx, session)
    await replacePassword(tx, admin.id, { hash, oneTime: false })
    await auditInAllCommunities(tx, 'self', admin.id, 'admin.password_changed')
    return openSession(tx)
  })
}
