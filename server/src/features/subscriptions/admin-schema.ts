import { Type } from 'typebox'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Id } from '../../http/shared/ids.ts'
import { PageQuery } from '../../http/shared/paging.ts'
import { PATTERN_LENGTH_MAX } from './event-patterns.ts'
import { Attempt, Delivery, Subscription } from './schema.ts'

export const WebhookParams = Type.Object({ slug: Type.String(), id: Type.String() })

export const SubscriptionQuery = Type.Object({
  ...PageQuery,
  partner_id: Type.Optional(Id),
  status: Type.Optional(Type.Enum(['active', 'paused', 'disabled'])),
})

const Count = Type.Object(
  {
    count: Type.Integer(),
    more: Type.Boolean({ description: 'There are more than the count: it stops at a limit' }),
  },
  { title: 'Count' },
)

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

const { attempts: _attempts, ...deliveryFields } = Delivery.properties
const { response: _response, ...attemptFields } = Attempt.properties

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
    attempts: Type.Array(Attempt, { description: 'The newest first' }),
    body: Type.Unknown({ description: 'What the recipient is sent, by what it may know now' }),
  },
  { title: 'DeliveryDetail' },
)

export const ReplayRequest = Type.Object({ since: Time })
