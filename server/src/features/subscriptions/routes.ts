import { Type } from 'typebox'
import { EVENT_TYPES, readableTypes, type EventType } from '../events/event-types.ts'
import type { Disguise } from '../../crypto/disguise.ts'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import type { Caller } from '../../http/partner/access.ts'
import { API_PREFIX, insufficientScope } from '../../http/partner/frame.ts'
import { IdParameter, parseId } from '../../http/shared/ids.ts'
import { PageMeta, PageQuery, finishList, readListRequest, readSealedListRequest } from '../../http/shared/paging.ts'
import { openPosition, sealPosition } from '../../http/shared/sealed-position.ts'
import { LONG_WORK_MS } from '../../http/shared/time-limit.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { invalidField } from '../../http/shared/validation.ts'
import {
  changeSubscription,
  replay,
  REPLAY_MAX,
  requireFound,
  resend,
  rotateWebhookSecret,
  subscribe,
  unsubscribe,
} from './change-subscription.ts'
import { checkSubscription } from './check-target.ts'
import { unknownPatterns } from './event-patterns.ts'
import type { Reader } from '../events/queries.ts'
import {
  findDelivery,
  findSubscription,
  insertTestEvent,
  listDeliveries,
  listSubscriptions,
  type DeliveryRow,
} from './queries.ts'
import {
  DELIVERY,
  Delivery,
  SubscriptionWithSecret,
  Subscription,
  SubscriptionChange,
  SubscriptionMeta,
  SubscriptionRequest,
} from './schema.ts'

const SUBSCRIPTIONS_PATH = `${API_PREFIX}/webhooks/subscriptions`

const MANAGE = { scope: 'webhooks.manage' } as const
const OWN = { ...MANAGE, errors: ['subscription_not_found'] } as const
const TAGS = ['Webhooks']

export function webhookRoutes(
  api: PartnerApi,
  { sql, partnerFiles, epoch, config, box, cursorBox, sharedIds }: Deps,
): void {
  const validate = (request: Partial<SubscriptionRequest>) =>
    checkSubscription(request, config.webhookAllowPrivateTargets)

  api.get('/webhooks/subscriptions', {
    config: MANAGE,
    schema: {
      operationId: 'listSubscriptions',
      summary: "List the caller's webhook subscriptions",
      description: 'The subscriptions of all clients of the partner. Secrets are not returned again.',
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
    config: { ...MANAGE, errors: ['subscription_limit_reached'] },
    schema: {
      operationId: 'createSubscription',
      summary: 'Subscribe to events',
      description:
        'The secret is returned only in this response. Deliveries follow the Standard Webhooks specification.',
      tags: TAGS,
      body: SubscriptionRequest,
      response: { 201: Type.Object({ data: SubscriptionWithSecret, meta: SubscriptionMeta }) },
    },
    handler: async (request, reply) => {
      validate(request.body)
      const data = await subscribe(sql, box, request.caller, request.body)
      reply.code(201).header('location', `${SUBSCRIPTIONS_PATH}/${data.id}`)
      return { data, meta: { unknown_event_types: unknownPatterns(data.event_types) } }
    },
  })

  api.get('/webhooks/subscriptions/:id', {
    config: OWN,
    schema: {
      operationId: 'getSubscription',
      summary: 'Fetch one subscription',
      description: 'Includes its state: whether it is active, since when it fails, and why it was disabled.',
      tags: TAGS,
      params: IdParameter,
      response: { 200: Type.Object({ data: Subscription }) },
    },
    handler: async (request) => ({ data: await requireOwn(request.caller, request.params.id) }),
  })

  api.patch('/webhooks/subscriptions/:id', {
    config: OWN,
    schema: {
      operationId: 'updateSubscription',
      summary: 'Change, pause or resume a subscription',
      description:
        'Omitted fields stay unchanged. The status active also enables a disabled subscription. Everything except pausing needs all scopes of the subscription.',
      tags: TAGS,
      params: IdParameter,
      body: SubscriptionChange,
      response: { 200: Type.Object({ data: Subscription, meta: SubscriptionMeta }) },
    },
    handler: async (request) => {
      validate(request.body)
      const { event_types, target_url, status } = request.body
      const isPausing = status === 'paused' && event_types === undefined && target_url === undefined
      const require = isPausing ? requireOwn : requireFull
      const { id } = await require(request.caller, request.params.id)
      const data = await changeSubscription(sql, request.caller, id, request.body)
      return { data, meta: { unknown_event_types: unknownPatterns(data.event_types) } }
    },
  })

  api.delete('/webhooks/subscriptions/:id', {
    config: OWN,
    schema: {
      operationId: 'deleteSubscription',
      summary: 'Delete a subscription and its deliveries',
      description: 'Returns the deleted subscription. Pending deliveries are dropped.',
      tags: TAGS,
      params: IdParameter,
      response: { 200: Type.Object({ data: Subscription }) },
    },
    handler: async (request) => {
      const { id } = await requireOwn(request.caller, request.params.id)
      return { data: await unsubscribe(sql, request.caller, id) }
    },
  })

  api.post('/webhooks/subscriptions/:id/test', {
    config: OWN,
    schema: {
      operationId: 'testSubscription',
      summary: 'Send a test event to one subscription',
      description:
        'Sends the event webhook.test to this subscription only. The list of its deliveries shows the outcome.',
      tags: TAGS,
      params: IdParameter,
      response: {
        202: Type.Object({
          data: Type.Object(
            { event_id: Type.String() },
            { title: 'TestSent', examples: [{ event_id: DELIVERY.event_id }] },
          ),
        }),
      },
    },
    handler: async (request, reply) => {
      const { id } = await requireFull(request.caller, request.params.id)
      const uuid = await insertTestEvent(sql, request.caller.communityId, id)
      reply.code(202)
      return { data: { event_id: `evt_${uuid}` } }
    },
  })

  api.post('/webhooks/subscriptions/:id/rotate-secret', {
    config: OWN,
    schema: {
      operationId: 'rotateSubscriptionSecret',
      summary: 'Get a new secret; the old one stays valid for 24 hours',
      description: 'The new secret is returned only in this response. For 24 hours every delivery is signed with both.',
      tags: TAGS,
      params: IdParameter,
      response: { 200: Type.Object({ data: SubscriptionWithSecret }) },
    },
    handler: async (request) => {
      const { id } = await requireFull(request.caller, request.params.id)
      return { data: await rotateWebhookSecret(sql, box, request.caller, id) }
    },
  })

  api.post('/webhooks/subscriptions/:id/replay', {
    config: { ...OWN, answerWithinMs: LONG_WORK_MS },
    schema: {
      operationId: 'replaySubscription',
      summary: 'Deliver all events since a time again',
      description:
        'For a receiver that was down. Events that were already delivered are sent again too, with the same webhook-id. Events are kept for 30 days. While a replay is being queued, further ones of the partner get 429.',
      tags: TAGS,
      params: IdParameter,
      body: Type.Object(
        { since: Type.String({ format: 'date-time' }) },
        { title: 'ReplayRequest', examples: [{ since: '2026-01-31T00:00:00Z' }] },
      ),
      response: {
        202: Type.Object({
          data: Type.Object({ deliveries: Type.Integer() }, { title: 'ReplayStarted', examples: [{ deliveries: 12 }] }),
        }),
      },
    },
    handler: async (request, reply) => {
      const { id } = await requireFull(request.caller, request.params.id)
      // Outside the pool for requests, and only for as long as the caller waits: it may take seconds.
      const { communityId, partnerId } = request.caller
      const deliveries = await partnerFiles.run(reply, `${communityId}/${partnerId}`, (own) =>
        replay(own, request.caller, id, request.body.since),
      )
      if (deliveries === undefined) {
        throw invalidField('since', 'out_of_range', `has more than ${REPLAY_MAX} events after it; see GET /events`)
      }
      reply.code(202)
      return { data: { deliveries } }
    },
  })

  api.get('/webhooks/subscriptions/:id/deliveries', {
    config: OWN,
    schema: {
      operationId: 'listDeliveries',
      summary: 'List deliveries with their attempts',
      description:
        'The deliveries in the order of their events, each with its newest attempts: response, duration and error. The ids have no order.',
      tags: TAGS,
      params: IdParameter,
      querystring: Type.Object({
        ...PageQuery,
        status: Type.Optional(
          Type.Enum(['pending', 'held', 'delivered', 'failed'], { description: 'Only deliveries in this state' }),
        ),
      }),
      response: { 200: Type.Object({ data: Type.Array(Delivery), meta: PageMeta }) },
    },
    handler: async (request, reply) => {
      const { communityId } = request.caller
      const { id } = await requireFull(request.caller, request.params.id)
      const list = readSealedListRequest(await epoch(), `deliveries of ${id} by event`, request.query)
      // The ids of events count those of all communities.
      const place = { epoch: list.epoch, list: `deliveries of ${id} in community ${communityId}` }
      const after = list.after && openPosition(cursorBox, place, list.after.id)
      if (list.after && !after) throw invalidField('cursor', 'invalid_cursor', 'is not a cursor of this list')
      const page = { limit: list.limit, afterEventId: after?.id ?? 0, status: request.query.status }
      const found = await listDeliveries(sql, communityId, id, page, readerOf(request.caller))
      const positionOf = (row: DeliveryRow) => ({ id: sealPosition(cursorBox, place, { id: row.cursor_id }) })
      const { rows, meta } = finishList(list, found, positionOf, request, reply, config.publicUrl)
      return { data: rows.map((row) => presentDelivery(row, sharedIds)), meta }
    },
  })

  api.post('/webhooks/deliveries/:id/redeliver', {
    config: { ...MANAGE, errors: ['delivery_not_found'] },
    schema: {
      operationId: 'redeliver',
      summary: 'Send one delivery again, from the start of the schedule',
      description: 'Works in any state of the delivery. The webhook-id stays the same.',
      tags: TAGS,
      params: IdParameter,
      response: { 202: Type.Object({ data: Delivery }) },
    },
    handler: async (request, reply) => {
      const disguised = parseId(request.params.id)
      const id = disguised === undefined ? undefined : sharedIds.reveal(disguised)
      const find = async () =>
        id === undefined ? undefined : findDelivery(sql, request.caller.communityId, id, readerOf(request.caller))
      const found = await find()
      const subscription = found && (await findOwn(request.caller, found.subscription_id))
      if (!subscription) throw new ApiError('delivery_not_found')
      requireScopes(request.caller, subscription)
      await resend(sql, request.caller, found)
      const requeued = await find()
      if (!requeued) throw new ApiError('delivery_not_found')
      reply.code(202)
      return { data: presentDelivery(requeued, sharedIds) }
    },
  })

  api.get('/webhooks/event-types', {
    config: MANAGE,
    schema: {
      operationId: 'listEventTypes',
      summary: 'The catalogue of events, with schemas and examples',
      description: 'All event types with the scope they require, a JSON Schema and an example.',
      tags: TAGS,
      response: {
        200: Type.Object({
          data: Type.Array(
            Type.Object(
              {
                name: Type.String(),
                description: Type.String(),
                scope: Type.Union([Type.String(), Type.Null()], {
                  description: 'Required in addition to webhooks.manage',
                }),
                schema: Type.Unknown({ description: 'JSON Schema of data' }),
                example: Type.Unknown({ description: 'Of data' }),
              },
              { title: 'EventType', examples: [presentEventType('user.left')] },
            ),
          ),
        }),
      },
    },
    handler: async () => ({
      data: (Object.keys(EVENT_TYPES) as EventType[]).map(presentEventType),
    }),
  })

  function findOwn({ communityId, partnerId }: Caller, id: number) {
    return findSubscription(sql, communityId, partnerId, id)
  }

  async function requireOwn(caller: Caller, text: string) {
    const id = parseId(text)
    return requireFound(id === undefined ? undefined : await findOwn(caller, id))
  }

  /** A caller that lacks one of its scopes must not direct what it sends. */
  async function requireFull(caller: Caller, text: string) {
    const subscription = await requireOwn(caller, text)
    requireScopes(caller, subscription)
    return subscription
  }
}

function requireScopes(caller: Caller, { scopes }: Subscription): void {
  if (!scopes.every((scope) => caller.scopes.includes(scope))) throw insufficientScope(scopes)
}

function readerOf({ partnerId, scopes }: Caller): Reader {
  return { partnerId, types: readableTypes(scopes) }
}

function presentEventType(name: EventType) {
  const { description, scope, data, example } = EVENT_TYPES[name]
  return { name, description, scope: scope ?? null, schema: data, example }
}

function presentDelivery({ id, event_uuid, cursor_id: _cursorId, ...rest }: DeliveryRow, ids: Disguise): Delivery {
  return { id: ids.hide(id), ...rest, event_id: `evt_${event_uuid}` }
}
