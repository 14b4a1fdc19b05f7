import { Type, type Static } from 'typebox'

export const ListingType = Type.Enum(['service', 'request'])

export const Listing = Type.Object(
  {
    id: Type.Integer(),
    type: ListingType,
    title: Type.String(),
    description: Type.String(),
    category: Type.String(),
    hours: Type.Union([Type.Number(), Type.Null()], { description: 'What it is expected to take' }),
    user_id: Type.Integer(),
    status: Type.Literal('active'),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Listing' },
)
export type Listing = Static<typeof Listing>
