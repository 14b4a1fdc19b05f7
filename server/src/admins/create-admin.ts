import { recordAudit, type Actor } from '../audit/record.ts'
import { communitiesOfAdmin, findAdmin } from '../db/across-communities.ts'
import { transaction, type Queries } from '../db/connect.ts'
import { Refusal } from '../refusal.ts'
import { hashPassword, newOneTimePassword } from './one-time-password.ts'
import { insertAdmin, setAdminRole, updatePassword, type AdminRole } from './queries.ts'

const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u
const EMAIL_LENGTH_MAX = 254

/** A new administrator with a one-time password, or a known one for one more community (then without a password). */
export async function createAdmin(
  sql: Queries,
  actor: Actor,
  communityId: number,
  wish: { email: string; name: string; role: AdminRole },
): Promise<{ adminId: number; password: string | undefined }> {
  if (!EMAIL.test(wish.email) || wish.email.length > EMAIL_LENGTH_MAX) {
    throw new Refusal(`${wish.email} is not an email address.`)
  }
  const password = newOneTimePassword()
  const password_hash = await hashPassword(password)
  return transaction(sql, async (tx) => {
    const known = await findAdmin(tx, wish.email)
    const { email, name, role } = wish
    const adminId = known?.id ?? (await insertAdmin(tx, { email, name, password_hash, password_one_time: true }))
    await setAdminRole(tx, communityId, adminId, role)
    await recordAudit(tx, communityId, actor, {
      action: 'admin.added',
      subject: { kind: 'admin', id: adminId },
      detail: { role },
    })
    return { adminId, password: known ? undefined : password }
  })
}

/** A new one-time password for someone who lost theirs. */
export async function resetAdmin(sql: Queries, actor: Actor, email: string): Promise<{ password: string }> {
  const password = newOneTimePassword()
  const passwordHash = await hashPassword(password)
  await transaction(sql, async (tx) => {
    const admin = await findAdmin(tx, email)
    if (!admin) throw new Refusal(`There is no administrator ${email}.`)
    await updatePassword(tx, admin.id, passwordHash)
    for (const communityId of await communitiesOfAdmin(tx, admin.id)) {
      await recordAudit(tx, communityId, actor, {
        action: 'admin.password_reset',
        subject: { kind: 'admin', id: admin.id },
      })
    }
  })
  return { password }
}
