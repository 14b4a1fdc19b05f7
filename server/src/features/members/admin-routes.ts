import { Type } from 'typebox'
import { Done } from '../../http/console/admin-shapes.ts'
import { adminActor } from '../audit/admin-actor.ts'
import type { Actor } from '../audit/record.ts'
import type { Queries, Sql, Transaction } from '../../postgres/connect.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { once } from '../../http/console/request-once.ts'
import { IfMatch, requireVersion, VERSION_ERRORS } from '../../http/console/versions.ts'
import { describeTotal, OfficePageMeta, OfficePageQuery } from '../../http/console/office-lists.ts'
import type { Deps } from '../../http/deps.ts'
import { toHours } from '../../core/hours.ts'
import { requireId } from '../../http/shared/ids.ts'
import { finishList, PageMeta, PageQuery, readListRequest, readSortedListRequest } from '../../http/shared/paging.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { chainWallet, findHeadOfWallet } from '../ledger/chain-wallet.ts'
import { findOfficeMember, listEmailReads } from './admin-queries.ts'
import {
  EmailRead,
  LeaveForm,
  ListedMember,
  MemberFilters,
  MemberForm,
  NewMemberForm,
  OfficeMember,
  MemberParams,
  MemberSorts,
  ServiceStatement,
  StatementMeta,
  StatementPeriod,
  StatementRow,
  TagsForm,
} from './admin-schema.ts'
import { addMember, changeMember, hideMember, returnMember, showMember } from './change-member.ts'
import { changeTags } from './change-tags.ts'
import { eraseMember } from './erase-member.ts'
import { FIELD_NAMES, type FieldName, type MemberFields } from './fields.ts'
import { leaveWithBalance } from './leave-with-balance.ts'
import { listOfficeMembers, memberKeyCheck, memberSort } from './member-list-queries.ts'
import {
  memberVersion,
  presentListedMember,
  presentOfficeMember,
  presentStatementRow,
} from './present-office-member.ts'
import { readServiceStatement } from './service-statement-queries.ts'
import { findPeriodBalances, listStatement } from './statement-queries.ts'
import { KNOWN_TAGS_MAX, listTags } from './tag-queries.ts'

const TAGS = ['Members']
const LIST = '/communities/:slug/members'
const ONE = `${LIST}/:id`
/** More is no statement that anyone prints. */
const STATEMENT_ROWS_MAX = 5_000

/** Member management for administrators. Import and export are in spreadsheets/admin-routes.ts. */
export function memberAdminRoutes(api: AdminApi, deps: Deps): void {
  registerRecordRoutes(api, deps)
  registerStateRoutes(api, deps)
  registerTagRoutes(api, deps)
  registerStatementRoute(api, deps)
  registerServiceStatementRoute(api, deps)
  registerEmailReadsRoute(api, deps)
}

function registerRecordRoutes(api: AdminApi, { sql, reads, epoch, config }: Deps): void {
  api.get(LIST, {
    config: { role: 'viewer' },
    schema: {
      summary: 'Members, the newest first or in another order',
      tags: TAGS,
      querystring: Type.Object({ ...OfficePageQuery, ...MemberFilters, sort: MemberSorts }),
      response: { 200: Type.Object({ data: Type.Array(ListedMember), meta: OfficePageMeta }) },
    },
    handler: async (request, reply) => {
      const { limit: _limit, cursor: _cursor, sort: asked, with_total: withTotal = false, ...rest } = request.query
      const filters = readFilters(rest)
      const sort = asked ?? memberSort(filters)
      const list = readSortedListRequest(await epoch(), 'office members', request.query, sort && memberKeyCheck(sort))
      const order = { sort, withTotal }
      const found = await reads.run(request, sql, (reader) =>
        listOfficeMembers(reader, request.community.id, list, filters, order),
      )
      const positionOf = ({ id }: { id: number }) => ({ id, ...(sort && { key: found.keys.get(id)! }) })
      const { rows, meta } = finishList(list, found.rows, positionOf, request, reply, config.publicUrl)
      return { data: rows.map(presentListedMember), meta: { ...meta, ...(withTotal && describeTotal(found.total)) } }
    },
  })

  api.post(LIST, {
    config: { role: 'manager' },
    schema: {
      summary: 'Add a member',
      description:
        'A name that a member has already is refused with the code duplicate, until confirm_duplicate says that somebody has looked.',
      tags: TAGS,
      body: NewMemberForm,
      response: { 200: Type.Object({ data: OfficeMember }), 201: Type.Object({ data: OfficeMember }) },
    },
    handler: async (request, reply) => {
      const { key, confirm_duplicate, ...form } = request.body
      const { name, ...rest } = readForm(form)
      const { id: communityId } = request.community
      const keyed = { adminId: request.session.admin.id, key, input: { member: form } }
      const refuseDuplicate = confirm_duplicate !== true
      const { made, replayed } = await once(sql, communityId, keyed, {
        make: async (tx) => {
          const input = { name: name!, ...rest }
          const { id } = await addMember(tx, adminActor(request), communityId, input, { refuseDuplicate })
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
      description: 'Blanks the person everywhere and keeps the transfers. It cannot be undone.',
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

function registerTagRoutes(api: AdminApi, { sql }: Deps): void {
  api.get('/communities/:slug/tags', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The tags that members have',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Type.String()) }) },
    },
    handler: async ({ community }) => ({ data: await listTags(sql, community.id, KNOWN_TAGS_MAX) }),
  })

  api.post('/communities/:slug/tags', {
    config: { role: 'manager' },
    schema: {
      summary: 'Tag members, or take tags away',
      description: 'Repeating it changes nothing.',
      tags: TAGS,
      body: TagsForm,
      response: { 200: Done },
    },
    handler: async (request) => {
      const { member_ids: memberIds, add = [], remove = [] } = request.body
      await changeTags(sql, adminActor(request), request.community.id, { memberIds, add, remove })
      return { data: {} }
    },
  })
}

type Change = (sql: Sql, actor: Actor, communityId: number, id: number) => Promise<unknown>

function registerStatementRoute(api: AdminApi, { sql, epoch, config }: Deps): void {
  api.get(`${ONE}/statement`, {
    config: { role: 'viewer' },
    schema: {
      summary: 'What moved in and out of a wallet, the last recorded first, with the balance after each',
      tags: TAGS,
      params: MemberParams,
      querystring: Type.Object({ ...PageQuery, ...StatementPeriod }),
      response: { 200: Type.Object({ data: Type.Array(StatementRow), meta: StatementMeta }) },
    },
    handler: async (request, reply) => {
      const { community, query } = request
      const member = await requireOfficeMember(sql, community.id, requireId(request.params.id, 'member'))
      const period = readPeriod(query)
      const list = await readListRequest(sql, await epoch(), `statement ${member.id}`, query)
      const { found, opening, closing, head } = await atOneMoment(sql, async (tx) => ({
        found: await listStatement(tx, community.id, member.id, list, period),
        ...(await findPeriodBalances(tx, community.id, member.id, period)),
        head: await findHeadOfWallet(tx, community.id, member.id),
      }))
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return {
        data: rows.map((row) => presentStatementRow(row, community.name)),
        meta: {
          ...meta,
          opening_balance_hours: toHours(opening),
          closing_balance_hours: toHours(closing),
          ledger_head: head ?? null,
        },
      }
    },
  })
}

function registerServiceStatementRoute(api: AdminApi, { sql }: Deps): void {
  api.get(`${ONE}/statement/by-service`, {
    config: { role: 'viewer' },
    schema: {
      summary: 'A statement for printing, by the day of each service',
      description: `At most ${STATEMENT_ROWS_MAX} lines, from the first day on.`,
      tags: TAGS,
      params: MemberParams,
      querystring: Type.Object(StatementPeriod),
      response: { 200: Type.Object({ data: ServiceStatement }) },
    },
    handler: async ({ community, params, query }) => {
      const member = await requireOfficeMember(sql, community.id, requireId(params.id, 'member'))
      const period = { timeZone: community.time_zone, limit: STATEMENT_ROWS_MAX + 1, ...readPeriod(query) }
      await chainWallet(sql, community.id, member.id)
      const { opening, rows, head } = await atOneMoment(sql, async (tx) => ({
        ...(await readServiceStatement(tx, community.id, member.id, period)),
        head: await findHeadOfWallet(tx, community.id, member.id),
      }))
      const shown = rows.slice(0, STATEMENT_ROWS_MAX)
      return {
        data: {
          opening_balance_hours: toHours(opening),
          closing_balance_hours: toHours(shown.at(-1)?.balance_after ?? opening),
          complete: shown.length === rows.length,
          ledger_head: head ?? null,
          rows: shown.map((row) => ({ ...presentStatementRow(row, community.name), recorded_on: row.recorded_on })),
        },
      }
    },
  })
}

/** Lines, balances and the end of the chain belong together. */
function atOneMoment<T>(sql: Sql, read: (tx: Transaction) => Promise<T>): Promise<T> {
  return sql.begin('isolation level repeatable read read only', read)
}

function readPeriod({ from, until }: { from?: string; until?: string }): { from?: string; until?: string } {
  if (from && until && until < from) throw new Refusal(because('days_reversed'), { field: 'until' })
  return { ...(from && { from }), ...(until && { until }) }
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
  if (!member) throw new NotFound(because('no_such_member'))
  return presentOfficeMember(member)
}

/** An empty text clears the value, except that a name is required and rejected later. */
function readForm(form: MemberForm): Partial<MemberFields> {
  const given = FIELD_NAMES.filter((field) => form[field] !== undefined)
  const read = (field: FieldName) => form[field]?.replaceAll('\r\n', '\n').trim() || (field === 'name' ? '' : null)
  return Object.fromEntries(given.map((field) => [field, read(field)]))
}

const SPACED_REFERENCE = /^\s*rf\d\d[\d\s]+$/i

/** Removes the spaces from a payment reference, because banks print references in groups of four. */
function readFilters<Filters extends { q?: string }>(filters: Filters): Filters {
  const { q } = filters
  if (!q?.trim()) return { ...filters, q: undefined }
  return SPACED_REFERENCE.test(q) ? { ...filters, q: q.replaceAll(/\s/g, '') } : filters
}
