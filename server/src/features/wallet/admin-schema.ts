import { Type, type Static } from 'typebox'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { RequestKey } from '../../http/console/request-once.ts'
import { Id } from '../../http/shared/ids.ts'
import { OfficePageQuery } from '../../http/console/office-lists.ts'
import { SLIPS_MAX } from './record-exchanges.ts'

export const TRANSFER_SORTS = ['day', '-day'] as const
const TEXT_LENGTH_MAX = 2000
const HOURS_MAX = 1_000_000

const Day = Type.String({ format: 'date' })
/** Rejects only what cannot be stored. Further validation returns messages for the user. */
const FreeText = Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'storable' })
const Hours = Type.Number({ minimum: -HOURS_MAX, maximum: HOURS_MAX })

export const TransferParams = Type.Object({ slug: Type.String(), id: Type.String() })

export const TransferQuery = Type.Object({
  ...OfficePageQuery,
  member_id: Type.Optional(Id),
  kind: Type.Optional(Type.Enum(['credit', 'exchange', 'adjustment'])),
  status: Type.Optional(Type.Enum(['standing', 'reversed'])),
  from: Type.Optional(Type.String({ format: 'date', description: 'The day it happened, or later' })),
  until: Type.Optional(Type.String({ format: 'date', description: 'The day it happened, or earlier' })),
  category: Type.Optional(Type.String({ format: 'text', maxLength: 100, description: 'What an exchange was for' })),
  sort: Type.Optional(
    Type.Enum([...TRANSFER_SORTS], {
      description: 'If omitted, what was recorded last comes first; with from or until, the latest day',
    }),
  ),
})

const Party = Type.Object(
  {
    kind: Type.Enum(['member', 'partner', 'community']),
    id: Nullable(Type.Integer()),
    name: Type.String(),
  },
  { title: 'Party' },
)
const Maker = Type.Object(
  {
    kind: Type.Enum(['admin', 'client', 'command', 'system']),
    name: Nullable(Type.String()),
  },
  { title: 'Maker' },
)

export const TransferRecord = Type.Object(
  {
    id: Type.Integer(),
    kind: Type.Enum(['credit', 'exchange', 'adjustment']),
    occurred_on: Day,
    created_at: Time,
    hours: Type.Number(),
    from: Type.Object(Party.properties, {
      title: 'Party',
      description: 'Whose hours these were: the receiver of an exchange pays',
    }),
    to: Party,
    note: Nullable(Type.String()),
    listing: Nullable(Type.Object({ id: Type.Integer(), title: Type.String() })),
    category: Nullable(Type.String()),
    limit_reason: Nullable(Type.String({ description: 'Why it was allowed below the lower limit' })),
    reference: Nullable(Type.String()),
    made_by: Maker,
    reversal: Nullable(
      Type.Object(
        { id: Type.Integer(), created_at: Time, reason: Nullable(Type.String()), made_by: Maker },
        { description: 'Its reversal, as part of the same record' },
      ),
    ),
  },
  { title: 'TransferRecord' },
)
export type TransferRecord = Static<typeof TransferRecord>

const SlipForm = Type.Object({
  giver_id: Id,
  receiver_id: Id,
  hours: Hours,
  occurred_on: Type.Optional(Day),
  listing_id: Type.Optional(Nullable(Id)),
  category: Type.Optional(
    Nullable(Type.String({ maxLength: 100, format: 'storable', description: 'Without a listing, which has its own' })),
  ),
  note: Type.Optional(Nullable(FreeText)),
})
export type SlipForm = Static<typeof SlipForm>

const Confirmations = {
  confirm_duplicates: Type.Optional(
    Type.Boolean({ description: 'Record even what looks like a slip that was entered twice' }),
  ),
  limit_reason: Type.Optional(
    Nullable({ ...FreeText, description: 'Why members may fall below the lower limit; stored with the exchanges' }),
  ),
}
export type Confirmations = Static<ReturnType<typeof Type.Object<typeof Confirmations>>>

export const ExchangesRequest = Type.Object(
  { slips: Type.Array(SlipForm, { minItems: 1, maxItems: SLIPS_MAX }), ...Confirmations, key: RequestKey },
  { title: 'ExchangesRequest' },
)

export const CorrectionRequest = Type.Object(
  {
    slips: Type.Array(SlipForm, { minItems: 1, maxItems: 1, description: 'The exchange as it should be' }),
    reason: FreeText,
    ...Confirmations,
    key: RequestKey,
  },
  { title: 'CorrectionRequest' },
)
export type ExchangesRequest = Static<typeof ExchangesRequest>

export const AdjustmentRequest = Type.Object(
  { member_id: Id, hours: Hours, reason: FreeText, key: RequestKey },
  { title: 'AdjustmentRequest' },
)
export type AdjustmentRequest = Static<typeof AdjustmentRequest>

export const ReversalRequest = Type.Object({ reason: FreeText })

export const RecordedTransfers = Type.Object(
  {
    transfer_ids: Type.Array(Type.Integer()),
    replayed: Type.Boolean({ description: 'It had been recorded before, under the same key' }),
  },
  { title: 'RecordedTransfers' },
)
