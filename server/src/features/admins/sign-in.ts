import type { Logger } from 'pino'
import type { Actor } from '../audit/record.ts'
import { findAdmin } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import type { SignInLimits } from '../../http/console/sign-in-limits.ts'
import { Refusal } from '../../core/refusal.ts'
import { auditInAllCommunities } from './create-admin.ts'
import { checkPassword, hashPassword, verifyPassword } from './passwords.ts'
import { consumeOneTimePassword, deleteLinksOf, endSessionsOf, findAdminById, updatePassword } from './queries.ts'

const SIGN_IN: Actor = { kind: 'system', name: 'sign-in' }

interface SignInDeps {
  sql: Queries
  signInLimits: SignInLimits
  log: Logger
}

/** Returns the administrator's id. An unknown email and a wrong password are indistinguishable, also by timing. */
export async function signIn(
  { sql, signInLimits: limits, log }: SignInDeps,
  input: { email: string; password: string },
  address: string,
): Promise<number> {
  const email = input.email.trim()
  await limits.spend(address, email)
  const admin = await findAdmin(sql, email)
  const isRight = await verifyPassword(admin?.password_hash, input.password)
  if (!admin) throw new ApiError('sign_in_failed')
  const mayEnter = isRight && (!admin.password_one_time || (await consumeOneTimePassword(sql, admin.id)))
  if (!mayEnter) {
    // Not awaited: an answer that takes longer would tell that there is such an account.
    auditInAllCommunities(sql, SIGN_IN, admin.id, 'admin.sign_in_failed', { address }).catch((error: unknown) =>
      log.error({ err: error }, 'a failed sign-in could not be recorded'),
    )
    throw new ApiError('sign_in_failed')
  }
  await limits.forgive(address, email)
  const actor: Actor = { kind: 'admin', id: admin.id, name: admin.name }
  await auditInAllCommunities(sql, actor, admin.id, 'admin.signed_in', { address })
  return admin.id
}

/** Ends all sessions of the person. The caller starts a new one. */
export async function changePassword(
  sql: Queries,
  { admin }: AdminSession,
  limits: SignInLimits,
  input: { current_password: string; new_password: string },
  address: string,
): Promise<void> {
  await limits.spend(address, admin.email)
  const stored = await findAdminById(sql, admin.id)
  if (!(await verifyPassword(stored?.password_hash, input.current_password))) {
    throw new Refusal('This is not your password.', { field: 'current_password' })
  }
  await limits.forgive(address, admin.email)
  await checkPassword(input.new_password, { email: admin.email, field: 'new_password' })
  if (input.new_password === input.current_password)
    throw new Refusal('Choose another password.', { field: 'new_password' })
  const hash = await hashPassword(input.new_password)
  await transaction(sql, async (tx) => {
    await updatePassword(tx, admin.id, { hash, oneTime: false })
    await endSessionsOf(tx, admin.id)
    await deleteLinksOf(tx, admin.id)
    const actor = { kind: 'admin', id: admin.id, name: admin.name } as const
    await auditInAllCommunities(tx, actor, admin.id, 'admin.password_changed')
  })
}
