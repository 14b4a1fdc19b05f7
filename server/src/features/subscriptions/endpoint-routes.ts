import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { once } from '../../http/console/request-once.ts'
import type { Deps } from '../../http/deps.ts'
import { LONG_WORK_MS } from '../../http/shared/time-limit.ts'
import { addEndpoint, reissueEndpoint } from './add-endpoint.ts'
import {
  EndpointStatistics,
  NewEndpoint,
  NewEndpointBody,
  ReplayRequest,
  StatisticsQuery,
  WebhookParams,
} from './admin-schema.ts'
import { checkSubscription } from './check-target.ts'
import { readStatistics } from './endpoint-queries.ts'
import { replayEvents, resendFailed } from './operate-subscription.ts'
import { requireSubscription } from './require-subscription.ts'

const TAGS = ['Webhooks']
const PERIODS = {
  '24h': { step: '1 hour', steps: 24 },
  '7d': { step: '1 day', steps: 7 },
  '30d': { step: '1 day', steps: 30 },
} as const
const SEND_AGAIN = [
  { verb: 'replay', summary: 'Deliver all events since a time again', send: replayEvents },
  {
    verb: 'resend-failed',
    summary: 'Send again what failed since a time',
    description: 'What was given up since then, and what failed and waits for its next attempt.',
    send: resendFailed,
  },
] as const
/** Bounds the work for a busy receiver: its newest deliveries say enough. */
const COUNTED_MAX = 20_000

/** What the office does for a partner's receiver, and how that receiver has done. */
export function endpointRoutes(api: AdminApi, { sql, longSql, box, config }: Deps): void {
  api.post('/communities/:slug/webhooks', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Add a webhook for a partner',
      description:
        'It sends what one of the partner’s clients may read. The secret is in this answer, and never in another: sent ' +
        'again under the same key, the request gets a new one.',
      tags: TAGS,
      body: NewEndpointBody,
      response: { 200: Type.Object({ data: NewEndpoint }), 201: Type.Object({ data: NewEndpoint }) },
    },
    handler: async (request, reply) => {
      const { key, ...input } = request.body
      checkSubscription(input, config.webhookAllowPrivateTargets)
      const [actor, { id: communityId }] = [adminActor(request), request.community]
      const keyed = { adminId: request.session.admin.id, key, input: { endpoint: input } }
      const { made, replayed } = await once(sql, communityId, keyed, {
        make: (tx) => addEndpoint(tx, box, actor, communityId, input),
        idsOf: ({ id }) => [id],
        find: (tx, [id]) => reissueEndpoint(tx, box, communityId, id!),
      })
      return reply.code(replayed ? 200 : 201).send({ data: made })
    },
  })

  for (const { verb, send, ...about } of SEND_AGAIN) {
    api.post(`/communities/:slug/webhooks/:id/${verb}`, {
      config: { role: 'owner', answerWithinMs: LONG_WORK_MS, errors: ['rate_limited'] },
      schema: {
        ...about,
        tags: TAGS,
        params: WebhookParams,
        body: ReplayRequest,
        response: { 202: Type.Object({ data: Type.Object({ deliveries: Type.Integer() }) }) },
      },
      handler: async (request, reply) => {
        const { id } = request.community
        const subscription = await requireSubscription(sql, id, request.params.id)
        const deliveries = await send(longSql, adminActor(request), id, subscription, request.body.since)
        return reply.code(202).send({ data: { deliveries } })
      },
    })
  }

  api.get('/communities/:slug/webhooks/:id/statistics', {
    config: { role: 'viewer', answerWithinMs: LONG_WORK_MS },
    schema: {
      summary: 'How many attempts succeeded and failed, and how long they took',
      tags: TAGS,
      params: WebhookParams,
      querystring: StatisticsQuery,
      response: { 200: Type.Object({ data: EndpointStatistics }) },
    },
    handler: async ({ community, params, query }) => {
      const { id } = await requireSubscription(sql, community.id, params.id)
      const period = PERIODS[query.period ?? '24h']
      const options = { ...period, timeZone: community.time_zone, limit: COUNTED_MAX }
      const points = await readStatistics(longSql, community.id, id, options)
      return { data: { points, complete: (points[0]?.counted ?? 0) < COUNTED_MAX } }
    },
  })
}
