import { Type, type TSchema } from 'typebox'
import type { Scope } from '../../core/scopes.ts'
import { LISTING, Listing } from '../listings/schema.ts'
import { MEMBER, Member } from '../members/schema.ts'

const Version = {
  version: Type.Integer({
    description: 'Counts the changes of the resource, so that you can ignore an event that arrives late',
  }),
}
const Gone = Type.Object({ id: Type.Integer(), ...Version }, { title: 'Gone' })
const VersionedMember = Type.Object({ ...Member.properties, ...Version }, { title: 'VersionedMember' })
const VersionedListing = Type.Object({ ...Listing.properties, ...Version }, { title: 'VersionedListing' })
const BalanceChange = { user_id: Type.Integer(), balance_hours: Type.Number(), ...Version }
/** A partner hears of its own credits even if the member has hidden since, but then nothing else about the wallet. */
const CreditedBalance = {
  user_id: BalanceChange.user_id,
  balance_hours: Type.Optional(BalanceChange.balance_hours),
  version: Type.Optional(BalanceChange.version),
}
/** Only for the partner that made the credit. */
const OwnCredit = {
  transaction_id: Type.Optional(Type.Integer()),
  hours: Type.Optional(Type.Number()),
  reference: Type.Optional(Type.String()),
}

interface EventTypeFacts {
  description: string
  /** Required in addition to webhooks.manage. */
  scope: Scope | undefined
  data: TSchema
  example: Record<string, unknown>
}

const CREDIT = { transaction_id: 9, user_id: 42, hours: 1.5, reference: 'tx-1', balance_hours: 4, version: 311 }

/** The catalogue of events with their required scopes and schemas. */
export const EVENT_TYPES = {
  'wallet.credited': {
    description: 'A partner credited hours. Reference, note and hours go only to the partner that made the credit.',
    scope: 'wallet.read',
    data: Type.Object(
      {
        ...CreditedBalance,
        ...OwnCredit,
        note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        settled_on: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      },
      { title: 'WalletCredited' },
    ),
    example: { ...CREDIT, note: null, settled_on: '2026-01-30' },
  },
  'wallet.reversed': {
    description: 'A credit was reversed. References and hours go only to the partner that made the credit.',
    scope: 'wallet.read',
    data: Type.Object(
      { ...CreditedBalance, ...OwnCredit, reversal_reference: Type.Optional(Type.String()) },
      { title: 'WalletReversed' },
    ),
    example: { ...CREDIT, reversal_reference: 'back-1', balance_hours: 2.5, version: 312 },
  },
  'wallet.balance_changed': {
    description: 'An exchange or an adjustment: one event per member, without counterparty or listing.',
    scope: 'wallet.read',
    data: Type.Object(BalanceChange, { title: 'BalanceChange' }),
    example: { user_id: 42, balance_hours: 3.25, version: 313 },
  },
  'user.joined': {
    description: 'A member joined, returned or is no longer hidden. email only with users.pii.',
    scope: 'users.read',
    data: VersionedMember,
    example: { ...MEMBER, version: 1 },
  },
  'user.updated': {
    description: 'A member changed. email only with users.pii.',
    scope: 'users.read',
    data: VersionedMember,
    example: { ...MEMBER, version: 2 },
  },
  'user.left': {
    description: 'A member can no longer be seen.',
    scope: 'users.read',
    data: Gone,
    example: { id: 42, version: 3 },
  },
  'user.erased': {
    description: 'A member was erased: delete everything that you store about them.',
    scope: 'users.read',
    data: Gone,
    example: { id: 42, version: 4 },
  },
  'listing.published': {
    description: 'A listing became visible, for the first time or again.',
    scope: 'listings.read',
    data: VersionedListing,
    example: { ...LISTING, version: 1 },
  },
  'listing.updated': {
    description: 'A listing changed.',
    scope: 'listings.read',
    data: VersionedListing,
    example: { ...LISTING, version: 2 },
  },
  'listing.closed': {
    description: 'A listing can no longer be seen.',
    scope: 'listings.read',
    data: Gone,
    example: { id: 7, version: 3 },
  },
  'webhook.test': {
    description: 'Sent on request to one subscription.',
    scope: undefined,
    data: Type.Object({ subscription_id: Type.Integer() }),
    example: { subscription_id: 3 },
  },
} as const satisfies Record<string, EventTypeFacts>

export type EventType = keyof typeof EVENT_TYPES

/** Returns the types of events that a caller with these scopes may read. */
export function readableTypes(scopes: readonly Scope[]): EventType[] {
  return (Object.keys(EVENT_TYPES) as EventType[]).filter((type) => {
    const { scope } = EVENT_TYPES[type]
    return scope === undefined || scopes.includes(scope)
  })
}
