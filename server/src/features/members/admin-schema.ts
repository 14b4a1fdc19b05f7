import { Type, type Static } from 'typebox'
import { FormText, Nullable, Time } from '../../http/console/admin-shapes.ts'
import { RequestKey } from '../../http/console/request-once.ts'
import { Version } from '../../http/console/versions.ts'
import { Id } from '../../http/shared/ids.ts'
import { PageMeta } from '../../http/shared/paging.ts'
import { FormFields, LONG_FIELD_NAMES, OfficeFields } from './fields.ts'
import { MEMBER_SORTS } from './member-list-queries.ts'
import { TAGGED_MEMBERS_MAX, TAGS_MAX } from './change-tags.ts'

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
    last_active_on: Type.String({
      format: 'date',
      description: 'The day of the last exchange that was not reversed, or of joining if that is later',
    }),
    last_exchange_on: Nullable(
      Type.String({ format: 'date', description: 'The day of the last exchange that was not reversed' }),
    ),
    tags: Type.Array(Type.String()),
    version: Version,
  },
  { title: 'OfficeMember' },
)
export type OfficeMember = Static<typeof OfficeMember>

/** A member in a list. */
export const ListedMember = Type.Object(Type.Omit(OfficeMember, [...LONG_FIELD_NAMES, 'version']).properties, {
  title: 'ListedMember',
})
export type ListedMember = Static<typeof ListedMember>

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
  balance: Type.Optional(
    Type.Enum(['negative', 'near_limit', 'positive'], {
      description: 'near_limit: up to 2 hours above the lower limit',
    }),
  ),
  inactive_since: Type.Optional(Type.String({ format: 'date', description: 'No exchange since this day' })),
  tag: Type.Optional(Type.String({ format: 'text', maxLength: 50 })),
  name: Type.Optional(
    Type.String({ format: 'text', maxLength: 200, description: 'Exactly this name, whatever its case and accents' }),
  ),
}

export const MemberSorts = Type.Optional(
  Type.Enum(
    MEMBER_SORTS.flatMap((sort) => [sort, `-${sort}`] as const),
    {
      description:
        'With a minus: descending. If omitted, the newest come first; with balance, the lowest (or highest) balance; with inactive_since, the longest ago',
    },
  ),
)

export const TagsForm = Type.Object(
  {
    member_ids: Type.Array(Id, { minItems: 1, maxItems: TAGGED_MEMBERS_MAX }),
    add: Type.Optional(Type.Array(FormText, { maxItems: TAGS_MAX })),
    remove: Type.Optional(Type.Array(FormText, { maxItems: TAGS_MAX })),
  },
  { title: 'TagsForm' },
)

export const NewMemberForm = Type.Object(
  {
    ...FormFields,
    confirm_duplicate: Type.Optional(Type.Boolean({ description: 'Add even if a member has this name already' })),
    key: RequestKey,
  },
  { title: 'NewMemberForm' },
)

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

/** The end of the community's hash chain when the statement was made. Who keeps it can prove later what was recorded. */
const LedgerHead = Type.Object(
  {
    position: Type.Integer({ description: 'How many transfers of the community are chained' }),
    transfer_id: Type.Integer({ description: 'The last of them' }),
    hash: Type.String({ description: 'SHA-256, in hexadecimal' }),
    chained_at: Time,
  },
  { title: 'LedgerHead' },
)

const Day = Type.String({ format: 'date' })

export const StatementPeriod = {
  from: Type.Optional({ ...Day, description: 'The first day of service' }),
  until: Type.Optional({ ...Day, description: 'The last day of service, which counts in' }),
}

export const StatementMeta = Type.Object(
  {
    ...PageMeta.properties,
    opening_balance_hours: Type.Number({ description: 'Of what happened before the first day' }),
    closing_balance_hours: Type.Number({ description: 'Of what happened until the last day' }),
    ledger_head: Nullable(LedgerHead),
  },
  { title: 'StatementMeta' },
)

export const ServiceStatement = Type.Object(
  {
    opening_balance_hours: Type.Number({ description: 'Of what happened before the first day' }),
    closing_balance_hours: Type.Number({ description: 'After the last line' }),
    complete: Type.Boolean({ description: 'False if the period has more lines than one statement' }),
    ledger_head: Nullable(LedgerHead),
    rows: Type.Array(
      Type.Object(
        {
          ...StatementRow.properties,
          balance_hours: Type.Number({ description: 'After it, in the order of these lines' }),
          recorded_on: Type.String({ format: 'date', description: "In the community's zone" }),
        },
        { title: 'ServiceStatementRow' },
      ),
    ),
  },
  { title: 'ServiceStatement' },
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
