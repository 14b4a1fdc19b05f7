import { newRandomId } from '../../core/random-id.ts'
import type { AdminRole } from '../../postgres/across-communities.ts'
import type { Queries } from '../../postgres/connect.ts'

export interface InvitationRow {
  community_id: number
  id: number
  email: string
  name: string
  role: AdminRole
  created_at: string
  expires_at: string
}

export interface NewInvitation {
  email: string
  name: string
  role: AdminRole
  tokenHash: Buffer
  seconds: number
  invitedBy: number | undefined
}

const invitationColumns = (sql: Queries) => sql`community_id, id, email, name, role, created_at, expires_at`

/** Replaces an earlier invitation to the same email address. */
export async function insertInvitation(
  sql: Queries,
  communityId: number,
  { email, name, role, tokenHash, seconds, invitedBy }: NewInvitation,
): Promise<InvitationRow> {
  const [row] = await sql<[InvitationRow]>`
    insert into admin_invitations (community_id, id, token_hash, email, name, role, invited_by, expires_at)
    values (${communityId}, ${newRandomId()}, ${tokenHash}, ${email}, ${name}, ${role}, ${invitedBy ?? null},
      now() + make_interval(secs => ${seconds}))
    on conflict (community_id, lower(email)) do update set token_hash = excluded.token_hash, email = excluded.email,
      name = excluded.name, role = excluded.role, invited_by = excluded.invited_by, expires_at = excluded.expires_at
    returning ${invitationColumns(sql)}`
  return row
}

/** Includes expired ones, which can be renewed until they are pruned. */
export async function listInvitations(sql: Queries, communityId: number): Promise<InvitationRow[]> {
  return sql<InvitationRow[]>`
    select ${invitationColumns(sql)} from admin_invitations where community_id = ${communityId} order by name, id`
}

/** The administrator who renews it vouches for it from now on. */
export async function renewInvitationRow(
  sql: Queries,
  communityId: number,
  id: number,
  { tokenHash, seconds, invitedBy }: { tokenHash: Buffer; seconds: number; invitedBy: number | undefined },
): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`
    update admin_invitations set token_hash = ${tokenHash}, expires_at = now() + make_interval(secs => ${seconds}),
      invited_by = ${invitedBy ?? null}
    where community_id = ${communityId} and id = ${id}
    returning ${invitationColumns(sql)}`
  return row
}

export async function findInvitationRow(
  sql: Queries,
  communityId: number,
  tokenHash: Buffer,
): Promise<(InvitationRow & { community: string }) | undefined> {
  const [row] = await sql<(InvitationRow & { community: string })[]>`
    select i.community_id, i.id, i.email, i.name, i.role, i.created_at, i.expires_at, c.name as community
    from admin_invitations i join communities c on c.id = i.community_id
    where i.community_id = ${communityId} and ${hasToken(sql, tokenHash)} and i.expires_at > now()`
  return row
}

/** Either the owner's link or the mailed one. */
const hasToken = (sql: Queries, hash: Buffer) => sql`
  (i.token_hash = ${hash} or (i.mailed_hash = ${hash} and i.mailed_until > now()))`

/** Whom an open invitation goes to, in lower case, and the community that answers for it: test communities count as theirs. */
export async function findInvited(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<{ account: string; owner: number } | undefined> {
  const [row] = await sql<{ account: string; owner: number }[]>`
    select lower(i.email) as account, coalesce(c.test_of, c.id) as owner
    from admin_invitations i join communities c on c.id = i.community_id
    where i.community_id = ${communityId} and i.id = ${id} and i.expires_at > now()`
  return row
}

/** Replaces an earlier mailed link. */
export async function setMailedToken(
  sql: Queries,
  communityId: number,
  id: number,
  { hash, seconds }: { hash: Buffer; seconds: number },
): Promise<(InvitationRow & { community: string }) | undefined> {
  const [row] = await sql<(InvitationRow & { community: string })[]>`
    update admin_invitations i set mailed_hash = ${hash}, mailed_until = now() + make_interval(secs => ${seconds})
    from communities c
    where i.community_id = ${communityId} and c.id = ${communityId} and i.id = ${id} and i.expires_at > now()
    returning i.community_id, i.id, i.email, i.name, i.role, i.created_at, i.expires_at, c.name as community`
  return row
}

/** Finds the open invitation of a mailed link, also after its hour. */
export async function findMailedInvitation(
  sql: Queries,
  communityId: number,
  hash: Buffer,
): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    select id from admin_invitations
    where community_id = ${communityId} and mailed_hash = ${hash} and expires_at > now()`
  return row?.id
}

/** Only one of two concurrent uses finds it. */
export async function consumeInvitation(
  sql: Queries,
  communityId: number,
  tokenHash: Buffer,
): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`
    delete from admin_invitations i
    where i.community_id = ${communityId} and ${hasToken(sql, tokenHash)} and i.expires_at > now()
    returning ${invitationColumns(sql)}`
  return row
}

export async function deleteInvitation(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`
    delete from admin_invitations where community_id = ${communityId} and id = ${id}
    returning ${invitationColumns(sql)}`
  return row
}

/** Ends what this community offers the person. */
export async function deleteInvitationsOf(sql: Queries, communityId: number, adminId: number): Promise<void> {
  await sql`
    delete from admin_invitations
    where community_id = ${communityId} and lower(email) = (select lower(email) from admins where id = ${adminId})`
}

/** Ends what the person has offered others, so that nobody returns by an invitation they made for themselves. */
export async function deleteInvitationsBy(sql: Queries, communityId: number, adminId: number): Promise<void> {
  await sql`delete from admin_invitations where community_id = ${communityId} and invited_by = ${adminId}`
}
