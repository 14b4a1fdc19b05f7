import type { Queries } from '../../postgres/connect.ts'
import type { Actor, AuditEntry } from './record.ts'

/** Like recordAudit, for many entries in one statement. */
export async function recordAudits(
  sql: Queries,
  communityId: number,
  actor: Actor,
  entries: AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await sql`
    insert into audit_log (community_id, actor_kind, actor_id, actor_name, action, subject_kind, subject_id, detail,
      batch)
    select ${communityId}, ${actor.kind}, ${actor.id ?? null}::int8, ${actor.name}, i.action, i.subject_kind, i.subject_id,
      i.detail::jsonb, ${actor.batch ?? null}::uuid
    from unnest(${entries.map((entry) => entry.action)}::text[], ${entries.map((entry) => entry.subject.kind)}::text[],
      ${entries.map((entry) => entry.subject.id)}::int8[], ${entries.map((entry) => JSON.stringify(entry.detail ?? {}))}::text[]
    ) with ordinality as i(action, subject_kind, subject_id, detail, n)
    order by i.n`
}
