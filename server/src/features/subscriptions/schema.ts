import { Type, type Static } from 'typebox'
import { SCOPE_NAMES } from '../../core/scopes.ts'
import { EXTENSIBLE } from '../../http/shared/portable-schemas.ts'
import { PATTERN_LENGTH_MAX } from './event-patterns.ts'
import { TARGET_LENGTH_MAX } from './check-target.ts'

const EVENT_TYPES_MAX = 50
/**
 * Each redelivery and replay adds attempts, and each keeps an answer that the receiver chose: without these limits, a
 * page of a hundred deliveries could have any size. Ten attempts are a whole schedule.
 */
export const LISTED_ATTEMPTS_MAX = 10
export const LISTED_RESPONSE_LENGTH_MAX = 1000

/** The subscription and the delivery used in all examples. */
const REQUEST = { event_types: ['wallet.*', 'user.left'], target_url: 'https://bank.example.org/hourbank' }
const SUBSCRIPTION = {
  id: 3,
  ...REQUEST,
  scopes: ['users.read', 'wallet.read', 'webhooks.manage'],
  status: 'active',
  status_reason: null,
  status_changed_at: '2026-01-31T09:00:00.000000Z',
  failing_since: null,
  last_success_at: '2026-01-31T09:05:00.000000Z',
  created_at: '2026-01-31T09:00:00.000000Z',
  updated_at: '2026-01-31T09:00:00.000000Z',
} as const
export const DELIVERY = {
  // A realistic one: ids of deliveries have up to 52 bits.
  id: 2_876_339_329_982_072,
  subscription_id: 3,
  event_id: 'evt_0b0a2c7e-2c1f-4d53-9c0d-7f8f5a1e6b21',
  event_type: 'wallet.credited',
  status: 'pending',
  held_reason: null,
  next_attempt_at: '2026-01-31T09:05:05.000000Z',
  created_at: '2026-01-31T09:05:00.000000Z',
  finished_at: null,
  attempts: [
    {
      number: 1,
      at: '2026-01-31T09:05:00.000000Z',
      duration_ms: 83,
      status: 503,
      error_kind: 'status',
      error: 'answered 503',
      response: 'try later',
    },
  ],
} as const

const EventPatterns = Type.Array(Type.String({ maxLength: PATTERN_LENGTH_MAX }), {
  minItems: 1,
  maxItems: EVENT_TYPES_MAX,
  description: 'Names, prefix.* or *; see GET /webhooks/event-types',
})
const TargetUrl = Type.String({
  maxLength: TARGET_LENGTH_MAX,
  format: 'text',
  // Rejects what URL parsers interpret differently: they tolerate spaces and backslashes, and drop the fragment.
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://[^\\s\\\\/?#@]+([/?][^\\s\\\\#]*)?$',
  description:
    'An https:// address of a host on the internet, without spaces, backslashes, credentials or fragment; by name, not by IP address',
})

export const SubscriptionRequest = Type.Object(
  { event_types: EventPatterns, target_url: TargetUrl },
  { title: 'SubscriptionRequest', examples: [REQUEST] },
)
export type SubscriptionRequest = Static<typeof SubscriptionRequest>

export const SubscriptionChange = Type.Object(
  {
    event_types: Type.Optional(EventPatterns),
    target_url: Type.Optional(TargetUrl),
    status: Type.Optional(
      Type.Enum(['active', 'paused'], { description: 'active also enables a disabled subscription' }),
    ),
  },
  { title: 'SubscriptionChange', examples: [{ status: 'paused' }] },
)
export type SubscriptionChange = Static<typeof SubscriptionChange>

export const Subscription = Type.Object(
  {
    id: Type.Integer(),
    event_types: Type.Array(Type.String()),
    target_url: Type.String(),
    scopes: Type.Array(Type.Enum(SCOPE_NAMES, EXTENSIBLE), {
      description:
        'The scopes of the token that created it, which limit what it sends. Tokens without all of them can only list, pause and delete it',
    }),
    status: Type.Enum(['active', 'paused', 'disabled']),
    status_reason: Type.Union([Type.String(), Type.Null()]),
    status_changed_at: Type.String({ format: 'date-time' }),
    failing_since: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    last_success_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Subscription', examples: [SUBSCRIPTION] },
)
export type Subscription = Static<typeof Subscription>

export const SubscriptionMeta = Type.Object(
  {
    unknown_event_types: Type.Array(Type.String(), { description: 'Accepted, but not emitted yet' }),
  },
  { title: 'SubscriptionMeta', examples: [{ unknown_event_types: [] }] },
)

export const SubscriptionWithSecret = Type.Object(
  {
    ...Subscription.properties,
    secret: Type.String({ description: 'The signing key; returned only in this response' }),
  },
  {
    title: 'SubscriptionWithSecret',
    examples: [{ ...SUBSCRIPTION, last_success_at: null, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }],
  },
)

export const Attempt = Type.Object(
  {
    number: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
    duration_ms: Type.Integer(),
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the HTTP response' }),
    error_kind: Type.Union([
      Type.Enum(['dns', 'connect', 'tls', 'timeout', 'status', 'refused_address'], EXTENSIBLE),
      Type.Null(),
    ]),
    error: Type.Union([Type.String(), Type.Null()]),
    response: Type.Union([Type.String(), Type.Null()], {
      description: `Its first ${LISTED_RESPONSE_LENGTH_MAX} characters. Of a success, only while no later one follows`,
    }),
  },
  { title: 'Attempt' },
)
export type Attempt = Static<typeof Attempt>

export const Delivery = Type.Object(
  {
    id: Type.Integer(),
    subscription_id: Type.Integer(),
    event_id: Type.String({ description: 'The webhook-id' }),
    event_type: Type.String(),
    status: Type.Enum(['pending', 'held', 'delivered', 'failed']),
    held_reason: Type.Union([Type.String(), Type.Null()]),
    next_attempt_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    created_at: Type.String({ format: 'date-time' }),
    finished_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    attempts: Type.Array(Attempt, { description: `The newest ${LISTED_ATTEMPTS_MAX}, in the order of their times` }),
  },
  { title: 'Delivery', examples: [DELIVERY] },
)
export type Delivery = Static<typeof Delivery>
