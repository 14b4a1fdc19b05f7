import { Type } from 'typebox'
import { Count, Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Id } from '../../http/shared/ids.ts'
import { PageQuery } from '../../http/shared/paging.ts'
import { RequestKey } from '../../http/console/request-once.ts'
import { WAITS, type WaitsFor } from './admin-queries.ts'
import { PATTERN_LENGTH_MAX } from './event-patterns.ts'
import { Attempt, Delivery, SubscriptionWithSecret, Subscription, SubscriptionRequest } from './schema.ts'

export const WebhookParams = Type.Object({ slug: Type.String(), id: Type.String() })

export const SubscriptionQuery = Type.Object({
  ...PageQuery,
  partner_id: Type.Optional(Id),
  status: Type.Optional(Type.Enum(['active', 'paused', 'disabled'])),
})

export const SubscriptionOverview = Type.Object(
  {
    ...Subscription.properties,
    partner: Type.Object({ id: Type.Integer(), name: Type.String(), status: Type.String() }),
    client: Type.Object({ client_id: Type.String(), status: Type.String() }),
    waiting: Count,
    held: Count,
    failures_in_a_row: Count,
  },
  { title: 'SubscriptionOverview' },
)

export const DeliveryQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(Type.Enum(['pending', 'held', 'delivered', 'failed'])),
  event_type: Type.Optional(Type.String({ maxLength: PATTERN_LENGTH_MAX, format: 'text' })),
  from: Type.Optional(Time),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before this time' })),
})

const { attempts: _attempts, ...partnersFields } = Delivery.properties
const deliveryFields = {
  ...partnersFields,
  waits_for: Nullable(
    Type.Unsafe<WaitsFor>({
      title: 'WaitsFor',
      type: 'string',
      enum: Object.keys(WAITS),
      description: `Why it is not sent yet. ${Object.entries(WAITS)
        .map(([name, text]) => `${name}: ${text}.`)
        .join(' ')}`,
    }),
  ),
}
const { response: _response, ...attemptFields } = Attempt.properties
const WholeAttempt = Type.Object(
  {
    ...attemptFields,
    response: Nullable(
      Type.String({
        description: 'Its first 16 KiB. Of a success the first 1 KiB, and only while no later success follows',
      }),
    ),
  },
  { title: 'Attempt' },
)

export const ListedDelivery = Type.Object(
  {
    ...deliveryFields,
    attempts_count: Type.Integer(),
    last_attempt: Nullable(Type.Object(attemptFields, { title: 'LastAttempt' })),
  },
  { title: 'ListedDelivery' },
)

export const DeliveryDetail = Type.Object(
  {
    ...deliveryFields,
    attempts: Type.Array(WholeAttempt, { description: 'The newest first' }),
    body: Type.Unknown({ description: 'What the recipient is sent, by what it may know now' }),
  },
  { title: 'DeliveryDetail' },
)

export const ReplayRequest = Type.Object({ since: Time })

export const NewEndpointBody = Type.Object(
  {
    partner_id: Id,
    client_id: Type.String({
      maxLength: 200,
      format: 'text',
      description: 'A client of the partner. Nothing is sent once it is revoked or lacks the scopes of the events',
    }),
    ...SubscriptionRequest.properties,
    key: RequestKey,
  },
  { title: 'NewEndpointBody' },
)

export const NewEndpoint = Type.Object(
  {
    id: SubscriptionWithSecret.properties.id,
    scopes: Subscription.properties.scopes,
    secret: SubscriptionWithSecret.properties.secret,
  },
  { title: 'NewEndpoint' },
)

export const StatisticsQuery = Type.Object({
  period: Type.Optional(Type.Enum(['24h', '7d', '30d'], { description: 'By hours, or by days of the community; 24h' })),
})

export const EndpointStatistics = Type.Object(
  {
    points: Type.Array(
      Type.Object(
        {
          at: Time,
          succeeded: Type.Integer({ description: 'Attempts of events that happened from then on' }),
          failed: Type.Integer(),
          median_ms: Nullable(Type.Integer({ description: 'Until the receiver answered, or the attempt failed' })),
          slow_ms: Nullable(Type.Integer({ description: 'One attempt in twenty took longer' })),
        },
        { title: 'EndpointPoint' },
      ),
    ),
    complete: Type.Boolean({ description: 'False: only the newest deliveries were counted' }),
  },
  { title: 'EndpointStatistics' },
)
