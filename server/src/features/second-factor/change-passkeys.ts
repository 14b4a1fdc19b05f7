import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { newRandomId } from '../../core/random-id.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { auditInAllCommunities } from '../admins/create-admin.ts'
import { lockOwnAccount } from '../admins/lock-own-account.ts'
import { afterRemoval, endWhatWasOpened, storeNewCodes } from './change-factor.ts'
import { deletePasskey, insertPasskey, listPasskeys, lockPasskey, renamePasskey } from './passkey-queries.ts'
import { verifyNewPasskey, type PasskeyCheck } from './passkeys.ts'
import { hasSecondFactor } from './queries.ts'

const PASSKEYS_MAX = 20
const NAME_LENGTH_MAX = 60

/** Returns the recovery codes if this is the first second factor. */
export async function addPasskey(
  sql: Queries,
  session: AdminSession,
  input: { name: string; passkey: RegistrationResponseJSON },
  check: PasskeyCheck,
): Promise<string[]> {
  const adminId = session.admin.id
  const name = checkName(input.name)
  // Outside the transaction: a challenge that was tried is used up, also if nothing comes of it.
  const made = await verifyNewPasskey(sql, input.passkey, check)
  if (!made) throw new Refusal(because('passkey_unverified'))
  return transaction(sql, async (tx) => {
    await lockOwnAccount(tx, session)
    if ((await listPasskeys(tx, adminId)).length >= PASSKEYS_MAX) {
      throw new Refusal(because('passkeys_max', { max: PASSKEYS_MAX }))
    }
    const isFirst = !(await hasSecondFactor(tx, adminId))
    const { id: credentialId, publicKey, counter, transports = [] } = made.credential
    const isNew = await insertPasskey(tx, adminId, {
      id: newRandomId(),
      name,
      credentialId: Buffer.from(credentialId, 'base64url'),
      publicKey,
      counter,
      transports,
      rpId: check.site.rpId,
    })
    if (!isNew) throw new Refusal(because('passkey_known'))
    await endWhatWasOpened(tx, session)
    await auditInAllCommunities(tx, 'self', adminId, 'admin.second_factor_added', { method: 'passkey', name })
    return isFirst ? storeNewCodes(tx, adminId) : []
  })
}

/** `onFound` sees the name before the change, and may reject it. */
export async function changePasskey(
  sql: Queries,
  { admin }: AdminSession,
  id: number,
  input: { name: string },
  onFound: (before: string) => void,
): Promise<void> {
  const name = checkName(input.name)
  await transaction(sql, async (tx) => {
    const before = await requirePasskey(tx, admin.id, id)
    onFound(before)
    await renamePasskey(tx, admin.id, id, name)
    await auditInAllCommunities(tx, 'self', admin.id, 'admin.passkey_renamed', { name, before })
  })
}

export async function removePasskey(sql: Queries, session: AdminSession, id: number): Promise<void> {
  const adminId = session.admin.id
  await transaction(sql, async (tx) => {
    await lockOwnAccount(tx, session)
    const name = await requirePasskey(tx, adminId, id)
    await deletePasskey(tx, adminId, id)
    await afterRemoval(tx, session, { method: 'passkey', name })
  })
}

async function requirePasskey(tx: Queries, adminId: number, id: number): Promise<string> {
  const name = await lockPasskey(tx, adminId, id)
  if (name === undefined) throw new NotFound(because('no_such_passkey'))
  return name
}

function checkName(name: string): string {
  const trimmed = name.trim()
  if (trimmed && trimmed.length <= NAME_LENGTH_MAX && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw new Refusal(because('name_length', { max: NAME_LENGTH_MAX }), { field: 'name' })
}
