import { findAdmin } from '../../postgres/across-communities.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import type { SignInLimits } from '../../http/console/sign-in-limits.ts'
import { Refusal } from '../../core/refusal.ts'
import { recordForAll } from './create-admin.ts'
import { checkPassword, hashPassword, verifyPassword } from './passwords.ts'
import { deleteLinksOf, endSessionsOf, findAdminById, updatePassword } from './queries.ts'

/** Whose password it is. An unknown address and a wrong password look alike, in words and in time. */
export async function signIn(
  sql: Queries,
  limits: SignInLimits,
  wish: { email: string; password: string },
  address: string,
): Promise<number> {
  const email = wish.email.trim()
  await limits.spend(address, email)
  const admin = await findAdmin(sql, email)
  if (!(await verifyPassword(admin?.password_hash, wish.password)) || !admin) throw new ApiError('sign_in_failed')
  await limits.forgive(address, email)
  return admin.id
}

/** Ends every session of the person; the caller begins a new one. */
export async function changePassword(
  sql: Queries,
  { admin }: AdminSession,
  limits: SignInLimits,
  wish: { current_password: string; new_password: string },
  address: string,
): Promise<void> {
  await limits.spend(address, admin.email)
  const stored = await findAdminById(sql, admin.id)
  if (!(await verifyPassword(stored?.password_hash, wish.current_password))) {
    throw new Refusal('This is not your password.', { field: 'current_password' })
  }
  await limits.forgive(address, admin.email)
  checkPassword(wish.new_password, { email: admin.email, field: 'new_password' })
  if (wish.new_password === wish.current_password)
    throw new Refusal('Choose another password.', { field: 'new_password' })
  const hash = await hashPassword(wish.new_password)
  await transaction(sql, async (tx) => {
    await updatePassword(tx, admin.id, { hash, oneTime: false })
    await endSessionsOf(tx, admin.id)
    await deleteLinksOf(tx, admin.id)
    const actor = { kind: 'admin', id: admin.id, name: admin.name } as const
    await recordForAll(tx, actor, admin.id, 'admin.password_changed')
  })
}
