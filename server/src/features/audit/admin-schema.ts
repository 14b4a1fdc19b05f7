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
}

export const AuditExportQuery = Type.Object(FILTERS)
export const AuditQuery = Type.Object({ ...PageQuery, ...FILTERS })

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
    }),
    detail: Type.Record(Type.String(), Type.Unknown()),
    member_ids: Nullable(Type.Array(Type.Integer(), { description: 'Whose email addresses were read' })),
  },
  { title: 'AuditRecord' },
)
