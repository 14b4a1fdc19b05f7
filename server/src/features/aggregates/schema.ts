import { Type, type Static } from 'typebox'

const SUPPRESSED = { suppressed: true }

const Figure = Type.Union(
  [
    Type.Object({ min: Type.Integer(), max: Type.Integer() }, { title: 'Bucket' }),
    Type.Object(
      {
        suppressed: Type.Literal(true, {
          description: 'The figure is below 10, or is based on fewer than ten members, or excludes fewer than ten',
        }),
      },
      { title: 'Suppressed' },
    ),
  ],
  { title: 'Figure' },
)

const Month = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}$',
  description: "A calendar month in the community's time zone",
})

const flow = (description: string) =>
  Type.Object(
    {
      total: Figure,
      periods: Type.Array(Type.Object({ from: Month, to: Month, figure: Figure }, { title: 'Period' }), {
        description:
          'Oldest first. The last one is suppressed until it can be merged with more months; after a year it stays suppressed.',
      }),
    },
    { title: 'Flow', description },
  )

const FLOW = {
  total: { min: 500, max: 518 },
  periods: [
    { from: '2025-11', to: '2025-12', figure: { min: 260, max: 269 } },
    { from: '2026-01', to: '2026-01', figure: { min: 240, max: 249 } },
  ],
}
const EXAMPLE = {
  closed_through: '2026-01',
  closed_at: '2026-02-11T00:00:00.000000Z',
  flows: {
    exchanges: FLOW,
    hours_exchanged: FLOW,
    hours_credited: { total: SUPPRESSED, periods: [{ from: '2025-11', to: '2026-01', figure: SUPPRESSED }] },
    trading_members: FLOW,
    new_members: FLOW,
  },
  stocks: {
    active_members: { min: 240, max: 249 },
    active_services: { min: 170, max: 179 },
    active_requests: { min: 120, max: 129 },
    listings_by_category: [
      { category: 'Garden', figure: { min: 40, max: 49 } },
      { category: 'Kitchen', figure: SUPPRESSED },
      { category: 'Music', figure: SUPPRESSED },
    ],
  },
}

export const CommunityAggregates = Type.Object(
  {
    closed_through: Type.Union([Month, Type.Null()], {
      description: 'The last closed month; its figures no longer change',
    }),
    closed_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    flows: Type.Object(
      {
        exchanges: flow('Exchanges between members, without reversed ones'),
        hours_exchanged: flow('Whole hours, rounded down'),
        hours_credited: flow(
          'Credited by partners, in whole hours, rounded down. The credits of a partner count in the period in which they concern enough members.',
        ),
        trading_members: flow(
          'Distinct members of the period. A member who trades in several periods counts in each, and so in the total.',
        ),
        new_members: flow('Members recorded'),
      },
      { description: 'Activity in closed months. Totals are the sums of the published periods.' },
    ),
    stocks: Type.Object(
      {
        active_members: Figure,
        active_services: Figure,
        active_requests: Figure,
        listings_by_category: Type.Array(Type.Object({ category: Type.String(), figure: Figure })),
      },
      {
        description:
          'The state that partners could see when a month was last closed after enough members had changed it. Hidden members and their listings are not counted.',
      },
    ),
  },
  { title: 'CommunityAggregates', examples: [EXAMPLE] },
)
export type CommunityAggregates = Static<typeof CommunityAggregates>
