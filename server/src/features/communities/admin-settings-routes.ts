import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Done, FormText } from '../../http/console/admin-shapes.ts'
import { findDocument } from '../aggregates/queries.ts'
import { NOTHING_CLOSED } from '../aggregates/render-document.ts'
import { CommunityAggregates } from '../aggregates/schema.ts'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { requireFreshProof } from '../../http/console/admin-frame.ts'
import { once, RequestKey } from '../../http/console/request-once.ts'
import { IfMatch, requireVersion, VERSION_ERRORS, versionOf } from '../../http/console/versions.ts'
import type { Deps } from '../../http/deps.ts'
import { toHours } from '../../core/hours.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { requireId } from '../../http/shared/ids.ts'
import { LONG_WORK_MS } from '../../http/shared/time-limit.ts'
import { findSettings, listCategories, type SettingsRow } from './admin-settings-queries.ts'
import { Category, CommunityChange, CommunitySettings, CategoryParams } from './admin-settings-schema.ts'
import { addCategory, changeCategory } from './change-category.ts'
import { changeSettings } from './change-settings.ts'

const TAGS = ['Community']
/** More than any community uses. */
const CATEGORIES_MAX = 1000
const CategoryId = Type.Object({ id: Type.Integer() })

export function communitySettingsRoutes(api: AdminApi, { sql, longSql, reads }: Deps): void {
  api.get('/communities/:slug', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The community and its limits',
      tags: TAGS,
      response: { 200: Type.Object({ data: CommunitySettings }) },
    },
    handler: async ({ community }) => ({ data: presentSettings(await findSettings(sql, community.id)) }),
  })

  api.patch('/communities/:slug', {
    config: { role: 'owner', errors: [...VERSION_ERRORS, 'proof_required'], answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'Change the community',
      description: 'What is omitted stays as it is.',
      tags: TAGS,
      headers: IfMatch,
      body: CommunityChange,
      response: { 200: Type.Object({ data: CommunitySettings }) },
    },
    handler: async (request) => {
      if (request.body.second_factor_required !== undefined) checkRequirement(request, request.body)
      // Members' money goes to this account.
      if (request.body.iban !== undefined || request.body.account_holder !== undefined)
        requireFreshProof(request.session)
      // A new time zone recounts all credits, which takes long.
      const pool = request.body.time_zone === undefined ? sql : longSql
      const changed = await changeSettings(pool, adminActor(request), request.community.id, request.body, (before) =>
        requireVersion(request, settingsVersion(before)),
      )
      return { data: presentSettings(changed) }
    },
  })

  api.get('/communities/:slug/categories', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The categories of listings',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Category) }) },
    },
    handler: async ({ community }) => {
      const rows = await listCategories(sql, community.id, CATEGORIES_MAX)
      return { data: rows.map((row) => ({ ...row, version: categoryVersion(row) })) }
    },
  })

  api.post('/communities/:slug/categories', {
    config: { role: 'manager' },
    schema: {
      summary: 'Add a category',
      tags: TAGS,
      body: Type.Object({ name: FormText, key: RequestKey }),
      response: { 200: Type.Object({ data: CategoryId }), 201: Type.Object({ data: CategoryId }) },
    },
    handler: async (request, reply) => {
      const { key, ...form } = request.body
      const keyed = { adminId: request.session.admin.id, key, input: { category: form } }
      const { made: id, replayed } = await once(sql, request.community.id, keyed, {
        make: (tx) => addCategory(tx, adminActor(request), request.community.id, form),
        idsOf: (made) => [made],
        find: async (_tx, ids) => ids[0]!,
      })
      return reply.code(replayed ? 200 : 201).send({ data: { id } })
    },
  })

  api.patch('/communities/:slug/categories/:id', {
    config: { role: 'manager', errors: VERSION_ERRORS, answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'Rename a category, retire it or offer it again',
      description: 'Its listings follow a new name, and keep one that is retired.',
      tags: TAGS,
      params: CategoryParams,
      headers: IfMatch,
      body: Type.Object({ name: Type.Optional(FormText), retired: Type.Optional(Type.Boolean()) }),
      response: { 200: Done },
    },
    handler: async (request) => {
      const id = requireId(request.params.id, 'category')
      await changeCategory(longSql, adminActor(request), request.community.id, id, request.body, (before) =>
        requireVersion(request, categoryVersion(before)),
      )
      return { data: {} }
    },
  })

  api.get('/communities/:slug/aggregates', {
    config: { role: 'viewer' },
    schema: {
      summary: 'What partners are told of the community as a whole',
      description: 'Byte for byte what the partner API answers.',
      tags: TAGS,
      response: { 200: Type.Object({ data: CommunityAggregates }) },
    },
    handler: async (request, reply) => {
      const { id } = request.community
      const body = (await reads.run(request, sql, (reader) => findDocument(reader, id))) ?? NOTHING_CLOSED
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  })
}

/** Who requires a second factor of others has one. */
function checkRequirement({ session }: FastifyRequest, change: { second_factor_required?: boolean }): void {
  requireFreshProof(session)
  if (change.second_factor_required && !session.has_second_factor) {
    throw new Refusal(because('factor_first'), { field: 'second_factor_required' })
  }
}

function presentSettings(row: SettingsRow): CommunitySettings {
  const { id: _id, lower_limit_centihours, credit_limit_centihours, ...rest } = row
  return {
    ...rest,
    lower_limit_hours: toHours(lower_limit_centihours),
    credit_limit_hours: toHours(credit_limit_centihours),
    version: settingsVersion(row),
  }
}

function settingsVersion(row: SettingsRow): string {
  const { name, time_zone, language, iban, account_holder, second_factor_required } = row
  const limits = [row.lower_limit_centihours, row.credit_limit_centihours]
  return versionOf([name, time_zone, language, ...limits, second_factor_required, iban, account_holder])
}

function categoryVersion({ name, retired_at }: { name: string; retired_at: string | null }): string {
  return versionOf([name, retired_at !== null])
}
