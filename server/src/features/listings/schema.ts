import { Type, type Static } from 'typebox'

/** The listing used in all examples. */
export const LISTING = {
  id: 7,
  type: 'service',
  title: 'Sourdough bread',
  description: 'Two loaves',
  category: 'Kitchen',
  hours: 1.5,
  user_id: 42,
  status: 'active',
  created_at: '2026-01-31T09:00:00.000000Z',
  updated_at: '2026-01-31T09:00:00.000000Z',
}

export const ListingType = Type.Enum(['service', 'request'], { description: 'Whether it is offered or requested' })

export const Listing = Type.Object(
  {
    id: Type.Integer(),
    type: ListingType,
    title: Type.String(),
    description: Type.String(),
    category: Type.String(),
    hours: Type.Union([Type.Number(), Type.Null()], { description: 'The expected duration' }),
    user_id: Type.Integer(),
    status: Type.Literal('active'),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Listing',
    examples: [LISTING],
  },
)
export type Listing = Static<typeof Listing>
