import { Type, type Static } from 'typebox'
import { LIMIT_HOURS_MAX } from '../communities/change-settings.ts'
import { EXTENSIBLE } from '../../http/shared/portable-schemas.ts'

const REFERENCE_LENGTH_MAX = 191
const NOTE_LENGTH_MAX = 500

export const Reference = Type.String({
  minLength: 1,
  maxLength: REFERENCE_LENGTH_MAX,
  format: 'text',
  description: `Up to ${REFERENCE_LENGTH_MAX} characters, case-sensitive, taken exactly as sent; applied once per partner, however often it is sent`,
})

/** The credit used in all examples. */
export const CREDIT = {
  transaction_id: 9,
  user_id: 42,
  hours: 1.5,
  reference: 'tx-1',
  note: 'Gardening course',
  settled_on: '2026-01-30',
  status: 'completed',
  reversed_at: null,
  balance_hours: 4,
  created_at: '2026-01-31T09:00:00.000000Z',
} as const
const { user_id, hours, reference, note, settled_on } = CREDIT
const CREDIT_REQUEST = { user_id, hours, reference, note, settled_on }
/** A second item of a batch, to a member that does not exist. */
const UNKNOWN = { user_id: 4_200_000, reference: 'tx-2' }
const REVERSED = { ...CREDIT, status: 'reversed', reversed_at: '2026-02-03T10:15:00.000000Z' } as const
const REVERSAL = { reference, reversal_reference: 'back-1', reason: 'The bank transfer was returned' }

export const CreditRequest = Type.Object(
  {
    user_id: Type.Integer({ description: 'The member; for a payment, found by its payment_reference' }),
    hours: Type.Number({
      exclusiveMinimum: 0,
      maximum: LIMIT_HOURS_MAX,
      multipleOf: 0.01,
      description:
        'More than 0, with up to two decimals, up to the limit of the community (1000 unless it chose another)',
    }),
    reference: Reference,
    note: Type.Optional(
      Type.String({
        maxLength: NOTE_LENGTH_MAX,
        format: 'text',
        description: `For people, up to ${NOTE_LENGTH_MAX} characters; may differ when sent again`,
      }),
    ),
    settled_on: Type.Optional(
      Type.String({
        format: 'date',
        description: 'The day on which the bank transfer was settled; at most a day ahead of today in the community',
      }),
    ),
  },
  { title: 'CreditRequest', examples: [CREDIT_REQUEST] },
)
export type CreditRequest = Static<typeof CreditRequest>

export const Credit = Type.Object(
  {
    transaction_id: Type.Integer(),
    user_id: Type.Integer(),
    hours: Type.Number(),
    reference: Type.String(),
    note: Type.Union([Type.String(), Type.Null()]),
    settled_on: Type.Union([Type.String({ format: 'date' }), Type.Null()]),
    status: Type.Enum(['completed', 'reversed']),
    reversed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    balance_hours: Type.Optional(
      Type.Number({ description: 'The balance right after this credit; only for tokens with wallet.read' }),
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Credit', examples: [CREDIT] },
)
export type Credit = Static<typeof Credit>

export const CreditAnswer = Type.Object({
  data: Type.Object(
    {
      ...Credit.properties,
      replayed: Type.Boolean({
        description:
          'true if the credit already existed, from an earlier call or from an attempt whose response was lost',
      }),
    },
    { title: 'CreditAnswer', examples: [{ ...CREDIT, replayed: false }] },
  ),
})

export const BATCH_ITEMS_MAX = 1000
/** The errors of a single credit that an item of a batch has as its result. */
export const ITEM_ERRORS = ['user_not_found', 'reference_conflict', 'daily_limit_reached', 'validation_failed'] as const

export const CreditBatchRequest = Type.Object(
  {
    // Without its examples, which the description of a body has beside the schema.
    credits: Type.Array(Type.Object(CreditRequest.properties, { title: 'CreditRequest' }), {
      minItems: 1,
      maxItems: BATCH_ITEMS_MAX,
      description: `1 to ${BATCH_ITEMS_MAX} credits, executed in this order`,
    }),
  },
  { title: 'CreditBatchRequest', examples: [{ credits: [CREDIT_REQUEST, { ...CREDIT_REQUEST, ...UNKNOWN }] }] },
)

const AcceptedCredit = Type.Object(
  {
    reference: Type.String(),
    result: Type.Enum(['created', 'replayed'], { description: 'replayed: the credit already existed' }),
    credit: CreditAnswer.properties.data,
  },
  { title: 'AcceptedCredit' },
)

const RejectedCredit = Type.Object(
  {
    reference: Type.String(),
    result: Type.Enum([...ITEM_ERRORS], {
      ...EXTENSIBLE,
      description: 'The error that the same credit gets in a call of its own; more may be added',
    }),
    error_description: Type.String({ description: 'For people' }),
    data: Type.Optional(Credit),
  },
  { title: 'RejectedCredit' },
)

export const BatchedCredit = Type.Union([AcceptedCredit, RejectedCredit], { title: 'BatchedCredit' })
export type BatchedCredit = Static<typeof BatchedCredit>

export const CreditBatch = Type.Object(
  {
    data: Type.Array(BatchedCredit, { description: 'One result per credit, in the order of the request' }),
    meta: Type.Object(
      { created: Type.Integer(), replayed: Type.Integer(), rejected: Type.Integer() },
      { title: 'CreditBatchMeta' },
    ),
  },
  {
    title: 'CreditBatch',
    examples: [
      {
        data: [
          { reference, result: 'created', credit: { ...CREDIT, replayed: false } },
          { reference: UNKNOWN.reference, result: 'user_not_found', error_description: 'There is no such member.' },
        ],
        meta: { created: 1, replayed: 0, rejected: 1 },
      },
    ],
  },
)

export const Balance = Type.Object(
  {
    user_id: Type.Integer(),
    balance_hours: Type.Number(),
    as_of: Type.String({ format: 'date-time', description: 'When the balance last changed' }),
  },
  { title: 'Balance', examples: [{ user_id, balance_hours: 4, as_of: '2026-01-31T09:00:00.000000Z' }] },
)

export const ReverseRequest = Type.Object(
  {
    reference: Reference,
    reversal_reference: Reference,
    reason: Type.Optional(
      Type.String({
        maxLength: NOTE_LENGTH_MAX,
        format: 'text',
        description: `For people, up to ${NOTE_LENGTH_MAX} characters`,
      }),
    ),
  },
  { title: 'ReverseRequest', examples: [REVERSAL] },
)
export type ReverseRequest = Static<typeof ReverseRequest>

export const Reversal = Type.Object(
  {
    reference: Type.String(),
    reversal_reference: Type.String(),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: 'As it was sent; not stored for an erased member',
    }),
    reversed_at: Type.String({ format: 'date-time' }),
    credit: Credit,
    replayed: Type.Boolean(),
  },
  {
    title: 'Reversal',
    examples: [{ ...REVERSAL, reversed_at: REVERSED.reversed_at, credit: REVERSED, replayed: false }],
  },
)
