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

/** Returns false if the alert is open already: of two nodes that find a cause, one tells people. */
export async function raiseAlert(sql: Queries, communityId: number, alert: NewAlert): Promise<boolean> {
  const { count } = await sql`
    insert into alerts (community_id, kind, subject_id, detail)
    values (${communityId}, ${alert.kind}, ${alert.subjectId}, ${new Json(alert.detail)})
    on conflict (community_id, kind, subject_id) where ended_at is null do nothing`
  return count === 1
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

/** Whom to tell: those who asked for it, and owners who have not chosen. At the address that the community knows. */
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
