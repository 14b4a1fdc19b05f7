import { fromJsonTime } from '../../core/times.ts'
import { Type } from 'typebox'
import { adminActor } from '../audit/admin-actor.ts'
import { renderEvent } from '../events/render.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import { presentCount } from '../../http/console/admin-shapes.ts'
import type { Deps } from '../../http/deps.ts'
import { parseId } from '../../http/shared/ids.ts'
import { finishList, PageMeta, readListRequest } from '../../http/shared/paging.ts'
import { commonScopes } from '../../core/scopes.ts'
import { because } from '../../core/reasons.ts'
import { NotFound } from '../../core/refusal.ts'
import {
  COUNT_MAX,
  findDeliveryDetail,
  listAllSubscriptions,
  listAttempts,
  listDeliveriesOf,
  type DeliveryDetailRow,
  type DeliveryRow,
  type SubscriptionRow,
} from './admin-queries.ts'
import {
  DeliveryDetail,
  DeliveryQuery,
  ListedDelivery,
  WebhookParams,
  SubscriptionQuery,
  SubscriptionOverview,
} from './admin-schema.ts'
import { setSubscriptionStatus } from './change-subscription.ts'
import { resendDelivery, sendTestEvent } from './operate-subscription.ts'
import { requireSubscription } from './require-subscription.ts'
import type { Attempt } from './schema.ts'

const TAGS = ['Webhooks']
/** Each resend makes up to ten attempts, each with an answer of up to 16 KiB. After many, only the last are shown. */
const ATTEMPTS_MAX = 50

export function webhookAdminRoutes(api: AdminApi, { sql, reads, epoch, config }: Deps): void {
  api.get('/communities/:slug/webhooks', {
    config: { role: 'viewer' },
    schema: {
      summary: 'The webhook subscriptions of all partners, with their health',
      tags: TAGS,
      querystring: SubscriptionQuery,
      response: { 200: Type.Object({ data: Type.Array(SubscriptionOverview), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const list = await readListRequest(sql, await epoch(), 'admin subscriptions', request.query)
      const found = await reads.run(request, sql, (reader) =>
        listAllSubscriptions(reader, request.community.id, list, request.query),
      )
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return { data: rows.map(presentSubscription), meta }
    },
  })

  api.get('/communities/:slug/webhooks/:id', {
    config: { role: 'viewer' },
    schema: {
      summary: 'One subscription',
      tags: TAGS,
      params: WebhookParams,
      response: { 200: Type.Object({ data: SubscriptionOverview }) },
    },
    handler: async ({ community, params }) => ({
      data: presentSubscription(await requireSubscription(sql, community.id, params.id)),
    }),
  })

  api.get('/communities/:slug/webhooks/:id/deliveries', {
    config: { role: 'viewer' },
    schema: {
      summary: 'What was sent to a subscription, or is to be; the newest first',
      tags: TAGS,
      params: WebhookParams,
      querystring: DeliveryQuery,
      response: { 200: Type.Object({ data: Type.Array(ListedDelivery), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { id } = await requireSubscription(sql, request.community.id, request.params.id)
      const list = await readListRequest(sql, await epoch(), `admin deliveries of ${id} by event`, request.query)
      const found = await reads.run(request, sql, (reader) =>
        listDeliveriesOf(reader, request.community.id, id, list, request.query),
      )
      const { rows, meta } = finishList(list, found, (row) => ({ id: row.cursor_id }), request, reply, config.publicUrl)
      return { data: rows.map(presentDelivery), meta }
    },
  })

  api.get('/communities/:slug/deliveries/:id', {
    config: { role: 'viewer' },
    schema: {
      summary: `One delivery with its newest ${ATTEMPTS_MAX} attempts and what is sent`,
      tags: TAGS,
      params: WebhookParams,
      response: { 200: Type.Object({ data: DeliveryDetail }) },
    },
    handler: async ({ community, params }) => {
      const delivery = await requireDelivery(community.id, params.id)
      const attempts = await listAttempts(sql, community.id, delivery.id, ATTEMPTS_MAX)
      return { data: presentDetail(delivery, attempts) }
    },
  })

  api.post('/communities/:slug/deliveries/:id/resend', {
    config: { role: 'owner', errors: ['rate_limited'] },
    schema: {
      summary: 'Send one delivery again, from the start of the schedule',
      tags: TAGS,
      params: WebhookParams,
      response: { 202: Type.Object({ data: DeliveryDetail }) },
    },
    handler: async (request, reply) => {
      const { id } = request.community
      const delivery = await requireDelivery(id, request.params.id)
      await resendDelivery(sql, adminActor(request), id, delivery)
      const attempts = await listAttempts(sql, id, delivery.id, ATTEMPTS_MAX)
      return reply.code(202).send({ data: presentDetail(await requireDelivery(id, request.params.id), attempts) })
    },
  })

  api.post('/communities/:slug/webhooks/:id/test', {
    config: { role: 'owner' },
    schema: {
      summary: 'Send a test event',
      tags: TAGS,
      params: WebhookParams,
      response: { 202: Type.Object({ data: Type.Object({ event_id: Type.String() }) }) },
    },
    handler: async (request, reply) => {
      const { id } = request.community
      const subscription = await requireSubscription(sql, id, request.params.id)
      const uuid = await sendTestEvent(sql, adminActor(request), id, subscription)
      return reply.code(202).send({ data: { event_id: `evt_${uuid}` } })
    },
  })

  for (const [verb, status] of [
    ['pause', 'paused'],
    ['resume', 'active'],
  ] as const) {
    api.post(`/communities/:slug/webhooks/:id/${verb}`, {
      config: { role: 'owner' },
      schema: {
        summary: verb === 'pause' ? 'Hold what is to be sent' : 'Send again, also after it was disabled',
        tags: TAGS,
        params: WebhookParams,
        response: { 200: Type.Object({ data: SubscriptionOverview }) },
      },
      handler: async (request) => {
        const { id: communityId } = request.community
        const { id, partner_id: partnerId } = await requireSubscription(sql, communityId, request.params.id)
        await setSubscriptionStatus(sql, adminActor(request), { communityId, partnerId }, id, status)
        return { data: presentSubscription(await requireSubscription(sql, communityId, request.params.id)) }
      },
    })
  }

  async function requireDelivery(communityId: number, text: string): Promise<DeliveryDetailRow> {
    const id = parseId(text)
    const row = id === undefined ? undefined : await findDeliveryDetail(sql, communityId, id)
    if (!row) throw new NotFound(because('no_such_delivery'))
    return row
  }
}

function presentSubscription(row: SubscriptionRow) {
  const { partner_id, partner_name, partner_status, client_public_id, client_status, ...rest } = row
  return {
    ...rest,
    partner: { id: partner_id, name: partner_name, status: partner_status },
    client: { client_id: client_public_id, status: client_status },
    waiting: presentCount(row.waiting, COUNT_MAX),
    held: presentCount(row.held, COUNT_MAX),
    failures_in_a_row: presentCount(row.failures_in_a_row, COUNT_MAX),
  }
}

function presentDelivery({ event_uuid, cursor_id: _cursorId, last_attempt, ...rest }: DeliveryRow) {
  const last = last_attempt && { ...last_attempt, at: fromJsonTime(last_attempt.at) }
  return { ...rest, event_id: `evt_${event_uuid}`, last_attempt: last }
}

function presentDetail(row: DeliveryDetailRow, attempts: Attempt[]) {
  const scopes = commonScopes(row.subscription_scopes, row.client_scopes, row.partner_scopes)
  const data = renderEvent(row, { partnerId: row.recipient_partner_id, scopes })
  return {
    id: row.id,
    subscription_id: row.subscription_id,
    event_id: `evt_${row.event_uuid}`,
    event_type: row.event_type,
    status: row.status,
    held_reason: row.held_reason,
    next_attempt_at: row.next_attempt_at,
    waits_for: row.waits_for,
    created_at: row.created_at,
    finished_at: row.finished_at,
    attempts,
    body: { type: row.type, timestamp: row.event_created_at, data },
  }
}
