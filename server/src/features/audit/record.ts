import { Json, type Queries } from '../../postgres/connect.ts'

export interface Actor {
  kind: 'admin' | 'client' | 'command' | 'system'
  id?: number
  name: string
  /** Set within an import: its entries stand behind the one that sums it up. */
  batch?: string
}

export interface AuditEntry {
  /** For example `partner.created`. */
  action: string
  subject: { kind: string; id: number }
  /** What changed. Must not contain secrets. */
  detail?: Record<string, string | number | boolean | null | string[]>
}

/** Call it in the transaction of the change, so that no change is committed without its audit entry. */
export async function recordAudit(sql: Queries, communityId: number, actor: Actor, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit_log (community_id, actor_kind, actor_id, actor_name, action, subject_kind, subject_id, detail,
      batch)
    values (${communityId}, ${actor.kind}, ${actor.id ?? null}, ${actor.name}, ${entry.action}, ${entry.subject.kind},
      ${entry.subject.id}, ${new Json(entry.detail ?? {})}, ${actor.batch ?? null})`
}
