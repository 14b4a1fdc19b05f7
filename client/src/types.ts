// The names under which the SDK exports what travels on the wire. wire.ts is made from the description of the partner
// API; here is what TypeScript can say beyond it.
import type { EventDataByType, PageMeta } from './wire.ts'
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
  NewSubscription,
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
  TestSent,
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

/** What a token can allow, in the order of the specification. */
export { SCOPES }
export type Scope = (typeof SCOPES)[number]

export interface Page<Item, Meta extends PageMeta = PageMeta> {
  data: Item[]
  meta: Meta
}

export type EventType = keyof EventDataByType

interface EventOf<Type extends string, Data> {
  /** The webhook-id: the same over retries, redelivery and replay, and in the feed. */
  id: string
  type: Type
  timestamp: string
  data: Data
}

/** One member per type: `switch (event.type)` tells the type of `event.data`. */
export type KnownEvent = { [Type in EventType]: EventOf<Type, EventDataByType[Type]> }[EventType]

/** Nothing at run time. No name can be compared with it, so `switch (event.type)` keeps the known events apart from it. */
declare enum NameUnknownHere {
  Any = 'any',
}

/** A text: the name of an event that this version of the SDK has not heard of. */
export type UnknownEventType = NameUnknownHere

/** An event that this version of the SDK does not know. New ones may come at any time. */
export type UnknownEvent = EventOf<UnknownEventType, unknown>

export type HourbankEvent = KnownEvent | UnknownEvent
