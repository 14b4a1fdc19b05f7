import { Type } from 'typebox'
import { PageMeta, PageQuery } from '../shared/paging.ts'

const LIMIT_MAX = 500
/** An index alone is counted up to here. */
export const COUNTED_MAX = 5000
/** Up to this many matches are sorted as a whole; more are read in the order of an index (decision 31). */
export const SORTED_MAX = 1000

/** Pages for people who look through thousands of rows. */
export const OfficePageQuery = {
  ...PageQuery,
  limit: Type.Optional({
    ...Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: 25 }),
    description: `Up to ${LIMIT_MAX}`,
  }),
  with_total: Type.Optional(Type.Boolean({ description: 'Count what fits the filters' })),
}

export const OfficePageMeta = Type.Object(
  {
    ...PageMeta.properties,
    total: Type.Optional(
      Type.Integer({
        description: `What fits the filters, counted up to ${COUNTED_MAX} or, where that takes long, ${SORTED_MAX}`,
      }),
    ),
    total_is_minimum: Type.Optional(Type.Boolean({ description: 'More than that fits' })),
  },
  { title: 'OfficePageMeta' },
)

/** A count that may have ended early, with one more than the maximum. */
export interface Total {
  counted: number
  max: number
}

export function describeTotal(total: Total | undefined) {
  if (total === undefined) return {}
  const { counted, max } = total
  return { total: Math.min(counted, max), total_is_minimum: counted > max }
}
