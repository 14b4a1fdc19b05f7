import { Type, type Static } from 'typebox'
import { Time } from '../../http/console/admin-shapes.ts'
import { Count } from '../../http/console/admin-shapes.ts'

const KINDS = {
  webhooks_failing: 'Endpoints to which nothing arrives, or that were disabled',
  hours_nearly_used: 'Partners that have credited four fifths of their hours of today',
  calls_limited: 'Partners that sent too many calls within the hour',
  credentials_expiring: 'Credentials that expire within two weeks, or have expired in the last two',
  backup_old: 'The last backup is more than a week old; only for somebody who owns all communities',
  import_refused: 'The last import left rows out',
  second_factor_missing: 'Administrators without a second factor where it is required; otherwise the caller alone',
  members_at_limit: 'Members whose balance is at the lower limit',
  members_idle: 'Active members without an exchange for six months',
} as const

export type AttentionKind = keyof typeof KINDS

const Kind = Type.Unsafe<AttentionKind>({
  title: 'AttentionKind',
  type: 'string',
  enum: Object.keys(KINDS),
  description: Object.entries(KINDS)
    .map(([kind, text]) => `${kind}: ${text}.`)
    .join(' '),
})

const Example = Type.Object({
  id: Type.Optional(Type.Integer({ description: 'Of the subscription, the partner, the member or the person' })),
  name: Type.String(),
  status: Type.Optional(Type.String()),
  since: Type.Optional(Time),
  client_id: Type.Optional(Type.String()),
  hours: Type.Optional(Type.Number()),
  limit_hours: Type.Optional(Type.Number()),
  calls: Type.Optional(Type.Integer()),
  refused: Type.Optional(Type.Integer()),
})
export type AttentionExample = Static<typeof Example>

export const Attention = Type.Object(
  { kind: Kind, count: Count, examples: Type.Array(Example, { description: 'The first few' }) },
  { title: 'Attention' },
)
export type Attention = Static<typeof Attention>
