import { Type } from 'typebox'
import { transaction } from '../db/connect.ts'
import { EVENT_TYPES } from '../events/event-types.ts'
import type { Deps } from '../http/deps.ts'
import { ApiError } from '../http/errors.ts'
import { IdParameter, parseId } from '../http/ids.ts'
import { PageMeta, PageQuery, finishList, readListRequest } from '../http/paging.ts'
import type { PartnerApi } from '../http/partner-api.ts'
import { invalidField } from '../http/validation.ts'
import { checkTarget } from './check-target.ts'
import { isEventPattern, unknownPatterns } from './event-types.ts'
import {
  countSubscriptions,
  deleteSubscription,
  findDelivery,
  findSubscription,
  insertSubscription,
  insertTestEvent,
  listDeliveries,
  listSubscriptions,
  redeliver,
  replaySince,
  rotateSubscriptionSecret,
  updateSubscription,
} from './queries.ts'
import {
  Delivery,
  NewSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionMeta,
  SubscriptionRequest,
} from './schema.ts'
import { newWebhookSecret } from './sign.ts'

const SUBSCRIPTIONS_MAX = 20
const SECRET_OVERLAP_SECONDS = 24 * 60 * 60

const MANAGE = { scope: 'webhooks.manage' } as const
const TAGS = ['Webhooks']

export function webhookRoutes(api: PartnerApi, { sql, epoch, config, box }: Deps): void {
  const allowPrivate = config.webhookAllowPrivateTargets

  function check({ event_types, target_url }: Partial<SubscriptionRequest>): void {
    const malformed = event_types?.find((pattern) => !isEventPattern(pattern))
    if (malformed !== undefined) throw invalidField('event_types', 'invalid_format', 'must be names, prefix.* or *')
    if (target_url !== undefined) checkTarget(target_url, allowPrivate)
  }

  api.get('/webhooks/subscriptions', {
    config: MANAGE,
    schema: {
      operationId: 'listSubscriptions',
      summary: "List the caller's webhook subscriptions",
      tags: TAGS,
      querystring: Type.Object(PageQuery),
      response: { 200: Type.Object({ data: Type.Array(Subscription), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { communityId, partnerId } = request.caller
      const list = await readListRequest(sql, await epoch(), 'subscriptions', request.query)
      const found = await listSubscriptions(sql, communityId, partnerId, list)
      const { rows, meta } = finishList(list, found, ({ id }) => ({ id }), request, reply, config.publicUrl)
      return { data: rows, meta }
    },
  })

  api.post('/webhooks/subscriptions', {
    config: MANAGE,
    schema: {
      operationId: 'createSubscription',
      summary: 'Subscribe to events',
      description: 'The secret is shown only in this answer. Deliveries follow the Standard Webhooks specification.',
      tags: TAGS,
      body: SubscriptionRequest,
      response: { 201: Type.Object({ data: NewSubscription, meta: SubscriptionMeta }) },
    },
    handler: async (request, reply) => {
      const { communityId, partnerId, clientId } = request.caller
      check(request.body)
      const { event_types, target_url } = request.body
      const secret = newWebhookSecret()
      const data = await transaction(sql, async (tx) => {
        if ((await countSubscriptions(tx, communityId, partnerId)) >= SUBSCRIPTIONS_MAX) {
          throw new ApiError('subscription_limit_reached')
        }
        const sealed = { partner_id: partnerId, client_id: clientId, event_types, target_url, secret: box.seal(secret) }
        return insertSubscription(tx, communityId, sealed)
      })
      reply.code(201).header('location', `${request.url}/${data.id}`)
      return { data: { ...data, secret }, meta: { unknown_event_types: unknownPatterns(event_types) } }
    },
  })

  api.get('/webhooks/subscriptions/:id', {
    config: MANAGE,
    schema: {
      operationId: 'getSubscription',
      summary: 'Fetch one subscription',
      tags: TAGS,
      params: IdParameter,
      response: { 200: Type.Object({ data: Subscription }) },
    },
    handler: async (request) => ({ data: await own(request.caller, request.params.id) }),
  })

  api.patch('/webhooks/subscriptions/:id', {
    config: MANAGE,
    schema: {
      operationId: 'updateSubscription',
      summary: 'Change, pause or resume a subscription',
      tags: TAGS,
      params: IdParameter,
      body: SubscriptionChange,
      response: { 200: Type.Object({ data: Subscription, meta: SubscriptionMeta }) },
    },
    handler: async (request) => {
      const { communityId, partnerId } = request.caller
      check(request.body)
      const { event_types, target_url, status } = request.body
      const change = {
        ...(event_types && { event_types }),
        ...(target_url && { target_url }),
        ...(status && { status }),
      }
      const { id } = await own(request.caller, request.params.id)
      const data = found(await updateSubscription(sql, communityId, partnerId, id, change))
      return { data, meta: { unknown_event_types: unknownPatterns(data.event_types) } }
    },
  })

  api.delete('/webhooks/subscriptions/:id', {
    config: MANAGE,
    schema: {
      operationId: 'deleteSubscription',
      summary: 'Delete a subscription and its deliveries',
      tags: TAGS,
      params: IdParameter,
      response: { 200: Type.Object({ data: Subscription }) },
    },
    handler: async (request) => {
      const { communityId, partnerId } = request.caller
      const { id } = await own(request.caller, request.params.id)
      return { data: found(await deleteSubscription(sql, communityId, partnerId, id)) }
    },
  })

  api.post('/webhooks/subscriptions/:id/test', {
    config: MANAGE,
    schema: {
      operationId: 'testSubscription',
      summary: 'Send a test event to one subscription',
      tags: TAGS,
      params: IdParameter,
      response: { 202: Type.Object({ data: Type.Object({ event_id: Type.String() }) }) },
    },
    handler: async (request, reply) => {
      const { id } = await own(request.caller, request.params.id)
      const uuid = await insertTestEvent(sql, request.caller.communityId, id)
      reply.code(202)
      return { data: { event_id: `evt_${uuid}` } }
    },
  })

  api.post('/webhooks/subscriptions/:id/rotate-secret', {
    config: MANAGE,
    schema: {
      operationId: 'rotateSubscriptionSecret',
      summary: 'Get a new secret; the old one signs along for 24 hours',
      tags: TAGS,
      params: IdParameter,
      response: { 200: Type.Object({ data: NewSubscription }) },
    },
    handler: async (request) => {
      const { communityId, partnerId } = request.caller
      const { id } = await own(request.caller, request.params.id)
      const secret = newWebhookSecret()
      const sealed = box.seal(secret)
      const data = await rotateSubscriptionSecret(sql, communityId, partnerId, id, sealed, SECRET_OVERLAP_SECONDS)
      return { data: { ...found(data), secret } }
    },
  })

  api.post('/webhooks/subscriptions/:id/replay', {
    config: MANAGE,
    schema: {
      operationId: 'replaySubscription',
      summary: 'Deliver all events since a time again',
      tags: TAGS,
      params: IdParameter,
      body: Type.Object({ since: Type.String({ format: 'date-time' }) }),
      response: { 202: Type.Object({ data: Type.Object({ deliveries: Type.Integer() }) }) },
    },
    handler: async (request, reply) => {
      const { id } = await own(request.caller, request.params.id)
      const deliveries = await replaySince(sql, request.caller.communityId, id, request.body.since)
      reply.code(202)
      return { data: { deliveries } }
    },
  })

  api.get('/webhooks/subscriptions/:id/deliveries', {
    config: MANAGE,
    schema: {
      operationId: 'listDeliveries',
      summary: 'List deliveries with every attempt',
      tags: TAGS,
      params: IdParameter,
      querystring: Type.Object({
        ...PageQuery,
        status: Type.Optional(Type.Enum(['pending', 'held', 'delivered', 'failed'])),
      }),
      response: { 200: Type.Object({ data: Type.Array(Delivery), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { id } = await own(request.caller, request.params.id)
      const list = await readListRequest(sql, await epoch(), `deliveries of ${id}`, request.query)
      const rows = await listDeliveries(sql, request.caller.communityId, id, list, request.query.status)
      const page = finishList(list, rows, (row) => ({ id: row.id }), request, reply, config.publicUrl)
      return { data: page.rows.map(presentDelivery), meta: page.meta }
    },
  })

  api.post('/webhooks/deliveries/:id/redeliver', {
    config: MANAGE,
    schema: {
      operationId: 'redeliver',
      summary: 'Send one delivery again, from the start of the schedule',
      tags: TAGS,
      params: IdParameter,
      response: { 202: Type.Object({ data: Delivery }) },
    },
    handler: async (request, reply) => {
      const { communityId, partnerId } = request.caller
      const id = parseId(request.params.id)
      const again = id === undefined ? undefined : await redeliver(sql, communityId, partnerId, id)
      const row = again && (await findDelivery(sql, communityId, again.id))
      if (!row) throw new ApiError('delivery_not_found')
      reply.code(202)
      return { data: presentDelivery(row) }
    },
  })

  api.get('/webhooks/event-types', {
    config: MANAGE,
    schema: {
      operationId: 'listEventTypes',
      summary: 'The catalogue of events, with schemas and examples',
      tags: TAGS,
      response: {
        200: Type.Object({
          data: Type.Array(
            Type.Object({
              name: Type.String(),
              description: Type.String(),
              scope: Type.Union([Type.String(), Type.Null()], { description: 'Needed beside webhooks.manage' }),
              schema: Type.Unknown(),
              example: Type.Unknown(),
            }),
          ),
        }),
      },
    },
    handler: async () => ({
      data: Object.entries(EVENT_TYPES).map(([name, { description, scope, data, example }]) => ({
        name,
        description,
        scope: scope ?? null,
        schema: data,
        example,
      })),
    }),
  })

  async function own({ communityId, partnerId }: { communityId: number; partnerId: number }, text: string) {
    const id = parseId(text)
    return found(id === undefined ? undefined : await findSubscription(sql, communityId, partnerId, id))
  }
}

function found(subscription: Subscription | undefined): Subscription {
  if (!subscription) throw new ApiError('subscription_not_found')
  return subscription
}

function presentDelivery({ event_uuid, ...rest }: Omit<Delivery, 'event_id'> & { event_uuid: string }): Delivery {
  return { ...rest, event_id: `evt_${event_uuid}` }
}
