import type { Language } from '../../core/languages.ts'
import { newRandomId } from '../../core/random-id.ts'
import { secondFactorExists } from '../../http/console/session-queries.ts'
import type { AdminRole } from '../../postgres/across-communities.ts'
import type { Queries } from '../../postgres/connect.ts'

const ONE_TIME_SECONDS = 24 * 60 * 60

export interface CommunityAdminRow {
  id: number
  email: string
  name: string
  role: AdminRole
  created_at: string
  /** Within this community. */
  last_seen_at: string | null
  /** Null unless the community requires one: otherwise it is nobody else's concern. */
  second_factor: boolean | null
}

/** How a community knows an administrator, whatever else their account says. */
export interface KnownAs {
  name: string
  email: string
}

export interface SessionListRow {
  id: number
  created_at: string
  last_seen_at: string
  address: string | null
  user_agent: string | null
}

/** Someone whose password was just checked or set. Another may replace it before their session begins. */
export interface Entrant {
  id: number
  password_hash: string
}

export interface LinkRow {
  purpose: 'set_up' | 'reset'
  admin_id: number | null
  expires_at: string
}

/**
 * Returns undefined if there is an account with this email address, also one that another transaction has just created.
 * The id is random, because owners see it and must not learn whether the account is older than their invitation.
 */
export async function insertAdmin(
  sql: Queries,
  admin: { email: string; name: string; password_hash: string; password_one_time: boolean },
): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    insert into admins (id, email, name, password_hash, password_one_time, one_time_until)
    values (${newRandomId()}, ${admin.email}, ${admin.name}, ${admin.password_hash}, ${admin.password_one_time},
      ${oneTimeUntil(sql, admin.password_one_time)})
    on conflict (lower(email)) do nothing
    returning id`
  return row?.id
}

export async function updatePassword(
  sql: Queries,
  adminId: number,
  password: { hash: string; oneTime: boolean },
): Promise<void> {
  await sql`
    update admins set password_hash = ${password.hash}, password_one_time = ${password.oneTime}, updated_at = now(),
      one_time_until = ${oneTimeUntil(sql, password.oneTime)}, one_time_used_at = null
    where id = ${adminId}`
}

function oneTimeUntil(sql: Queries, isOneTime: boolean) {
  return isOneTime ? sql`now() + make_interval(secs => ${ONE_TIME_SECONDS})` : sql`null`
}

/** Of two sign-ins at once, one succeeds. Returns false if the password has been used, has expired or was replaced. */
export async function consumeOneTimePassword(sql: Queries, { id, password_hash }: Entrant): Promise<boolean> {
  const { count } = await sql`
    update admins set one_time_used_at = now()
    where id = ${id} and password_hash = ${password_hash}
      and password_one_time and one_time_used_at is null and one_time_until > now()`
  return count === 1
}

/**
 * Whatever changes how a person signs in takes this lock first. It then sees all that an earlier change has written, and
 * sign-ins wait for it. Returns the hash of the password.
 */
export async function lockAccount(tx: Queries, adminId: number): Promise<string | undefined> {
  const [row] = await tx<{ password_hash: string }[]>`
    select password_hash from admins where id = ${adminId} for no key update`
  return row?.password_hash
}

/** Waits for changes of the account and keeps others out, but not other sign-ins. Returns the hash of the password. */
export async function lockForSignIn(tx: Queries, adminId: number): Promise<string | undefined> {
  const [row] = await tx<{ password_hash: string }[]>`
    select password_hash from admins where id = ${adminId} for share`
  return row?.password_hash
}

export async function findAdminById(
  sql: Queries,
  adminId: number,
): Promise<{ id: number; email: string; name: string; password_hash: string } | undefined> {
  const [row] = await sql<{ id: number; email: string; name: string; password_hash: string }[]>`
    select id, email, name, password_hash from admins where id = ${adminId}`
  return row
}

export async function hasAdmins(sql: Queries): Promise<boolean> {
  const rows = await sql`select 1 from admins limit 1`
  return rows.length > 0
}

/** Serializes concurrent set-ups: the second one finds an administrator. */
export async function lockAdmins(sql: Queries): Promise<void> {
  await sql`lock table admins in share row exclusive mode`
}

/** Returns false if the person has a role in this community, which stays. */
export async function insertAdminRole(
  sql: Queries,
  communityId: number,
  adminId: number,
  role: AdminRole,
  as: KnownAs,
): Promise<boolean> {
  const { count } = await sql`
    insert into community_admins (community_id, admin_id, role, name, email)
    values (${communityId}, ${adminId}, ${role}, ${as.name}, ${as.email})
    on conflict (community_id, admin_id) do nothing`
  return count === 1
}

export async function updateAdminRole(
  sql: Queries,
  communityId: number,
  adminId: number,
  role: AdminRole,
): Promise<void> {
  await sql`
    update community_admins set role = ${role} where community_id = ${communityId} and admin_id = ${adminId}`
}

export async function listAdmins(sql: Queries, communityId: number): Promise<CommunityAdminRow[]> {
  return sql<CommunityAdminRow[]>`
    select a.id, coalesce(r.email, a.email) as email, coalesce(r.name, r.email, a.email) as name, r.role, r.created_at,
      r.last_seen_at,
      case when c.second_factor_required then ${secondFactorExists(sql, sql`a.id`)} end as second_factor
    from community_admins r join admins a on a.id = r.admin_id join communities c on c.id = r.community_id
    where r.community_id = ${communityId} order by name, email`
}

/** Locks all roles, so that of two owners who remove each other at the same time one remains. */
export async function lockRoles(sql: Queries, communityId: number): Promise<RoleRow[]> {
  return sql<RoleRow[]>`
    select r.admin_id, r.role, a.email from community_admins r join admins a on a.id = r.admin_id
    where r.community_id = ${communityId} order by r.admin_id for update of r`
}

export interface RoleRow {
  admin_id: number
  role: AdminRole
  email: string
}

export async function deleteAdminRole(sql: Queries, communityId: number, adminId: number): Promise<void> {
  await sql`delete from community_admins where community_id = ${communityId} and admin_id = ${adminId}`
}

export async function listSessions(sql: Queries, adminId: number): Promise<SessionListRow[]> {
  return sql<SessionListRow[]>`
    select id, created_at, last_seen_at, host(address) as address, user_agent from admin_sessions
    where admin_id = ${adminId} and expires_at > now() order by last_seen_at desc, id desc`
}

export async function hasSession(sql: Queries, adminId: number, sessionId: number): Promise<boolean> {
  const rows = await sql`select 1 from admin_sessions where id = ${sessionId} and admin_id = ${adminId}`
  return rows.length > 0
}

/** Returns false if the person has no such session. */
export async function endSession(sql: Queries, adminId: number, sessionId: number): Promise<boolean> {
  const { count } = await sql`delete from admin_sessions where id = ${sessionId} and admin_id = ${adminId}`
  return count === 1
}

export async function endSessionsOf(sql: Queries, adminId: number, except?: number): Promise<void> {
  await sql`delete from admin_sessions where admin_id = ${adminId} and id <> ${except ?? 0}`
}

export async function insertLink(
  sql: Queries,
  link: {
    hash: Buffer
    purpose: LinkRow['purpose']
    adminId: number | null
    /** The owner who made it for somebody else. */
    madeBy: number | null
    seconds: number
  },
): Promise<string> {
  const [row] = await sql<[{ expires_at: string }]>`
    insert into admin_links (token_hash, purpose, admin_id, made_by, expires_at)
    values (${link.hash}, ${link.purpose}, ${link.adminId}, ${link.madeBy}, now() + make_interval(secs => ${link.seconds}))
    returning expires_at`
  return row.expires_at
}

export async function findLink(sql: Queries, hash: Buffer): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    select purpose, admin_id, expires_at from admin_links where token_hash = ${hash} and expires_at > now()`
  return row
}

/** Consumes the link. Only one of two concurrent uses finds it. */
export async function consumeLink(sql: Queries, hash: Buffer): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    delete from admin_links where token_hash = ${hash} and expires_at > now() returning purpose, admin_id, expires_at`
  return row
}

export async function deleteLinksOf(sql: Queries, adminId: number): Promise<void> {
  await sql`delete from admin_links where admin_id = ${adminId}`
}

/** Deletes the links that this person made for others. */
export async function deleteLinksBy(sql: Queries, adminId: number): Promise<void> {
  await sql`delete from admin_links where made_by = ${adminId}`
}

/** Deletes the links that were made to last this long or shorter. */
export async function deleteLinksUpTo(sql: Queries, adminId: number, seconds: number): Promise<void> {
  await sql`
    delete from admin_links
    where admin_id = ${adminId} and expires_at - created_at <= make_interval(secs => ${seconds})`
}

export async function deleteSetUpLinks(sql: Queries): Promise<void> {
  await sql`delete from admin_links where purpose = 'set_up'`
}

/** Null leaves it to the community and the browser. */
export async function updateLanguage(sql: Queries, adminId: number, language: Language | null): Promise<void> {
  await sql`update admins set language = ${language} where id = ${adminId}`
}
