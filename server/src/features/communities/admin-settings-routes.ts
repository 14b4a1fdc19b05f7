import { Type } from 'typebox'
import { Done, FormText } from '../../http/console/admin-shapes.ts'
import { findDocument } from '../aggregates/queries.ts'
import { NOTHING_CLOSED } from '../aggregates/render-document.ts'
import { CommunityAggregates } from '../aggregates/schema.ts'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import { toHours } from '../../core/hours.ts'
import { requireId } from '../../http/shared/ids.ts'
import { findSettings, listCategories, type SettingsRow } from './admin-settings-queries.ts'
import { Category, CommunityChange, CommunitySettings, CategoryParams } from './admin-settings-schema.ts'
import { addCategory, changeCategory } from './change-category.ts'
import { changeSettings } from './change-settings.ts'

const TAGS = ['Community']
/** More than any community uses. */
const CATEGORIES_MAX = 1000

export function communitySettingsRoutes(api: AdminApi, { sql, longSql }: Deps): void {
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
    config: { role: 'owner' },
    schema: {
      summary: 'Change the community',
      description: 'What is omitted stays as it is.',
      tags: TAGS,
      body: CommunityChange,
      response: { 200: Type.Object({ data: CommunitySettings }) },
    },
    handler: async (request) => {
      // A new time zone recounts all credits, which takes long.
      const pool = request.body.time_zone === undefined ? sql : longSql
      return {
        data: presentSettings(await changeSettings(pool, adminActor(request), request.community.id, request.body)),
      }
    },
  })

  api.get('/communities/:slug/categories', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The categories of listings',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Category) }) },
    },
    handler: async ({ community }) => ({ data: await listCategories(sql, community.id, CATEGORIES_MAX) }),
  })

  api.post('/communities/:slug/categories', {
    config: { role: 'manager' },
    schema: {
      summary: 'Add a category',
      tags: TAGS,
      body: Type.Object({ name: FormText }),
      response: { 201: Type.Object({ data: Type.Object({ id: Type.Integer() }) }) },
    },
    handler: async (request, reply) => {
      const id = await addCategory(sql, adminActor(request), request.community.id, request.body)
      return reply.code(201).send({ data: { id } })
    },
  })

  api.patch('/communities/:slug/categories/:id', {
    config: { role: 'manager' },
    schema: {
      summary: 'Rename a category, retire it or offer it again',
      description: 'Its listings follow a new name, and keep one that is retired.',
      tags: TAGS,
      params: CategoryParams,
      body: Type.Object({ name: Type.Optional(FormText), retired: Type.Optional(Type.Boolean()) }),
      response: { 200: Done },
    },
    handler: async (request) => {
      const id = requireId(request.params.id, 'category')
      await changeCategory(longSql, adminActor(request), request.community.id, id, request.body)
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
    handler: async ({ community }, reply) => {
      const body = (await findDocument(sql, community.id)) ?? NOTHING_CLOSED
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  })
}

function presentSettings({
  id: _id,
  lower_limit_centihours,
  credit_limit_centihours,
  ...rest
}: SettingsRow): CommunitySettings {
  return {
    ...rest,
    lower_limit_hours: toHours(lower_limit_centihours),
    credit_limit_hours: toHours(credit_limit_centihours),
  }
}
