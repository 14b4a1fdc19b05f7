import { toResponseTime } from '../../core/times.ts'
import { isBucket, sumOf, SUPPRESSED, type Figure } from './figures.ts'
import { FLOWS, monthAfter, nothingPublished, type Flow, type Published } from './published.ts'
import type { CommunityAggregates } from './schema.ts'

/** Renders the response body, which is stored and stays the same until the next close. */
export function renderDocument(published: Published, closedAt: Date | null): string {
  const data: CommunityAggregates = {
    closed_through: published.closed_through,
    closed_at: closedAt && toResponseTime(closedAt.toISOString().slice(0, -'Z'.length)),
    flows: Object.fromEntries(
      FLOWS.map((flow) => [flow, presentFlow(published, flow)]),
    ) as CommunityAggregates['flows'],
    stocks: {
      active_members: presentFigure(published.stocks.active_members),
      active_services: presentFigure(published.stocks.active_services),
      active_requests: presentFigure(published.stocks.active_requests),
      listings_by_category: presentCategories(published),
    },
  }
  return JSON.stringify({ data })
}

/** Restores the key order, which jsonb does not preserve. */
function presentFigure(figure: Figure): Figure {
  return isBucket(figure) ? { min: figure.min, max: figure.max } : SUPPRESSED
}

/** The document of a community without a closed month. */
export const NOTHING_CLOSED = renderDocument(nothingPublished('0000-01'), null)

function presentFlow({ flows, closed_through }: Published, flow: Flow): CommunityAggregates['flows'][Flow] {
  const { open_since, periods } = flows[flow]
  const closedPeriods = periods.map((period) => ({ from: period.from, to: period.to, figure: presentFigure(period) }))
  const isPending = closed_through !== null && open_since !== monthAfter(closed_through)
  return {
    total: sumOf(closedPeriods.map(({ figure }) => figure).filter(isBucket)),
    periods: isPending
      ? [...closedPeriods, { from: open_since, to: closed_through, figure: SUPPRESSED }]
      : closedPeriods,
  }
}

/** A single suppressed category could be derived from the total, so the smallest other one is suppressed too. */
function presentCategories({ categories }: Published): CommunityAggregates['stocks']['listings_by_category'] {
  const list = Object.values(categories)
    .map(({ name, figure }) => ({ category: name, figure: presentFigure(figure) }))
    .toSorted((a, b) => (a.category < b.category ? -1 : 1))
  if (list.filter(({ figure }) => !isBucket(figure)).length !== 1) return list
  // Choose by published values only, so that the choice reveals nothing more.
  const smallest = list
    .filter(({ figure }) => isBucket(figure))
    .toSorted((a, b) => minOf(a.figure) - minOf(b.figure))[0]
  return list.map((one) => (one === smallest ? { ...one, figure: SUPPRESSED } : one))
}

function minOf(figure: Figure): number {
  return isBucket(figure) ? figure.min : 0
}
