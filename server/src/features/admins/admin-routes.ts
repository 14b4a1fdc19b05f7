import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { Done, FormText, Nullable } from '../../http/console/admin-shapes.ts'
import type { Deps } from '../../http/deps.ts'
import { requireId } from '../../http/shared/ids.ts'
import { Administrator, Link, Role } from './admin-schema.ts'
import { changeRole, inviteAdmin, makeResetLink, removeAdmin } from './change-admin.ts'
import { linkAddress } from './links.ts'
import { listAdmins } from './queries.ts'

const TAGS = ['Administrators']
const AdminParams = Type.Object({ slug: Type.String(), id: Type.String() })

export function adminRoutes(api: AdminApi, { sql, config }: Deps): void {
  api.get('/communities/:slug/administrators', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Who runs the community',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Administrator) }) },
    },
    handler: async ({ community }) => ({ data: await listAdmins(sql, community.id) }),
  })

  api.post('/communities/:slug/administrators', {
    config: { role: 'owner' },
    schema: {
      summary: 'Invite an administrator',
      description: 'The answer holds a link that works once, unless the person has a password already.',
      tags: TAGS,
      body: Type.Object({ email: FormText, name: FormText, role: Role }),
      response: { 201: Type.Object({ data: Type.Object({ id: Type.Integer(), link: Nullable(Link) }) }) },
    },
    handler: async (request, reply) => {
      const { adminId, link } = await inviteAdmin(sql, adminActor(request), request.community.id, request.body)
      const shown = link && {
        url: linkAddress(config.publicUrl, 'invitation', link.token),
        expires_at: link.expires_at,
      }
      return reply.code(201).send({ data: { id: adminId, link: shown ?? null } })
    },
  })

  api.patch('/communities/:slug/administrators/:id', {
    config: { role: 'owner' },
    schema: {
      summary: 'Give an administrator another role',
      tags: TAGS,
      params: AdminParams,
      body: Type.Object({ role: Role }),
      response: { 200: Done },
    },
    handler: async (request) => {
      await changeRole(
        sql,
        adminActor(request),
        request.community.id,
        requireId(request.params.id, 'administrator'),
        request.body.role,
      )
      return { data: {} }
    },
  })

  api.delete('/communities/:slug/administrators/:id', {
    config: { role: 'owner' },
    schema: {
      summary: 'Remove an administrator from the community',
      tags: TAGS,
      params: AdminParams,
      response: { 200: Done },
    },
    handler: async (request) => {
      await removeAdmin(sql, adminActor(request), request.community.id, requireId(request.params.id, 'administrator'))
      return { data: {} }
    },
  })

  api.post('/communities/:slug/administrators/:id/reset-link', {
    config: { role: 'owner' },
    schema: {
      summary: 'Make a link by which an administrator chooses a new password',
      tags: TAGS,
      params: AdminParams,
      response: { 201: Type.Object({ data: Link }) },
    },
    handler: async (request, reply) => {
      const actor = { ...adminActor(request), id: request.session.admin.id }
      const link = await makeResetLink(sql, actor, request.community.id, requireId(request.params.id, 'administrator'))
      const url = linkAddress(config.publicUrl, 'reset', link.token)
      return reply.code(201).send({ data: { url, expires_at: link.expires_at } })
    },
  })
}
