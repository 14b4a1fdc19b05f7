import type { Fragment, Queries } from '../../postgres/connect.ts'

export interface AuditRow {
  id: number
  at: string
  actor_kind: 'admin' | 'client' | 'command' | 'system'
  actor_id: number | null
  actor_name: string
  action: string
  subject_kind: string
  subject_id: number | null
  detail: Record<string, unknown>
  member_ids: number[] | null
}

export interface AuditFilters {
  actor_kind?: AuditRow['actor_kind']
  actor_id?: number
  /** One action, or a prefix like `partner.` */
  action?: string
  subject_kind?: string
  subject_id?: number
  from?: string
  until?: string
  /** Only the entries of one import. */
  batch?: string
}

/**
 * Lists what people read, the newest first: without the rows of imports, and with one entry for all calls of a client
 * that read email addresses on a day, at the place of the first. Each half reads an index of its own.
 */
export async function listGroupedAudit(
  sql: Queries,
  communityId: number,
  { limit, after }: { limit: number; after: { id: number } | undefined },
  filters: AuditFilters,
): Promise<AuditRow[]> {
  const start = after?.id ?? null
  return sql<AuditRow[]>`
    select * from (
      (${selectAudit(sql, communityId, filters)} and batch is null and action <> 'members.email_read'
        and (${start}::int8 is null or id < ${start}) order by id desc limit ${limit + 1})
      union all
      (select first_id, first_at, 'client', client_id, client_name, ${EMAIL_READS}, 'member', null,
        jsonb_build_object('calls', calls, 'addresses', addresses, 'last_at',
          to_char(last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')), null
      from email_read_days
      where community_id = ${communityId} ${filterReadDays(sql, filters)}
        and (${start}::int8 is null or first_id < ${start}) order by first_id desc limit ${limit + 1})
    ) entries
    order by id desc limit ${limit + 1}`
}

/** The action of an entry that stands for a day's calls; no single entry has it. */
export const EMAIL_READS = 'members.email_reads'

function filterReadDays(
  sql: Queries,
  { actor_kind, actor_id, action, subject_kind, subject_id, from, until, batch }: AuditFilters,
) {
  const isPossible =
    (actor_kind === undefined || actor_kind === 'client') &&
    (action === undefined || action === 'members.' || action === 'members.email_read') &&
    (subject_kind === undefined || subject_kind === 'member') &&
    subject_id === undefined &&
    batch === undefined
  if (!isPossible) return sql`and false`
  return sql`
    ${actor_id === undefined ? sql`` : sql`and client_id = ${actor_id}`}
    ${from === undefined ? sql`` : sql`and last_at >= ${from}::timestamptz`}
    ${until === undefined ? sql`` : sql`and first_at < ${until}::timestamptz`}`
}

/** Lists every single entry, the newest first. */
export async function listAudit(
  sql: Queries,
  communityId: number,
  { limit, after }: { limit: number; after: { id: number } | undefined },
  filters: AuditFilters,
): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    ${selectAudit(sql, communityId, filters)} ${after ? sql`and id < ${after.id}` : sql``}
    order by id desc limit ${limit + 1}`
}

export function selectAudit(sql: Queries, communityId: number, filters: AuditFilters) {
  const { actor_kind, actor_id, action, subject_kind, subject_id, from, until, batch } = filters
  return sql`
    select id, at, actor_kind, actor_id, actor_name, action, subject_kind, subject_id, detail, member_ids
    from audit_log
    where community_id = ${communityId}
      ${actor_kind === undefined ? sql`` : sql`and actor_kind = ${actor_kind}`}
      ${actor_id === undefined ? sql`` : sql`and actor_id = ${actor_id}`}
      ${action === undefined ? sql`` : filterByAction(sql, action)}
      ${subject_kind === undefined ? sql`` : sql`and subject_kind = ${subject_kind}`}
      ${subject_id === undefined ? sql`` : sql`and subject_id = ${subject_id}`}
      ${from === undefined ? sql`` : sql`and at >= ${from}::timestamptz`}
      ${until === undefined ? sql`` : sql`and at < ${until}::timestamptz`}
      ${batch === undefined ? sql`` : sql`and batch = ${batch}::uuid`}`
}

function filterByAction(sql: Queries, action: string) {
  return action.endsWith('.') ? sql`and starts_with(action, ${action})` : sql`and action = ${action}`
}

/**
 * The name that this community knows, and of those who were removed the one they had when they last did something here.
 * `admins.name` is what another community may have called the person (decision 15).
 */
export function adminName(sql: Queries, communityId: number, adminId: Fragment): Fragment {
  return sql`coalesce(
    (select coalesce(role.name, role.email) from community_admins role
      where role.community_id = ${communityId} and role.admin_id = ${adminId}),
    (select entry.actor_name from audit_log entry
      where entry.community_id = ${communityId} and entry.actor_kind = 'admin' and entry.actor_id = ${adminId}
      order by entry.id desc limit 1))`
}

/** Returns the current names of the subjects. Erased members stay nameless. */
export async function findSubjectNames(
  sql: Queries,
  communityId: number,
  subjects: { kind: string; id: number }[],
): Promise<{ kind: string; id: number; name: string | null }[]> {
  const ids = (kind: string) => subjects.filter((subject) => subject.kind === kind).map(({ id }) => id)
  return sql<{ kind: string; id: number; name: string | null }[]>`
    select 'member' as kind, id, name from members
      where community_id = ${communityId} and id = any (${ids('member')}::int8[])
    union all select 'listing', id, title from listings
      where community_id = ${communityId} and id = any (${ids('listing')}::int8[])
    union all select 'category', id, name from categories
      where community_id = ${communityId} and id = any (${ids('category')}::int8[])
    union all select 'partner', id, name from partners
      where community_id = ${communityId} and id = any (${ids('partner')}::int8[])
    union all select 'client', c.id, c.public_id from clients c
      where c.community_id = ${communityId} and c.id = any (${ids('client')}::int8[])
    union all select 'subscription', s.id, p.name from subscriptions s
      join partners p on p.community_id = ${communityId} and p.id = s.partner_id
      where s.community_id = ${communityId} and s.id = any (${ids('subscription')}::int8[])
    union all select 'admin', a.id, ${adminName(sql, communityId, sql`a.id`)}
      from unnest(${ids('admin')}::int8[]) as a(id)
    union all select 'community', id, name from communities
      where id = ${communityId} and id = any (${ids('community')}::int8[])`
}

/** Maps clients to the names of their partners, because people do not know client ids. */
export async function findPartnersOfClients(
  sql: Queries,
  communityId: number,
  clientIds: number[],
): Promise<{ id: number; partner: string }[]> {
  return sql<{ id: number; partner: string }[]>`
    select c.id, p.name as partner from clients c
    join partners p on p.community_id = ${communityId} and p.id = c.partner_id
    where c.community_id = ${communityId} and c.id = any (${clientIds}::int8[])`
}

export interface TransferSubject {
  id: number
  centihours: number
  giver: { id: number; name: string } | null
  receiver: { id: number; name: string } | null
}

/** Returns what the transfers moved, and between whom. Null for a partner's account or the community's. */
export async function findTransferSubjects(
  sql: Queries,
  communityId: number,
  ids: number[],
): Promise<TransferSubject[]> {
  const memberOf = (account: Fragment) => sql`(
    select jsonb_build_object('id', m.id, 'name', m.name) from accounts a
    join members m on m.community_id = ${communityId} and m.id = a.member_id
    where a.community_id = ${communityId} and a.id = ${account})`
  return sql<TransferSubject[]>`
    select t.id, t.amount as centihours, ${memberOf(sql`t.debit_account_id`)} as giver,
      ${memberOf(sql`t.credit_account_id`)} as receiver
    from transfers t where t.community_id = ${communityId} and t.id = any (${ids}::int8[])`
}
