import { Type } from 'typebox'
import { Nullable } from '../../http/console/admin-shapes.ts'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { requireFreshProof } from '../../http/console/admin-frame.ts'
import type { Deps } from '../../http/deps.ts'
import { findPartnerApi } from './queries.ts'
import { switchPartnerApi } from './switch-partner-api.ts'

const TAGS = ['Partners']
const TEXT_LENGTH_MAX = 2_000

const State = Type.Object(
  {
    enabled: Type.Boolean(),
    reason: Nullable(Type.String({ description: 'What partners are told while it is off' })),
  },
  { title: 'PartnerApiState' },
)

export function partnerApiRoutes(api: AdminApi, { sql }: Deps): void {
  api.get('/communities/:slug/partner-api', {
    config: { role: 'viewer' },
    schema: {
      summary: 'Whether partners can call at all',
      tags: TAGS,
      response: { 200: Type.Object({ data: State }) },
    },
    handler: async ({ community }) => ({ data: await findPartnerApi(sql, community.id) }),
  })

  api.post('/communities/:slug/partner-api', {
    config: { role: 'owner', errors: ['proof_required'] },
    schema: {
      summary: 'Switch the partner API off or on, for all partners at once',
      description: 'Only switching it on needs a fresh proof.',
      tags: TAGS,
      body: Type.Object({
        enabled: Type.Boolean(),
        reason: Type.Optional(Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'text' })),
      }),
      response: { 200: Type.Object({ data: State }) },
    },
    handler: async (request) => {
      const { enabled, reason = '' } = request.body
      if (enabled) requireFreshProof(request.session)
      const input = enabled ? { enabled } : { enabled, reason }
      await switchPartnerApi(sql, adminActor(request), request.community.id, input)
      return { data: await findPartnerApi(sql, request.community.id) }
    },
  })
}
