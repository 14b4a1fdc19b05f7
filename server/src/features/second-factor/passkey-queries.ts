import type { Queries } from '../../postgres/connect.ts'

const CHALLENGE_SECONDS = 5 * 60

export interface PasskeyRow {
  id: number
  name: string
  created_at: string
  last_used_at: string | null
}

/** What the verification of a signature needs. */
export interface StoredPasskey {
  id: number
  credential_id: Buffer
  public_key: Buffer
  counter: number
  transports: string[]
}

export interface NewPasskeyRow {
  id: number
  name: string
  credentialId: Uint8Array
  publicKey: Uint8Array
  counter: number
  transports: string[]
  rpId: string
}

/** What a challenge belongs to: a session, or a sign-in that still lacks the second factor. */
export type ChallengeOwner = { sessionId: number } | { secondStep: Buffer }

/** Replaces the challenge that was there before. */
export async function setChallenge(sql: Queries, owner: ChallengeOwner, challenge: Buffer): Promise<void> {
  const until = sql`now() + make_interval(secs => ${CHALLENGE_SECONDS})`
  await ('sessionId' in owner
    ? sql`update admin_sessions set challenge = ${challenge}, challenge_until = ${until} where id = ${owner.sessionId}`
    : sql`
        update admin_second_steps set challenge = ${challenge}, challenge_until = ${until}
        where token_hash = ${owner.secondStep}`)
}

/** Takes the challenge away. Of two uses at once, one gets it. */
export async function consumeChallenge(sql: Queries, owner: ChallengeOwner): Promise<Buffer | undefined> {
  const [row] = await ('sessionId' in owner
    ? sql<{ challenge: Buffer }[]>`
        with held as (
          select id, challenge from admin_sessions
          where id = ${owner.sessionId} and challenge is not null and challenge_until > now() for update)
        update admin_sessions s set challenge = null from held where s.id = held.id returning held.challenge`
    : sql<{ challenge: Buffer }[]>`
        with held as (
          select token_hash, challenge from admin_second_steps
          where token_hash = ${owner.secondStep} and challenge is not null and challenge_until > now() for update)
        update admin_second_steps s set challenge = null from held where s.token_hash = held.token_hash
        returning held.challenge`)
  return row?.challenge
}

export async function listPasskeys(sql: Queries, adminId: number): Promise<PasskeyRow[]> {
  return sql<PasskeyRow[]>`
    select id, name, created_at, last_used_at from admin_passkeys where admin_id = ${adminId} order by created_at, id`
}

/** The passkeys that can be used under a host name. */
export async function listPasskeysFor(sql: Queries, adminId: number, rpId: string): Promise<StoredPasskey[]> {
  return sql<StoredPasskey[]>`
    select id, credential_id, public_key, counter, transports from admin_passkeys
    where admin_id = ${adminId} and rp_id = ${rpId} order by created_at, id`
}

/** Returns false if the passkey exists. */
export async function insertPasskey(sql: Queries, adminId: number, passkey: NewPasskeyRow): Promise<boolean> {
  const { count } = await sql`
    insert into admin_passkeys (id, admin_id, name, credential_id, public_key, counter, transports, rp_id)
    values (${passkey.id}, ${adminId}, ${passkey.name}, ${passkey.credentialId}, ${passkey.publicKey},
      ${passkey.counter}, ${passkey.transports}::text[], ${passkey.rpId})
    on conflict (credential_id) do nothing`
  return count === 1
}

/** Returns false if another signature with this count or a later one came first. Many authenticators never count. */
export async function usePasskey(sql: Queries, id: number, counter: number): Promise<boolean> {
  const { count } = await sql`
    update admin_passkeys set counter = ${counter}, last_used_at = now()
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter}::int8 = 0))`
  return count === 1
}

export async function renamePasskey(sql: Queries, adminId: number, id: number, name: string): Promise<void> {
  await sql`update admin_passkeys set name = ${name} where id = ${id} and admin_id = ${adminId}`
}

/** Returns the name, or undefined if the person has no such passkey. */
export async function lockPasskey(sql: Queries, adminId: number, id: number): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select name from admin_passkeys where id = ${id} and admin_id = ${adminId} for update`
  return row?.name
}

export async function deletePasskey(sql: Queries, adminId: number, id: number): Promise<void> {
  await sql`delete from admin_passkeys where id = ${id} and admin_id = ${adminId}`
}

export async function deletePasskeysOf(sql: Queries, adminId: number): Promise<number> {
  const { count } = await sql`delete from admin_passkeys where admin_id = ${adminId}`
  return count
}
