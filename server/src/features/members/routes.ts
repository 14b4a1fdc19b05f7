import { Type } from 'typebox'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { IdParameter, parseId } from '../../http/shared/ids.ts'
import { PageMeta, PageQuery, UpdatedSince, finishList, readListRequest } from '../../http/shared/paging.ts'
import { tagChanges } from '../../http/partner/etag.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { createEmailReadRecorder } from './record-email-reads.ts'
import { createMemberFinder } from './find-member.ts'
import { listMembers } from './queries.ts'
import { Member } from './schema.ts'

export function memberRoutes(api: PartnerApi, { sql, epoch, config }: Deps): void {
  const findMember = createMemberFinder(sql, { withEmail: false })
  const findMemberWithEmail = createMemberFinder(sql, { withEmail: true })
  const recordEmailRead = createEmailReadRecorder(sql)

  api.get('/users', {
    config: { scope: 'users.read' },
    schema: {
      operationId: 'listUsers',
      summary: 'List active members',
      description:
        'Ordered by id, or by time of change with updated_since. With the additional scope users.pii each member includes email. Members who have left or who hide from partners are not listed.',
      tags: ['Members'],
      querystring: Type.Object({
        ...PageQuery,
        updated_since: UpdatedSince,
        payment_reference: Type.Optional(
          Type.String({ format: 'text', maxLength: 50, description: 'Only the member with this reference' }),
        ),
      }),
      response: { 200: Type.Object({ data: Type.Array(Member), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { communityId, scopes } = request.caller
      const { updated_since: since, payment_reference } = request.query
      const list = await readListRequest(sql, await epoch(), 'users', request.query, { communityId, since })
      const withEmail = scopes.includes('users.pii')
      const found = await listMembers(sql, communityId, list, payment_reference, { withEmail })
      const toPosition = ({ id, updated_at }: Member) => ({ id, ...(since !== undefined && { at: updated_at }) })
      const { rows, meta } = finishList(list, found, toPosition, request, reply, config.publicUrl)
      if (withEmail) {
        const ids = rows.map(({ id }) => id)
        await recordEmailRead(request.caller, request.id, ids)
      }
      if (since !== undefined) tagChanges(reply, rows, meta)
      return { data: rows, meta }
    },
  })

  api.get('/users/:id', {
    config: { scope: 'users.read', errors: ['user_not_found'] },
    schema: {
      operationId: 'getUser',
      summary: 'Fetch one member',
      description: 'With the additional scope users.pii the member includes email.',
      tags: ['Members'],
      params: IdParameter,
      response: { 200: Type.Object({ data: Member }) },
    },
    handler: async (request) => {
      const { communityId, scopes } = request.caller
      const id = parseId(request.params.id)
      const withEmail = scopes.includes('users.pii')
      const find = withEmail ? findMemberWithEmail : findMember
      const member = id === undefined ? undefined : await find(communityId, id)
      if (!member) throw new ApiError('user_not_found')
      if (withEmail) await recordEmailRead(request.caller, request.id, [member.id])
      return { data: member }
    },
  })
}
