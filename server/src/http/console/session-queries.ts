import type { Language } from '../../core/languages.ts'
import type { AdminRole } from '../../postgres/across-communities.ts'
import type { Fragment, Queries } from '../../postgres/connect.ts'

const HOUR_SECONDS = 60 * 60
/** The absolute lifetime, regardless of activity. */
export const SESSION_SECONDS = 7 * 24 * HOUR_SECONDS
const IDLE_SECONDS = 12 * HOUR_SECONDS
/** While its owner is active, a leaked token becomes useless after this time. */
const ROTATION_SECONDS = 15 * 60
/** Requests in flight during a rotation still carry the previous token. */
const PREVIOUS_TOKEN_SECONDS = 60
const LAST_SEEN_INTERVAL_SECONDS = 60
/** Sensitive actions ask for proof again after this time. */
const PROOF_SECONDS = 15 * 60
const USER_AGENT_LENGTH_MAX = 300

export interface AdminCommunity {
  id: number
  slug: string
  name: string
  time_zone: string
  role: AdminRole
  /** How this community knows the caller; their account may have another name. */
  admin_name: string
  second_factor_required: boolean
  /** The community whose share of connections and slots this one uses: that which a test community was made from. */
  capacity_of: number
}

export interface SessionRow {
  id: number
  admin: { id: number; email: string; name: string; language: Language | null }
  password_one_time: boolean
  has_second_factor: boolean
  proof_is_fresh: boolean
  rotation_is_due: boolean
  touch_is_due: boolean
  community: AdminCommunity | null
  community_touch_is_due: boolean
}

export async function insertSession(
  sql: Queries,
  adminId: number,
  tokenHash: Buffer,
  from: { address: string | undefined; userAgent: string | undefined },
): Promise<void> {
  await sql`
    insert into admin_sessions (admin_id, token_hash, expires_at, address, user_agent)
    values (${adminId}, ${tokenHash}, now() + make_interval(secs => ${SESSION_SECONDS}), ${from.address ?? null},
      ${from.userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null})`
}

/** Whether a person has an authenticator app or a passkey. */
export function secondFactorExists(sql: Queries, adminId: Fragment): Fragment {
  return sql`(
    exists (select 1 from admin_apps p where p.admin_id = ${adminId} and p.active_since is not null)
    or exists (select 1 from admin_passkeys p where p.admin_id = ${adminId}))`
}

/** Finds the session and the role in the community in one statement. */
export async function findSessionRow(
  sql: Queries,
  key: { tokenHash: Buffer } | { id: number },
  slug: string | undefined,
): Promise<SessionRow | undefined> {
  const tokenHash = 'tokenHash' in key ? key.tokenHash : null
  const isFound =
    'id' in key
      ? sql`s.id = ${key.id}`
      : sql`(s.token_hash = ${tokenHash} or (s.previous_token_hash = ${tokenHash} and s.previous_token_until > now()))`
  const [row] = await sql<SessionRow[]>`
    select s.id, jsonb_build_object('id', a.id, 'email', a.email, 'name', a.name, 'language', a.language) as admin,
      a.password_one_time,
      ${secondFactorExists(sql, sql`a.id`)} as has_second_factor,
      s.proven_at > now() - make_interval(secs => ${PROOF_SECONDS}) as proof_is_fresh,
      s.token_hash = ${tokenHash} and s.rotated_at < now() - make_interval(secs => ${ROTATION_SECONDS}) as rotation_is_due,
      s.last_seen_at < now() - make_interval(secs => ${LAST_SEEN_INTERVAL_SECONDS}) as touch_is_due,
      case when r.role is not null then jsonb_build_object(
        'id', c.id, 'slug', c.slug, 'name', c.name, 'time_zone', c.time_zone, 'role', r.role,
        'capacity_of', coalesce(c.test_of, c.id),
        'admin_name', coalesce(r.name, r.email, a.email),
        'second_factor_required', c.second_factor_required) end as community,
      r.role is not null and coalesce(r.last_seen_at < now() - make_interval(secs => ${LAST_SEEN_INTERVAL_SECONDS}), true)
        as community_touch_is_due
    from admin_sessions s join admins a on a.id = s.admin_id
    left join communities c on c.slug = ${slug ?? null}
    left join community_admins r on r.community_id = c.id and r.admin_id = a.id
    where ${isFound} and s.expires_at > now()
      and s.last_seen_at > now() - make_interval(secs => ${IDLE_SECONDS})`
  return row
}

/** Returns false if a concurrent request has already rotated the token. */
export async function rotateToken(
  sql: Queries,
  id: number,
  { from, to }: { from: Buffer; to: Buffer },
): Promise<boolean> {
  const { count } = await sql`
    update admin_sessions set token_hash = ${to}, previous_token_hash = token_hash,
      previous_token_until = now() + make_interval(secs => ${PREVIOUS_TOKEN_SECONDS}), rotated_at = now(), last_seen_at = now()
    where id = ${id} and token_hash = ${from}`
  return count === 1
}

export async function touchSession(sql: Queries, id: number): Promise<void> {
  await sql`update admin_sessions set last_seen_at = now() where id = ${id}`
}

/** Per community, so that an owner sees when someone was active here, and not when elsewhere. */
export async function touchRole(sql: Queries, communityId: number, adminId: number): Promise<void> {
  await sql`
    update community_admins set last_seen_at = now() where community_id = ${communityId} and admin_id = ${adminId}`
}
