import { Type } from 'typebox'
import { sendCsv } from '../spreadsheets/send-csv.ts'
import { toHours } from '../../core/hours.ts'
import type { Queries } from '../../postgres/connect.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import { finishList, PageMeta, readListRequest } from '../../http/shared/paging.ts'
import {
  findPartnersOfClients,
  findSubjectNames,
  findTransferSubjects,
  listAudit,
  listGroupedAudit,
  type AuditRow,
} from './admin-queries.ts'
import { AuditExportQuery, AuditQuery, AuditRecord } from './admin-schema.ts'
import { auditExport } from './export-audit.ts'

const TAGS = ['Audit']

export function auditRoutes(api: AdminApi, deps: Deps): void {
  const { sql, reads, epoch, config } = deps
  api.get('/communities/:slug/audit', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Who did what, and when; the newest first',
      tags: TAGS,
      querystring: AuditQuery,
      response: { 200: Type.Object({ data: Type.Array(AuditRecord), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const list = await readListRequest(sql, await epoch(), 'audit', request.query)
      const { grouped = false, ...filters } = request.query
      const found = await reads.run(request, sql, (reader) =>
        (grouped ? listGroupedAudit : listAudit)(reader, request.community.id, list, filters),
      )
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return { data: await addNames(sql, request.community.id, rows), meta }
    },
  })

  api.get('/communities/:slug/audit/export', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Download the audit log as CSV',
      description: 'What the filters leave, from the first entry on.',
      tags: TAGS,
      produces: ['text/csv'],
      querystring: AuditExportQuery,
    },
    handler: async (request, reply) => {
      const rows = auditExport(request.community.id, request.query)
      return sendCsv(request, reply, deps, { what: 'audit', rows })
    },
  })
}

/** Adds names and hours with three statements per page. */
async function addNames(sql: Queries, communityId: number, rows: AuditRow[]) {
  const subjects = rows.flatMap(({ subject_kind: kind, subject_id: id }) => (id === null ? [] : [{ kind, id }]))
  const clientIds = rows.flatMap(({ actor_kind, actor_id }) => (actor_kind === 'client' && actor_id ? [actor_id] : []))
  const idsOf = (wanted: string) => subjects.filter(({ kind }) => kind === wanted).map(({ id }) => id)
  const [named, partners, transfers] = await Promise.all([
    findSubjectNames(sql, communityId, subjects),
    findPartnersOfClients(sql, communityId, [...clientIds, ...idsOf('client')]),
    findTransferSubjects(sql, communityId, idsOf('transfer')),
  ])
  const nameOf = new Map(named.map(({ kind, id, name }) => [`${kind} ${id}`, name]))
  const transferOf = new Map(transfers.map(({ id, centihours, ...of }) => [id, { ...of, hours: toHours(centihours) }]))
  const partnerOf = new Map(partners.map(({ id, partner }) => [id, partner]))
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    actor: {
      kind: row.actor_kind,
      id: row.actor_id,
      name: row.actor_name,
      partner: (row.actor_kind === 'client' && row.actor_id && partnerOf.get(row.actor_id)) || null,
    },
    action: row.action,
    subject: {
      kind: row.subject_kind,
      id: row.subject_id,
      name: nameOf.get(`${row.subject_kind} ${row.subject_id}`) ?? null,
      partner: (row.subject_kind === 'client' && row.subject_id && partnerOf.get(row.subject_id)) || null,
    },
    transfer: (row.subject_kind === 'transfer' && row.subject_id && transferOf.get(row.subject_id)) || null,
    detail: row.detail,
    member_ids: row.member_ids,
  }))
}
