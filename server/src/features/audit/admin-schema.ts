import { Type } from 'typebox'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Id } from '../../http/shared/ids.ts'
import { PageQuery } from '../../http/shared/paging.ts'

const NAME_LENGTH_MAX = 100
const Name = Type.String({ maxLength: NAME_LENGTH_MAX, format: 'text' })

const FILTERS = {
  actor_kind: Type.Optional(Type.Enum(['admin', 'client', 'command', 'system'])),
  actor_id: Type.Optional(Id),
  action: Type.Optional(
    Type.String({ maxLength: NAME_LENGTH_MAX, format: 'text', description: 'One action, or all of a kind: partner.' }),
  ),
  subject_kind: Type.Optional(Name),
  subject_id: Type.Optional(Id),
  from: Type.Optional(Time),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before this time' })),
  batch: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'Only the entries of one import, by the batch in the detail of its own entry',
    }),
  ),
}

export const AuditExportQuery = Type.Object(FILTERS)
export const AuditQuery = Type.Object({
  ...PageQuery,
  ...FILTERS,
  grouped: Type.Optional(
    Type.Boolean({
      description:
        'Without the entries of imports, and with one entry (members.email_reads) for all calls of a client that read ' +
        'email addresses on a day',
    }),
  ),
})

const Person = Type.Object({ id: Type.Integer(), name: Type.String() })

export const AuditRecord = Type.Object(
  {
    id: Type.Integer(),
    at: Time,
    actor: Type.Object({
      kind: Type.Enum(['admin', 'client', 'command', 'system']),
      id: Nullable(Type.Integer()),
      name: Type.String(),
      partner: Nullable(Type.String({ description: 'Whose client it was' })),
    }),
    action: Type.String(),
    subject: Type.Object({
      kind: Type.String(),
      id: Nullable(Type.Integer()),
      name: Nullable(Type.String({ description: 'As it is called now; null for what is gone or has no name' })),
      partner: Nullable(Type.String({ description: 'Whose client it is' })),
    }),
    transfer: Nullable(
      Type.Object(
        { hours: Type.Number(), giver: Nullable(Person), receiver: Nullable(Person) },
        { description: 'What the subject moved; null for everything else' },
      ),
    ),
    detail: Type.Record(Type.String(), Type.Unknown()),
    member_ids: Nullable(Type.Array(Type.Integer(), { description: 'Whose email addresses were read' })),
  },
  { title: 'AuditRecord' },
)
