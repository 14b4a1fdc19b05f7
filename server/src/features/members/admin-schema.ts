import { Type, type Static } from 'typebox'
import { FormText, Nullable, Time } from '../../http/console/admin-shapes.ts'
import { RequestKey } from '../../http/console/request-once.ts'
import { Version } from '../../http/console/versions.ts'
import { PageMeta } from '../../http/shared/paging.ts'
import { FormFields, OfficeFields } from './fields.ts'

export const MemberParams = Type.Object({ slug: Type.String(), id: Type.String() })

/** A member as administrators see it. */
export const OfficeMember = Type.Object(
  {
    id: Type.Integer(),
    ...OfficeFields,
    payment_reference: Type.String(),
    status: Type.Enum(['active', 'inactive']),
    hidden: Type.Boolean({ description: 'From partners, at the request of the member' }),
    joined_at: Time,
    left_at: Nullable(Time),
    erased_at: Nullable(Time),
    updated_at: Time,
    balance_hours: Type.Number(),
    version: Version,
  },
  { title: 'OfficeMember' },
)
export type OfficeMember = Static<typeof OfficeMember>

export const MemberFilters = {
  q: Type.Optional(
    Type.String({
      format: 'text',
      maxLength: 200,
      description: "Words of the name, the email address, the office's number or the payment reference",
    }),
  ),
  status: Type.Optional(
    Type.Enum(['active', 'inactive', 'erased'], { description: 'The erased are listed only when asked for' }),
  ),
  hidden: Type.Optional(Type.Boolean()),
}

export const NewMemberForm = Type.Object({ ...FormFields, key: RequestKey }, { title: 'NewMemberForm' })

export const MemberForm = Type.Partial(Type.Object(FormFields))
export type MemberForm = Static<typeof MemberForm>

export const LeaveForm = Type.Object(
  {
    balance: Type.Enum(['keep', 'to_community'], {
      description: 'Whether the hours stay in the wallet, or go to the account of the community by an adjustment',
    }),
    reason: Type.Optional(FormText),
  },
  { title: 'LeaveForm' },
)

export const StatementRow = Type.Object(
  {
    id: Type.Integer(),
    kind: Type.Enum(['credit', 'exchange', 'adjustment', 'reversal']),
    hours: Type.Number({ description: 'Negative where they left the wallet' }),
    balance_hours: Type.Number({ description: 'Of the wallet, after it' }),
    occurred_on: Type.String({ format: 'date' }),
    created_at: Time,
    other: Type.Object({
      kind: Type.Enum(['member', 'partner', 'community']),
      id: Nullable(Type.Integer()),
      name: Type.String(),
    }),
    listing: Nullable(Type.Object({ id: Type.Integer(), title: Type.String() })),
    reference: Nullable(Type.String()),
    note: Nullable(Type.String()),
    reverses_id: Nullable(Type.Integer()),
    reversed_by_id: Nullable(Type.Integer()),
  },
  { title: 'StatementRow' },
)
export type StatementRow = Static<typeof StatementRow>

const Day = Type.String({ format: 'date' })

export const StatementPeriod = {
  from: Type.Optional({ ...Day, description: "The first day, in the community's zone" }),
  until: Type.Optional({ ...Day, description: 'The last day, which counts in' }),
}

export const StatementMeta = Type.Object(
  {
    ...PageMeta.properties,
    opening_balance_hours: Type.Number({ description: 'Before the first day' }),
    closing_balance_hours: Type.Number({ description: 'At the end of the last day' }),
  },
  { title: 'StatementMeta' },
)

export const EmailRead = Type.Object(
  {
    at: Time,
    partner: Nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
    client_id: Type.String(),
    request_id: Nullable(Type.String()),
  },
  { title: 'EmailRead' },
)
