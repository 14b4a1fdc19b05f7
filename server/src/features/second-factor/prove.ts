import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import { refundOverloaded, type Attempt } from '../../http/console/sign-in-limits.ts'
import type { Deps } from '../../http/deps.ts'
import { auditInAllCommunities } from '../admins/create-admin.ts'
import { verifyPassword } from '../admins/passwords.ts'
import { findAdminById } from '../admins/queries.ts'
import type { Origin } from '../admins/sign-in.ts'
import { useFactor, type GivenFactor } from './check-factor.ts'
import type { Site } from './passkeys.ts'
import { setProven } from './queries.ts'

/** Renews the proof that the person at this session is the one who signed in: by the password or the second factor. */
export async function prove(
  deps: Deps,
  session: AdminSession,
  given: GivenFactor & { password?: string },
  origin: Origin,
  site: Site,
): Promise<void> {
  const { sql, signInLimits: limits } = deps
  const { id: adminId } = session.admin
  const isPassword = given.password !== undefined
  const account = `${isPassword ? 'password' : 'second factor'} of ${adminId}`
  const attempt: Attempt = { address: origin.address, account, acrossAddresses: true }
  await limits.spend(attempt)
  const audit = (method: string) =>
    auditInAllCommunities(sql, 'self', adminId, 'admin.proof_failed', { address: origin.address, method })
  if (given.password === undefined) {
    await useFactor(deps, adminId, given, { check: { site, owner: { sessionId: session.id } }, onWrong: audit })
  } else if (!(await refundOverloaded(limits, attempt, isPasswordOf(deps, adminId, given.password, origin)))) {
    await audit('password')
    throw new Refusal(because('password_wrong'), { field: 'password' })
  }
  await limits.forgive(attempt)
  await setProven(sql, session.id)
}

async function isPasswordOf({ sql }: Deps, adminId: number, password: string, origin: Origin): Promise<boolean> {
  const stored = await findAdminById(sql, adminId)
  return verifyPassword(stored?.password_hash, password, origin.isWanted)
}
