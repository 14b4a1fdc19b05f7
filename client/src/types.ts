// The SDK's names for the wire types. wire.ts is generated from the OpenAPI description of the partner API; this file
// adds what TypeScript can express beyond it.
import type { EventDataByType, PageMeta, UnknownName } from './wire.ts'
import { SCOPES } from './wire.ts'

export type {
  AcceptedCredit,
  Attempt,
  Balance,
  BalanceChange,
  BatchedCredit,
  CommunityAggregates,
  Credit,
  CreditAnswer,
  CreditBatch,
  CreditBatchMeta,
  CreditRequest,
  CreditsMeta,
  Delivery,
  ErrorCode,
  EventDataByType,
  FieldError,
  Figure,
  Flow,
  Gone,
  Listing,
  Member,
  PageMeta,
  Period,
  RejectedCredit,
  Removal,
  ReplayRequest,
  ReplayStarted,
  Reversal,
  ReverseRequest,
  Subscription,
  SubscriptionChange,
  SubscriptionMeta,
  SubscriptionRequest,
  SubscriptionWithSecret,
  TestSent,
  UnknownName,
  VersionedListing,
  VersionedMember,
  WalletCredited,
  WalletReversed,
  EventType as EventTypeEntry,
  ListCreditsQuery as CreditsQuery,
  ListDeliveriesQuery as DeliveriesQuery,
  ListEventsQuery as PageQuery,
  ListListingsQuery as ListingsQuery,
  ListRemovalsQuery as RemovalsQuery,
  ListUsersQuery as MembersQuery,
  Token as TokenResponse,
} from './wire.ts'

/** All scopes, in the order of the specification. */
export { SCOPES }
export type Scope = (typeof SCOPES)[number]

export interface Page<Item, Meta extends PageMeta = PageMeta> {
  data: Item[]
  meta: Meta
}

export type EventType = keyof EventDataByType

interface EventOf<Type extends string, Data> {
  /** The webhook-id: the same for retries, redelivery and replay, and in the feed. */
  id: string
  type: Type
  timestamp: string
  data: Data
}

/** A union by type: `switch (event.type)` narrows `event.data`. */
export type KnownEvent = { [Type in EventType]: EventOf<Type, EventDataByType[Type]> }[EventType]

/** The name of an event type that this version of the SDK does not know. */
export type UnknownEventType = UnknownName

/** An event of a type that this version of the SDK does not know. New types can be added at any time. */
export type UnknownEvent = EventOf<UnknownEventType, unknown>

export type HourbankEvent = KnownEvent | UnknownEvent
