import { Type } from 'typebox'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Id } from '../../http/shared/ids.ts'

const TEXT_LENGTH_MAX = 500

const Status = Type.String({ pattern: '^[1-5](\\d\\d|xx)$', description: 'A status, or a class like 4xx' })
const Text = (description: string) => Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'text', description })
const Moment = Type.String({ format: 'date-time' })

export const PeriodQuery = { from: Type.Optional(Moment), until: Type.Optional(Moment) }

export const CallFilters = {
  partner_id: Type.Optional(Id),
  status: Type.Optional(Status),
  method: Type.Optional(Text('Like GET')),
  path: Type.Optional(Text('A part of the path')),
  error: Type.Optional(Text('A code like insufficient_scope')),
  request_id: Type.Optional(Text('The Request-Id of the answer')),
  ...PeriodQuery,
}

export const Call = Type.Object(
  {
    request_id: Type.String(),
    at: Time,
    partner_id: Nullable(Type.Integer()),
    partner_name: Nullable(Type.String()),
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    error: Nullable(Type.String()),
    duration_ms: Type.Number(),
  },
  { title: 'Call' },
)

export const CallDetail = Type.Object(
  {
    ...Call.properties,
    client_id: Nullable(Type.String({ description: 'The client that called' })),
    client_name: Nullable(Type.String()),
    route: Nullable(Type.String()),
    error_description: Nullable(Type.String()),
    address: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
  },
  { title: 'CallDetail' },
)

export const CallPoint = Type.Object(
  {
    at: Time,
    answered: Type.Integer(),
    unauthenticated: Type.Integer({ description: '401' }),
    forbidden: Type.Integer({ description: '403' }),
    limited: Type.Integer({ description: '429' }),
    rejected: Type.Integer({ description: 'All other 4xx' }),
    failed: Type.Integer({ description: '5xx' }),
  },
  { title: 'CallPoint' },
)

export const ErrorGroup = Type.Object(
  {
    status: Type.Integer(),
    error: Nullable(Type.String()),
    method: Type.String(),
    route: Nullable(Type.String({ description: 'The path with its parameters named; null for unknown paths' })),
    partner_id: Nullable(Type.Integer()),
    partner_name: Nullable(Type.String()),
    count: Type.Integer(),
    last_at: Time,
  },
  { title: 'ErrorGroup' },
)
