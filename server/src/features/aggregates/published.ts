import type { Figure } from './figures.ts'

/** A calendar month in the community's time zone, like 2026-07. */
export type Month = string

/** The flows that members cause, each with its own periods. */
export const MEMBER_FLOWS = ['exchanges', 'hours_exchanged', 'trading_members', 'new_members'] as const
export type MemberFlow = (typeof MEMBER_FLOWS)[number]

export const FLOWS = ['exchanges', 'hours_exchanged', 'hours_credited', 'trading_members', 'new_members'] as const
export type Flow = (typeof FLOWS)[number]

export const STOCKS = ['active_members', 'active_services', 'active_requests'] as const
export type Stock = (typeof STOCKS)[number]

/** Months that were published together, or that waited in vain. Never changes. */
export type Period = Figure & { from: Month; to: Month }

/** The state between two closes: everything published so far, and what is pending. Contains no exact figures. */
export interface Published {
  closed_through: Month | null
  /** `open_since` is the first unpublished month. */
  flows: Record<Flow, { open_since: Month; periods: Period[] }>
  /** Partners with unpublished credits, and the first month of these credits. */
  waiting_partners: Record<string, Month>
  stocks: Record<Stock, Figure>
  /** Only categories that were publishable once, because even a category's name may reveal a single member. */
  categories: Record<string, { name: string; figure: Figure }>
}

export function nothingPublished(firstMonth: Month): Published {
  const open = () => ({ open_since: firstMonth, periods: [] })
  return {
    closed_through: null,
    flows: {
      exchanges: open(),
      hours_exchanged: open(),
      hours_credited: open(),
      trading_members: open(),
      new_members: open(),
    },
    waiting_partners: {},
    stocks: {
      active_members: { suppressed: true },
      active_services: { suppressed: true },
      active_requests: { suppressed: true },
    },
    categories: {},
  }
}

export function monthAfter(month: Month): Month {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return number === 12
    ? `${`${year + 1}`.padStart(4, '0')}-01`
    : `${month.slice(0, 5)}${`${number + 1}`.padStart(2, '0')}`
}

/** How many months there are from one to the other, both included. */
export function countMonths(from: Month, to: Month): number {
  const [start, end] = [from, to].map((month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5))) as [
    number,
    number,
  ]
  return end - start + 1
}
