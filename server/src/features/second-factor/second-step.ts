import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashSecret } from '../../crypto/secrets.ts'
import {
  browserToken,
  clearSecondStepCookie,
  secondStepToken,
  setSecondStepCookie,
} from '../../http/console/admin-frame.ts'
import { newSessionToken } from '../../http/console/sessions.ts'
import type { Attempt } from '../../http/console/sign-in-limits.ts'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import type { Actor } from '../audit/record.ts'
import { isKnownBrowser } from '../admins/browser-queries.ts'
import { auditInAllCommunities } from '../admins/create-admin.ts'
import { lockForSignIn, type Entrant } from '../admins/queries.ts'
import { openSession, sendSession } from '../admins/start-session.ts'
import { useFactor, type GivenFactor } from './check-factor.ts'
import { listPasskeys } from './passkey-queries.ts'
import { requestOptions, siteOf } from './passkeys.ts'
import {
  consumeSecondStep,
  countRecoveryCodes,
  countTry,
  findApp,
  findSecondStep,
  hasSecondFactor,
  insertSecondStep,
  type SecondStepRow,
} from './queries.ts'

const SIGN_IN: Actor = { kind: 'system', name: 'sign-in' }

/**
 * After the password: starts a session, or asks those who have a second factor for it. `record` runs with the start of
 * a session; the second step records its own.
 */
export async function enter(
  deps: Deps,
  { id: adminId, password_hash }: Entrant,
  request: FastifyRequest,
  reply: FastifyReply,
  record: (tx: Queries) => Promise<void> = async () => {},
) {
  const { token, isComplete } = await transaction(deps.sql, async (tx) => {
    if ((await lockForSignIn(tx, adminId)) !== password_hash) throw new ApiError('sign_in_failed')
    if (await hasSecondFactor(tx, adminId)) return { token: await openSecondStep(tx, adminId), isComplete: false }
    await record(tx)
    return { token: await openSession(tx, adminId, request), isComplete: true }
  })
  if (isComplete) return sendSession(deps, { adminId, token }, request, reply)
  setSecondStepCookie(deps, reply, token)
  throw new ApiError('second_step_required')
}

async function openSecondStep(tx: Queries, adminId: number): Promise<string> {
  const token = newSessionToken()
  await insertSecondStep(tx, adminId, hashSecret(token))
  return token
}

/** What the person can complete the sign-in with. */
export async function readSecondStep(deps: Deps, request: FastifyRequest) {
  const { sql } = deps
  const { admin_id: adminId } = await requireSecondStep(deps, request)
  const app = await findApp(sql, adminId)
  return {
    app: app?.active_since != null,
    passkey: (await listPasskeys(sql, adminId)).length > 0,
    recovery_code: (await countRecoveryCodes(sql, adminId)) > 0,
  }
}

export async function startPasskeySignIn(deps: Deps, request: FastifyRequest) {
  const { admin_id, hash } = await requireSecondStep(deps, request)
  return requestOptions(deps.sql, admin_id, { site: siteOf(deps.config, request), owner: { secondStep: hash } })
}

/** Completes a sign-in with the second factor. */
export async function finishSignIn(deps: Deps, given: GivenFactor, request: FastifyRequest, reply: FastifyReply) {
  const { sql, config, signInLimits: limits } = deps
  const step = await requireSecondStep(deps, request)
  const { hash, admin_id: adminId } = step
  const attempt = await attemptOf(sql, step, request.ip, browserToken(deps, request))
  await limits.spend(attempt)
  if (!(await countTry(sql, hash))) throw new ApiError('second_step_expired')
  const factor = await useFactor(deps, adminId, given, {
    check: { site: siteOf(config, request), owner: { secondStep: hash } },
    onWrong: (method) =>
      auditInAllCommunities(sql, SIGN_IN, adminId, 'admin.second_factor_failed', { address: request.ip, method }),
  })
  const token = await transaction(sql, async (tx) => {
    await lockForSignIn(tx, adminId)
    // Whatever changes the account ends it.
    if (!(await consumeSecondStep(tx, hash))) throw new ApiError('second_step_expired')
    const detail = { address: request.ip, second_factor: factor }
    await auditInAllCommunities(tx, 'self', adminId, 'admin.signed_in', detail)
    return openSession(tx, adminId, request)
  })
  await limits.forgive(attempt)
  clearSecondStepCookie(deps, reply)
  return sendSession(deps, { adminId, token }, request, reply)
}

/** Finds the sign-in that the browser's cookie names. */
async function requireSecondStep(deps: Deps, request: FastifyRequest): Promise<SecondStepRow & { hash: Buffer }> {
  const token = secondStepToken(deps, request)
  const hash = token === undefined ? undefined : hashSecret(token)
  const step = hash && (await findSecondStep(deps.sql, hash))
  if (!hash || !step) throw new ApiError('second_step_expired')
  return { ...step, hash }
}

/** Limited apart from the password: a correct password must not reset the failures. */
async function attemptOf(
  sql: Queries,
  { admin_id, email }: SecondStepRow,
  address: string,
  browser: string | undefined,
): Promise<Attempt> {
  const isKnown = browser !== undefined && (await isKnownBrowser(sql, email, hashSecret(browser)))
  return {
    address,
    account: `second factor of ${admin_id}`,
    acrossAddresses: true,
    knownBrowser: isKnown ? browser : undefined,
  }
}
