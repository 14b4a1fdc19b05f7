import { Type, type Static } from 'typebox'

const REFERENCE_LENGTH_MAX = 191
const NOTE_LENGTH_MAX = 500
/** Beyond any community's own limit, and far below what a number holds exactly. */
const HOURS_MAX = 1_000_000_000

export const Reference = Type.String({
  minLength: 1,
  maxLength: REFERENCE_LENGTH_MAX,
  format: 'text',
  description: 'Case-sensitive, taken exactly as sent; unique per partner',
})

export const CreditRequest = Type.Object({
  user_id: Type.Integer(),
  hours: Type.Number({
    exclusiveMinimum: 0,
    maximum: HOURS_MAX,
    description: 'At most two decimals, at most the limit of the community (1000 unless it chose another)',
  }),
  reference: Reference,
  note: Type.Optional(Type.String({ maxLength: NOTE_LENGTH_MAX, format: 'text' })),
  settled_on: Type.Optional(
    Type.String({ format: 'date', description: 'The day on which the bank transfer was settled' }),
  ),
})
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
    balance_hours: Type.Number({ description: 'The balance right after this credit' }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Credit' },
)
export type Credit = Static<typeof Credit>

export const CreditAnswer = Type.Object({
  data: Type.Object(
    { ...Credit.properties, replayed: Type.Boolean({ description: 'true: this reference was credited before' }) },
    { title: 'CreditAnswer' },
  ),
})

export const Balance = Type.Object(
  {
    user_id: Type.Integer(),
    balance_hours: Type.Number(),
    as_of: Type.String({ format: 'date-time', description: 'When the balance last changed' }),
  },
  { title: 'Balance' },
)

export const ReverseRequest = Type.Object({
  reference: Reference,
  reversal_reference: Reference,
  reason: Type.Optional(Type.String({ maxLength: NOTE_LENGTH_MAX, format: 'text' })),
})
export type ReverseRequest = Static<typeof ReverseRequest>

export const Reversal = Type.Object(
  {
    reference: Type.String(),
    reversal_reference: Type.String(),
    reason: Type.Union([Type.String(), Type.Null()]),
    reversed_at: Type.String({ format: 'date-time' }),
    credit: Credit,
    replayed: Type.Boolean(),
  },
  { title: 'Reversal' },
)
