import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { Done, FormText } from '../../http/console/admin-shapes.ts'
import { once, RequestKey } from '../../http/console/request-once.ts'
import { IfMatch, requireVersion, VERSION_ERRORS, versionOf } from '../../http/console/versions.ts'
import type { Deps } from '../../http/deps.ts'
import { requireId } from '../../http/shared/ids.ts'
import { Administrator, Invitation, Link, Role } from './admin-schema.ts'
import { changeRole, makeResetLink, removeAdmin } from './change-admin.ts'
import { inviteAdmin, renewInvitation, withdrawInvitation } from './invite-admin.ts'
import { listInvitations } from './invitation-queries.ts'
import { linkAddress } from './links.ts'
import { mailInvitation } from './mail-links.ts'
import { roleMail } from './mails.ts'
import { listAdmins } from './queries.ts'
import { notifyPerson } from './notify-person.ts'

const TAGS = ['Administrators']
const AdminParams = Type.Object({ slug: Type.String(), id: Type.String() })

const Invited = Type.Object({ data: Type.Object({ id: Type.Integer(), link: Link }) })

export function adminRoutes(api: AdminApi, deps: Deps): void {
  const { sql, config } = deps

  function presentInvited({ id, token, expires_at }: { id: number; token: string; expires_at: string }) {
    return { data: { id, link: { url: linkAddress(config.publicUrl, 'invitation', token), expires_at } } }
  }

  api.get('/communities/:slug/administrators', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Who runs the community',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Administrator) }) },
    },
    handler: async ({ community }) => {
      const rows = await listAdmins(sql, community.id)
      return { data: rows.map((row) => ({ ...row, version: versionOf([row.role]) })) }
    },
  })

  api.post('/communities/:slug/administrators', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Invite an administrator',
      description:
        'Offers a role. Nothing is granted before the person accepts it with the link. Sent again under the same key, ' +
        'the request gets a new link, and no second mail is sent.',
      tags: TAGS,
      body: Type.Object({ email: FormText, name: FormText, role: Role, key: RequestKey }),
      response: { 200: Invited, 201: Invited },
    },
    handler: async (request, reply) => {
      const { key, ...form } = request.body
      const [actor, { id: communityId }] = [adminActor(request), request.community]
      const keyed = { adminId: request.session.admin.id, key, input: { invitation: form } }
      const { made, replayed } = await once(sql, communityId, keyed, {
        make: (tx) => inviteAdmin(tx, actor, communityId, form),
        idsOf: ({ id }) => [id],
        find: (tx, [id]) => renewInvitation(tx, actor, communityId, id!),
      })
      if (!replayed) await mailInvitation(deps, communityId, made.id)
      return reply.code(replayed ? 200 : 201).send(presentInvited(made))
    },
  })

  api.get('/communities/:slug/invitations', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Roles that are offered and not accepted yet',
      tags: TAGS,
      response: { 200: Type.Object({ data: Type.Array(Invitation) }) },
    },
    handler: async ({ community }) => ({ data: await listInvitations(sql, community.id) }),
  })

  api.post('/communities/:slug/invitations/:id/renew', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Replace the link of an invitation',
      tags: TAGS,
      params: AdminParams,
      response: { 201: Invited },
    },
    handler: async (request, reply) => {
      const id = requireId(request.params.id, 'invitation')
      const invited = await renewInvitation(sql, adminActor(request), request.community.id, id)
      await mailInvitation(deps, request.community.id, id)
      return reply.code(201).send(presentInvited(invited))
    },
  })

  api.delete('/communities/:slug/invitations/:id', {
    config: { role: 'owner' },
    schema: { summary: 'Withdraw an invitation', tags: TAGS, params: AdminParams, response: { 200: Done } },
    handler: async (request) => {
      const id = requireId(request.params.id, 'invitation')
      await withdrawInvitation(sql, adminActor(request), request.community.id, id)
      return { data: {} }
    },
  })

  api.patch('/communities/:slug/administrators/:id', {
    config: { role: 'owner', freshProof: true, errors: VERSION_ERRORS },
    schema: {
      summary: 'Give an administrator another role',
      tags: TAGS,
      params: AdminParams,
      headers: IfMatch,
      body: Type.Object({ role: Role }),
      response: { 200: Done },
    },
    handler: async (request) => {
      const { community, params, body } = request
      const id = requireId(params.id, 'administrator')
      const email = await changeRole(sql, adminActor(request), community.id, id, body.role, (before) =>
        requireVersion(request, versionOf([before])),
      )
      notifyPerson(deps, { email, communityId: community.id }, (to) => roleMail(to, community.name, body.role))
      return { data: {} }
    },
  })

  api.delete('/communities/:slug/administrators/:id', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Remove an administrator from the community',
      tags: TAGS,
      params: AdminParams,
      response: { 200: Done },
    },
    handler: async (request) => {
      const { community } = request
      const id = requireId(request.params.id, 'administrator')
      const email = await removeAdmin(sql, adminActor(request), community.id, id)
      notifyPerson(deps, { email, communityId: community.id }, (to) => roleMail(to, community.name, undefined))
      return { data: {} }
    },
  })

  api.post('/communities/:slug/administrators/:id/reset-link', {
    config: { role: 'owner', freshProof: true },
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
