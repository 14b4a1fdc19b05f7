import { secondFactorExists } from '../../http/console/session-queries.ts'
import type { Queries } from '../../postgres/connect.ts'
import { deletePasskeysOf } from './passkey-queries.ts'

const SECOND_STEP_SECONDS = 10 * 60
/** A person who mistypes this often signs in again, which is limited too. */
const TRIES_MAX = 5

export interface AppRow {
  secret: Buffer
  active_since: string | null
}

export async function hasSecondFactor(sql: Queries, adminId: number): Promise<boolean> {
  const [row] = await sql<[{ has: boolean }]>`select ${secondFactorExists(sql, sql`${adminId}`)} as has`
  return row.has
}

export async function findApp(sql: Queries, adminId: number): Promise<AppRow | undefined> {
  const [row] = await sql<AppRow[]>`select secret, active_since from admin_apps where admin_id = ${adminId}`
  return row
}

/** Replaces an app that was not confirmed. Returns false if there is an active one. */
export async function insertApp(sql: Queries, adminId: number, secret: Buffer): Promise<boolean> {
  const { count } = await sql`
    insert into admin_apps (admin_id, secret) values (${adminId}, ${secret})
    on conflict (admin_id) do update set secret = excluded.secret, last_step = 0, created_at = excluded.created_at
    where admin_apps.active_since is null`
  return count === 1
}

/** Returns false if a code of this step or a later one was used already. Of two uses at once, one succeeds. */
export async function useStep(sql: Queries, adminId: number, step: number): Promise<boolean> {
  const { count } = await sql`
    update admin_apps set last_step = ${step} where admin_id = ${adminId} and last_step < ${step}`
  return count === 1
}

export async function activateApp(sql: Queries, adminId: number): Promise<void> {
  await sql`update admin_apps set active_since = now() where admin_id = ${adminId}`
}

/** Returns false if there was no active app. */
export async function deleteApp(sql: Queries, adminId: number): Promise<boolean> {
  const { count } = await sql`delete from admin_apps where admin_id = ${adminId} and active_since is not null`
  return count === 1
}

export async function replaceRecoveryCodes(sql: Queries, adminId: number, hashes: Buffer[]): Promise<void> {
  await deleteRecoveryCodes(sql, adminId)
  await sql`
    insert into admin_recovery_codes (admin_id, code_hash) select ${adminId}, hash from unnest(${hashes}::bytea[]) hash`
}

export async function deleteRecoveryCodes(sql: Queries, adminId: number): Promise<void> {
  await sql`delete from admin_recovery_codes where admin_id = ${adminId}`
}

/** Returns false if there is no such code. Of two uses at once, one succeeds. */
export async function consumeRecoveryCode(sql: Queries, adminId: number, hash: Buffer): Promise<boolean> {
  const { count } = await sql`delete from admin_recovery_codes where admin_id = ${adminId} and code_hash = ${hash}`
  return count === 1
}

export async function countRecoveryCodes(sql: Queries, adminId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int4 as count from admin_recovery_codes where admin_id = ${adminId}`
  return row.count
}

/** Begins the second step of a sign-in, and forgets the person's expired ones. */
export async function insertSecondStep(sql: Queries, adminId: number, tokenHash: Buffer): Promise<void> {
  await sql`delete from admin_second_steps where admin_id = ${adminId} and expires_at <= now()`
  await sql`
    insert into admin_second_steps (token_hash, admin_id, expires_at)
    values (${tokenHash}, ${adminId}, now() + make_interval(secs => ${SECOND_STEP_SECONDS}))`
}

export async function findSecondStep(sql: Queries, tokenHash: Buffer): Promise<SecondStepRow | undefined> {
  const [row] = await sql<SecondStepRow[]>`
    select s.admin_id, a.email from admin_second_steps s join admins a on a.id = s.admin_id
    where s.token_hash = ${tokenHash} and s.expires_at > now() and s.tries < ${TRIES_MAX}`
  return row
}

export interface SecondStepRow {
  admin_id: number
  email: string
}

/** Counts a try before the check, so that concurrent ones count too. Returns false after the last. */
export async function countTry(sql: Queries, tokenHash: Buffer): Promise<boolean> {
  const { count } = await sql`
    update admin_second_steps set tries = tries + 1
    where token_hash = ${tokenHash} and expires_at > now() and tries < ${TRIES_MAX}`
  return count === 1
}

/** Returns false if it has ended, for example because the password was changed meanwhile. */
export async function consumeSecondStep(sql: Queries, tokenHash: Buffer): Promise<boolean> {
  const { count } = await sql`delete from admin_second_steps where token_hash = ${tokenHash}`
  return count === 1
}

export async function deleteSecondStepsOf(sql: Queries, adminId: number): Promise<void> {
  await sql`delete from admin_second_steps where admin_id = ${adminId}`
}

export async function deleteSecondFactorOf(sql: Queries, adminId: number): Promise<boolean> {
  const { count } = await sql`delete from admin_apps where admin_id = ${adminId}`
  const passkeys = await deletePasskeysOf(sql, adminId)
  await deleteRecoveryCodes(sql, adminId)
  return count + passkeys > 0
}

export async function setProven(sql: Queries, sessionId: number): Promise<void> {
  await sql`update admin_sessions set proven_at = now() where id = ${sessionId}`
}
