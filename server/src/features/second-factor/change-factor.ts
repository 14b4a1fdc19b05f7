import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import { versionOf } from '../../http/console/versions.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { auditInAllCommunities } from '../admins/create-admin.ts'
import { lockOwnAccount } from '../admins/lock-own-account.ts'
import { newOneTimePassword } from '../admins/one-time-password.ts'
import { deleteLinksOf, endSessionsOf } from '../admins/queries.ts'
import { hashRecoveryCode, useAppCode, type Factor, type FactorDeps } from './check-factor.ts'
import { listPasskeys } from './passkey-queries.ts'
import {
  activateApp,
  countRecoveryCodes,
  deleteApp,
  deleteRecoveryCodes,
  deleteSecondStepsOf,
  findApp,
  hasSecondFactor,
  insertApp,
  replaceRecoveryCodes,
} from './queries.ts'
import { appAddress, newAppSecret } from './totp.ts'

const RECOVERY_CODES = 10
const ISSUER = 'Hourbank'

export async function readSecondFactor(sql: Queries, { admin }: AdminSession) {
  const app = await findApp(sql, admin.id)
  const passkeys = await listPasskeys(sql, admin.id)
  return {
    app: app?.active_since ? { active_since: app.active_since } : null,
    passkeys: passkeys.map((passkey) => ({ ...passkey, version: versionOf([passkey.name]) })),
    recovery_codes_left: await countRecoveryCodes(sql, admin.id),
  }
}

/** Makes the secret for an authenticator app. It counts for nothing until a code of the app confirms it. */
export async function startApp({ sql, box }: FactorDeps, session: AdminSession) {
  const { admin } = session
  const secret = newAppSecret()
  await transaction(sql, async (tx) => {
    await lockOwnAccount(tx, session)
    if (!(await insertApp(tx, admin.id, box.seal(secret)))) throw new Refusal(because('app_exists'))
  })
  return { secret, address: appAddress(secret, admin.email, ISSUER) }
}

/** Returns the recovery codes if this is the first second factor. */
export async function confirmApp(deps: FactorDeps, session: AdminSession, code: string): Promise<string[]> {
  const adminId = session.admin.id
  return transaction(deps.sql, async (tx) => {
    await lockOwnAccount(tx, session)
    if (!(await useAppCode({ ...deps, sql: tx }, adminId, code, { active: false }))) {
      throw new Refusal(because('app_code_wrong'), { field: 'code' })
    }
    const isFirst = !(await hasSecondFactor(tx, adminId))
    await activateApp(tx, adminId)
    await endWhatWasOpened(tx, session)
    await auditInAllCommunities(tx, 'self', adminId, 'admin.second_factor_added', { method: 'app' })
    return isFirst ? storeNewCodes(tx, adminId) : []
  })
}

export async function removeApp(sql: Queries, session: AdminSession): Promise<void> {
  const adminId = session.admin.id
  await transaction(sql, async (tx) => {
    await lockOwnAccount(tx, session)
    if (!(await deleteApp(tx, adminId))) throw new Refusal(because('app_missing'))
    await afterRemoval(tx, session, { method: 'app' })
  })
}

/** Call it under the lock. Recovery codes go with the last factor: there is nothing left that they could stand in for. */
export async function afterRemoval(
  tx: Queries,
  session: AdminSession,
  removed: { method: Factor; name?: string },
): Promise<void> {
  const adminId = session.admin.id
  if (!(await hasSecondFactor(tx, adminId))) await deleteRecoveryCodes(tx, adminId)
  await endWhatWasOpened(tx, session)
  await auditInAllCommunities(tx, 'self', adminId, 'admin.second_factor_removed', removed)
}

/** The previous codes stop working. */
export async function makeRecoveryCodes(sql: Queries, session: AdminSession): Promise<string[]> {
  const adminId = session.admin.id
  return transaction(sql, async (tx) => {
    await lockOwnAccount(tx, session)
    if (!(await hasSecondFactor(tx, adminId))) throw new Refusal(because('factor_missing'))
    await endWhatWasOpened(tx, session)
    await auditInAllCommunities(tx, 'self', adminId, 'admin.recovery_codes_made')
    return storeNewCodes(tx, adminId)
  })
}

export async function storeNewCodes(tx: Queries, adminId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newOneTimePassword)
  await replaceRecoveryCodes(tx, adminId, codes.map(hashRecoveryCode))
  return codes
}

/** Ends the person's links, other sessions and sign-ins under way: somebody else may hold them. */
export async function endWhatWasOpened(tx: Queries, { admin, id }: AdminSession): Promise<void> {
  await endSessionsOf(tx, admin.id, id)
  await deleteLinksOf(tx, admin.id)
  await deleteSecondStepsOf(tx, admin.id)
}
