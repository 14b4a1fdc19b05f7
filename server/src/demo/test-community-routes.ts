import { Type } from 'typebox'
import { Done } from '../http/console/admin-shapes.ts'
import { adminActor } from '../features/audit/admin-actor.ts'
import { makeOwnTestCommunity } from './make-own-test-community.ts'
import type { AdminApi } from '../http/console/admin-api.ts'
import { RequestKey } from '../http/console/request-once.ts'
import type { Deps } from '../http/deps.ts'
import { API_PREFIX } from '../http/partner/frame.ts'
import { LONG_WORK_MS } from '../http/shared/time-limit.ts'
import { removeTestCommunity } from '../features/communities/remove-test-community.ts'

const TAGS = ['Test communities']
const TEXT_LENGTH_MAX = 500

const TestCommunity = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    client_id: Type.String(),
    client_secret: Type.String({ description: 'Shown only in this answer' }),
    token_url: Type.String(),
  },
  { title: 'TestCommunity' },
)

export function testCommunityRoutes(api: AdminApi, { longSql, config }: Deps): void {
  api.post('/communities/:slug/test-communities', {
    config: { role: 'owner', freshProof: true, answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'Make a community with invented people, for a partner to try on',
      description:
        'It belongs to the caller. The secret is in this answer, and never in another: sent again under the same key, ' +
        'the request gets a new one.',
      tags: TAGS,
      body: Type.Object({ name: Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'text' }), key: RequestKey }),
      response: { 200: Type.Object({ data: TestCommunity }), 201: Type.Object({ data: TestCommunity }) },
    },
    handler: async (request, reply) => {
      const { community, session, body } = request
      const input = { name: body.name, key: body.key }
      const actor = adminActor(request)
      const { made, replayed } = await makeOwnTestCommunity(longSql, actor, session.admin, community, input)
      const { slug, name } = made.community
      const { clientId: client_id, clientSecret: client_secret } = made
      const token_url = `${config.publicUrl}${API_PREFIX}/oauth/token`
      return reply.code(replayed ? 200 : 201).send({ data: { slug, name, client_id, client_secret, token_url } })
    },
  })

  api.delete('/communities/:slug', {
    config: { role: 'owner', answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'Remove a test community with all that is in it',
      description: 'For good. Only test communities can be removed.',
      tags: TAGS,
      querystring: Type.Object({
        confirm: Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'The slug once more' }),
      }),
      response: { 200: Done },
    },
    handler: async (request) => {
      await removeTestCommunity(longSql, adminActor(request), request.community.id, request.query.confirm)
      return { data: {} }
    },
  })
}
