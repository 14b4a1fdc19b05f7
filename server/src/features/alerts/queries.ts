import { Json, type Queries } from '../../postgres/connect.ts'
import type { AlertKind } from './kinds.ts'

export interface NewAlert {
  kind: AlertKind
  subjectId: number
  detail: Record<string, string | number>
}

export interface AlertRow {
  id: number
  kind: AlertKind
  subject_id: number
  detail: Record<string, string | number>
  raised_at: string
  ended_at: string | null
}

/** The lock of the process that compares alerts with their causes. It must differ from the service's other ones. */
const CHECK_LOCK = 4_711_005

/** Returns false if another process is checking. The lock ends with the transaction. */
export async function lockCheck(tx: Queries): Promise<boolean> {
  const [lock] = await tx<[{ acquired: boolean }]>`select pg_try_advisory_xact_lock(${CHECK_LOCK}) as acquired`
  return lock.acquired
}

/** Returns undefined if the alert is open already. Its mail is due at once, if there is to be one. */
export async function raiseAlert(
  sql: Queries,
  communityId: number,
  alert: NewAlert,
  { isMailed }: { isMailed: boolean },
): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    insert into alerts (community_id, kind, subject_id, detail, mail_due_at)
    values (${communityId}, ${alert.kind}, ${alert.subjectId}, ${new Json(alert.detail)},
      ${isMailed ? sql`now()` : sql`null`})
    on conflict (community_id, kind, subject_id) where ended_at is null do nothing
    returning id`
  return row?.id
}

/** Only one process can claim an alert's mail. If it dies, the mail is due again after the lease. */
export async function claimAlertMail(
  sql: Queries,
  communityId: number,
  id: number,
  leaseSeconds: number,
): Promise<Pick<AlertRow, 'kind' | 'detail'> | undefined> {
  const [row] = await sql<Pick<AlertRow, 'kind' | 'detail'>[]>`
    update alerts set mail_due_at = now() + make_interval(secs => ${leaseSeconds})
    where community_id = ${communityId} and id = ${id} and mail_due_at <= now()
    returning kind, detail`
  return row
}

export async function finishAlertMail(sql: Queries, communityId: number, id: number): Promise<void> {
  await sql`update alerts set mail_due_at = null where community_id = ${communityId} and id = ${id}`
}

export async function endAlert(
  sql: Queries,
  communityId: number,
  { kind, subjectId }: Pick<NewAlert, 'kind' | 'subjectId'>,
): Promise<void> {
  await sql`
    update alerts set ended_at = now()
    where community_id = ${communityId} and kind = ${kind} and subject_id = ${subjectId} and ended_at is null`
}

/** Lists the newest first. */
export async function listAlerts(
  sql: Queries,
  communityId: number,
  { limit, after }: { limit: number; after: { id: number } | undefined },
): Promise<AlertRow[]> {
  return sql<AlertRow[]>`
    select id, kind, subject_id, detail, raised_at, ended_at from alerts
    where community_id = ${communityId} ${after ? sql`and id < ${after.id}` : sql``}
    order by id desc limit ${limit + 1}`
}

/** Lists open alerts that the person wants to see in the console. */
export async function listOpenAlerts(
  sql: Queries,
  communityId: number,
  adminId: number,
  limit: number,
): Promise<AlertRow[]> {
  return sql<AlertRow[]>`
    select l.id, l.kind, l.subject_id, l.detail, l.raised_at, l.ended_at
    from alerts l join admins a on a.id = ${adminId}
    where l.community_id = ${communityId} and l.ended_at is null
      and (a.alerts_in_console is null or l.kind = any (a.alerts_in_console))
    order by l.id desc limit ${limit}`
}

export interface Recipients {
  slug: string
  community: string
  /** Each with their own language, else the community's. */
  people: { email: string; language: string }[]
}

/**
 * Recipients: people who chose this alert, and owners who have not chosen. Uses the address that the community knows.
 */
export async function findRecipients(sql: Queries, communityId: number, kind: AlertKind): Promise<Recipients> {
  const [row] = await sql<[Recipients]>`
    select c.slug, c.name as community, array(
      select jsonb_build_object('email', coalesce(r.email, a.email), 'language', coalesce(a.language, c.language))
      from community_admins r join admins a on a.id = r.admin_id
      where r.community_id = ${communityId}
        and case when a.alerts_by_mail is null then r.role = 'owner' else ${kind} = any (a.alerts_by_mail) end
      order by coalesce(r.email, a.email)) as people
    from communities c where c.id = ${communityId}`
  return row
}

export interface AlertChoices {
  by_mail: AlertKind[] | null
  in_console: AlertKind[] | null
}

export async function readChoices(sql: Queries, adminId: number): Promise<AlertChoices> {
  const [row] = await sql<[AlertChoices]>`
    select alerts_by_mail as by_mail, alerts_in_console as in_console from admins where id = ${adminId}`
  return row
}

export async function saveChoices(
  sql: Queries,
  adminId: number,
  { by_mail, in_console }: { by_mail: AlertKind[]; in_console: AlertKind[] },
): Promise<void> {
  await sql`
    update admins set alerts_by_mail = ${by_mail}::text[], alerts_in_console = ${in_console}::text[]
    where id = ${adminId}`
}
