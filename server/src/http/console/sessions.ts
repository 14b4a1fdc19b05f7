import { randomBytes } from 'node:crypto'
import type { AdminRole } from '../../postgres/across-communities.ts'
import type { Queries } from '../../postgres/connect.ts'
import { isDiskFull } from '../../postgres/embedded/disk-space.ts'
import { hashSecret } from '../../crypto/secrets.ts'

const TOKEN_BYTES = 32
const HOUR_SECONDS = 60 * 60
/** The absolute lifetime, regardless of activity. */
export const SESSION_SECONDS = 7 * 24 * HOUR_SECONDS
const IDLE_SECONDS = 12 * HOUR_SECONDS
/** While its owner is active, a leaked token becomes useless after this time. */
const ROTATION_SECONDS = 15 * 60
/** Requests in flight during a rotation still carry the previous token. */
const PREVIOUS_TOKEN_SECONDS = 60
const LAST_SEEN_INTERVAL_SECONDS = 60
const USER_AGENT_LENGTH_MAX = 300

/** The caller's session, and their role in the community named in the path. */
export interface AdminSession {
  id: number
  admin: { id: number; email: string; name: string }
  password_one_time: boolean
  community: AdminCommunity | undefined
  /** Set after a rotation; replaces the token in the browser's cookie. */
  newToken?: string
}

export interface AdminCommunity {
  id: number
  slug: string
  name: string
  time_zone: string
  role: AdminRole
}

interface SessionRow {
  id: number
  admin_id: number
  email: string
  name: string
  password_one_time: boolean
  rotation_is_due: boolean
  touch_is_due: boolean
  community: AdminCommunity | null
}

export function newSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Always generates a new token and never adopts one from the browser, which prevents session fixation. */
export async function insertSession(
  sql: Queries,
  adminId: number,
  from: { address: string | undefined; userAgent: string | undefined },
): Promise<{ id: number; token: string }> {
  const token = newSessionToken()
  const [row] = await sql<[{ id: number }]>`
    insert into admin_sessions (admin_id, token_hash, expires_at, address, user_agent)
    values (${adminId}, ${hashSecret(token)}, now() + make_interval(secs => ${SESSION_SECONDS}), ${from.address ?? null},
      ${from.userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null})
    returning id`
  return { id: row.id, token }
}

/** Finds the session of a token and the role in the community in one statement; rotates and touches it when due. */
export async function findSession(
  sql: Queries,
  token: string,
  slug: string | undefined,
): Promise<AdminSession | undefined> {
  const hash = hashSecret(token)
  const [row] = await sql<SessionRow[]>`
    select s.id, s.admin_id, a.email, a.name, a.password_one_time,
      s.token_hash = ${hash} and s.rotated_at < now() - make_interval(secs => ${ROTATION_SECONDS}) as rotation_is_due,
      s.last_seen_at < now() - make_interval(secs => ${LAST_SEEN_INTERVAL_SECONDS}) as touch_is_due,
      case when r.role is not null then jsonb_build_object(
        'id', c.id, 'slug', c.slug, 'name', c.name, 'time_zone', c.time_zone, 'role', r.role) end as community
    from admin_sessions s join admins a on a.id = s.admin_id
    left join communities c on c.slug = ${slug ?? null}
    left join community_admins r on r.community_id = c.id and r.admin_id = a.id
    where (s.token_hash = ${hash} or (s.previous_token_hash = ${hash} and s.previous_token_until > now()))
      and s.expires_at > now() and s.last_seen_at > now() - make_interval(secs => ${IDLE_SECONDS})`
  if (!row) return undefined
  const { id, admin_id, email, name, password_one_time, community } = row
  const newToken = row.rotation_is_due ? await rotate(sql, id, hash).catch(ignoreDiskFull) : undefined
  if (row.touch_is_due && !newToken) await touch(sql, id).catch(ignoreDiskFull)
  return {
    id,
    admin: { id: admin_id, email, name },
    password_one_time,
    community: community ?? undefined,
    ...(newToken && { newToken }),
  }
}

/** Pages stay readable while the disk is full; a later request rotates the session. */
function ignoreDiskFull(error: unknown): undefined {
  if (!isDiskFull(error)) throw error
}

/** Returns undefined if a concurrent request has already rotated the token. */
async function rotate(sql: Queries, id: number, hash: Buffer): Promise<string | undefined> {
  const token = newSessionToken()
  const { count } = await sql`
    update admin_sessions set token_hash = ${hashSecret(token)}, previous_token_hash = token_hash,
      previous_token_until = now() + make_interval(secs => ${PREVIOUS_TOKEN_SECONDS}), rotated_at = now(), last_seen_at = now()
    where id = ${id} and token_hash = ${hash}`
  return count === 1 ? token : undefined
}

async function touch(sql: Queries, id: number): Promise<void> {
  await sql`update admin_sessions set last_seen_at = now() where id = ${id}`
}
