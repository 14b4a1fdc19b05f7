import { Type } from 'typebox'
import { Done } from '../../http/console/admin-shapes.ts'
import { adminActor } from '../audit/admin-actor.ts'
import type { Actor } from '../audit/record.ts'
import type { Queries, Sql } from '../../postgres/connect.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { once } from '../../http/console/request-once.ts'
import { IfMatch, requireVersion, VERSION_ERRORS } from '../../http/console/versions.ts'
import type { Deps } from '../../http/deps.ts'
import { toHours } from '../../core/hours.ts'
import { requireId } from '../../http/shared/ids.ts'
import { finishList, PageMeta, PageQuery, readListRequest } from '../../http/shared/paging.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { findOfficeMember, listEmailReads, listOfficeMembers } from './admin-queries.ts'
import {
  EmailRead,
  LeaveForm,
  MemberFilters,
  MemberForm,
  NewMemberForm,
  OfficeMember,
  MemberParams,
  StatementMeta,
  StatementPeriod,
  StatementRow,
} from './admin-schema.ts'
import { addMember, changeMember, hideMember, returnMember, showMember } from './change-member.ts'
import { eraseMember } from './erase-member.ts'
import { FIELD_NAMES, type MemberFields } from './fields.ts'
import { leaveWithBalance } from './leave-with-balance.ts'
import { memberVersion, presentOfficeMember, presentStatementRow } from './present-office-member.ts'
import { findPeriodBalances, listStatement } from './statement-queries.ts'

const TAGS = ['Members']
const LIST = '/communities/:slug/members'
const ONE = `${LIST}/:id`

/** Member management for administrators. Import and export are in spreadsheets/admin-routes.ts. */
export function memberAdminRoutes(api: AdminApi, deps: Deps): void {
  registerRecordRoutes(api, deps)
  registerStateRoutes(api, deps)
  registerStatementRoute(api, deps)
  registerEmailReadsRoute(api, deps)
}

function registerRecordRoutes(api: AdminApi, { sql, epoch, config }: Deps): void {
  api.get(LIST, {
    config: { role: 'viewer' },
    schema: {
      summary: 'Members, the newest first',
      tags: TAGS,
      querystring: Type.Object({ ...PageQuery, ...MemberFilters }),
      response: { 200: Type.Object({ data: Type.Array(OfficeMember), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { limit: _limit, cursor: _cursor, ...filters } = request.query
      const list = await readListRequest(sql, await epoch(), 'office members', request.query)
      const found = await listOfficeMembers(sql, request.community.id, list, readFilters(filters))
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return { data: rows.map(presentOfficeMember), meta }
    },
  })

  api.post(LIST, {
    config: { role: 'manager' },
    schema: {
      summary: 'Add a member',
      tags: TAGS,
      body: NewMemberForm,
      response: { 200: Type.Object({ data: OfficeMember }), 201: Type.Object({ data: OfficeMember }) },
    },
    handler: async (request, reply) => {
      const { key, ...form } = request.body
      const { name, ...rest } = readForm(form)
      const { id: communityId } = request.community
      const keyed = { adminId: request.session.admin.id, key, input: { member: form } }
      const { made, replayed } = await once(sql, communityId, keyed, {
        make: async (tx) => {
          const { id } = await addMember(tx, adminActor(request), communityId, { name: name!, ...rest })
          return requireOfficeMember(tx, communityId, id)
        },
        idsOf: ({ id }) => [id],
        find: (tx, [id]) => requireOfficeMember(tx, communityId, id!),
      })
      return reply.code(replayed ? 200 : 201).send({ data: made })
    },
  })

  api.get(ONE, {
    config: { role: 'viewer' },
    schema: {
      summary: 'One member',
      tags: TAGS,
      params: MemberParams,
      response: { 200: Type.Object({ data: OfficeMember }) },
    },
    handler: async ({ community, params }) => ({
      data: await requireOfficeMember(sql, community.id, requireId(params.id, 'member')),
    }),
  })

  api.patch(ONE, {
    config: { role: 'manager', errors: VERSION_ERRORS },
    schema: {
      summary: 'Change the record of a member',
      tags: TAGS,
      params: MemberParams,
      headers: IfMatch,
      body: MemberForm,
      response: { 200: Type.Object({ data: OfficeMember }) },
    },
    handler: async (request) => {
      const id = requireId(request.params.id, 'member')
      await changeMember(sql, adminActor(request), request.community.id, id, readForm(request.body), (before) =>
        requireVersion(request, memberVersion(before)),
      )
      return { data: await requireOfficeMember(sql, request.community.id, id) }
    },
  })
}

function registerStateRoutes(api: AdminApi, { sql }: Deps): void {
  const changes: [name: string, summary: string, change: Change][] = [
    ['hide', 'Hide a member from partners', hideMember],
    ['show', 'Show a member to partners again', showMember],
    ['return', 'A member who left comes back', returnMember],
  ]
  for (const [name, summary, change] of changes) {
    api.post(`${ONE}/${name}`, {
      config: { role: 'manager' },
      schema: { summary, tags: TAGS, params: MemberParams, response: { 200: Type.Object({ data: OfficeMember }) } },
      handler: async (request) => {
        const id = requireId(request.params.id, 'member')
        await change(sql, adminActor(request), request.community.id, id)
        return { data: await requireOfficeMember(sql, request.community.id, id) }
      },
    })
  }

  api.post(`${ONE}/leave`, {
    config: { role: 'manager' },
    schema: {
      summary: 'A member leaves',
      description: 'Their listings close with them, and partners are told to forget them.',
      tags: TAGS,
      params: MemberParams,
      body: LeaveForm,
      response: { 200: Type.Object({ data: OfficeMember }) },
    },
    handler: async (request) => {
      const id = requireId(request.params.id, 'member')
      const { balance, reason = '' } = request.body
      await leaveWithBalance(sql, adminActor(request), request.community.id, id, { balance, reason })
      return { data: await requireOfficeMember(sql, request.community.id, id) }
    },
  })

  api.post(`${ONE}/erase`, {
    config: { role: 'manager', freshProof: true },
    schema: {
      summary: 'Erase a member for good',
      description: 'Blanks the person everywhere and keeps the transfers. Nobody can take it back.',
      tags: TAGS,
      params: MemberParams,
      response: { 200: Done },
    },
    handler: async (request) => {
      await eraseMember(sql, adminActor(request), request.community.id, requireId(request.params.id, 'member'))
      return { data: {} }
    },
  })
}

type Change = (sql: Sql, actor: Actor, communityId: number, id: number) => Promise<unknown>

function registerStatementRoute(api: AdminApi, { sql, epoch, config }: Deps): void {
  api.get(`${ONE}/statement`, {
    config: { role: 'viewer' },
    schema: {
      summary: 'What moved in and out of a wallet, the newest first, with the balance after each',
      tags: TAGS,
      params: MemberParams,
      querystring: Type.Object({ ...PageQuery, ...StatementPeriod }),
      response: { 200: Type.Object({ data: Type.Array(StatementRow), meta: StatementMeta }) },
    },
    handler: async (request, reply) => {
      const { community, query } = request
      const member = await requireOfficeMember(sql, community.id, requireId(request.params.id, 'member'))
      const { from, until } = query
      if (from && until && until < from) throw new Refusal('The last day is before the first.', { field: 'until' })
      const period = { timeZone: community.time_zone, ...(from && { from }), ...(until && { until }) }
      const list = await readListRequest(sql, await epoch(), `statement ${member.id}`, query)
      const [found, { opening, closing }] = await Promise.all([
        listStatement(sql, community.id, member.id, list, period),
        findPeriodBalances(sql, community.id, member.id, period),
      ])
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return {
        data: rows.map((row) => presentStatementRow(row, community.name)),
        meta: { ...meta, opening_balance_hours: toHours(opening), closing_balance_hours: toHours(closing) },
      }
    },
  })
}

function registerEmailReadsRoute(api: AdminApi, { sql, epoch, config }: Deps): void {
  api.get(`${ONE}/email-reads`, {
    config: { role: 'viewer' },
    schema: {
      summary: 'Which calls of partners read the email address of a member, the newest first',
      tags: TAGS,
      params: MemberParams,
      querystring: Type.Object(PageQuery),
      response: { 200: Type.Object({ data: Type.Array(EmailRead), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { id } = await requireOfficeMember(sql, request.community.id, requireId(request.params.id, 'member'))
      const list = await readListRequest(sql, await epoch(), `email reads ${id}`, request.query)
      const found = await listEmailReads(sql, request.community.id, id, list)
      const { rows, meta } = finishList(list, found, (row) => ({ id: row.id }), request, reply, config.publicUrl)
      return { data: rows.map(({ id: _id, ...read }) => read), meta }
    },
  })
}

async function requireOfficeMember(sql: Queries, communityId: number, id: number): Promise<OfficeMember> {
  const member = await findOfficeMember(sql, communityId, id)
  if (!member) throw new NotFound('There is no such member.')
  return presentOfficeMember(member)
}

/** An empty text clears the value, except that a name is required and rejected later. */
function readForm(form: MemberForm): Partial<MemberFields> {
  const given = FIELD_NAMES.filter((field) => form[field] !== undefined)
  return Object.fromEntries(given.map((field) => [field, form[field]?.trim() || (field === 'name' ? '' : null)]))
}

const SPACED_REFERENCE = /^\s*rf\d\d[\d\s]+$/i

/** Removes the spaces from a payment reference, because banks print references in groups of four. */
function readFilters<Filters extends { q?: string }>(filters: Filters): Filters {
  const { q } = filters
  if (!q?.trim()) return { ...filters, q: undefined }
  return SPACED_REFERENCE.test(q) ? { ...filters, q: q.replaceAll(/\s/g, '') } : filters
}
