export interface AuditEntry {
  id: number
  at: string
  actor: { kind: 'admin' | 'client' | 'command' | 'system'; id: number | null; name: string; partner: string | null }
  action: string
  subject: { kind: string; id: number | null; name: string | null }
  detail: Record<string, unknown>
  member_ids: number[] | null
}
