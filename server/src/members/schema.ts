import { Type } from 'typebox'

export const Member = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    email: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Only with the scope users.pii' })),
    status: Type.Literal('active'),
    joined_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Member' },
)
