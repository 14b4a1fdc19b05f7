import type { Bucket, Figure } from './figures.ts'

/** A calendar month of the community, like 2026-07. */
export type Month = string

/** What is counted from the members' own doings, each over its own months. */
export const MEMBER_FLOWS = ['exchanges', 'hours_exchanged', 'trading_members', 'new_members'] as const
export type MemberFlow = (typeof MEMBER_FLOWS)[number]

export const FLOWS = ['exchanges', 'hours_exchanged', 'hours_credited', 'trading_members', 'new_members'] as const
export type Flow = (typeof FLOWS)[number]

export const STOCKS = ['active_members', 'active_services', 'active_requests'] as const
export type Stock = (typeof STOCKS)[number]

/** Months that were published together; frozen. */
export interface Period extends Bucket {
  from: Month
  to: Month
}

/** All that was ever published, and what waits: the memory from one close to the next. No exact figure is in it. */
export interface Published {
  closed_through: Month | null
  /** `open_since`: the first month that has not been published. */
  flows: Record<Flow, { open_since: Month; periods: Period[] }>
  /** Partners some of whose credits wait to be published, and the first month that these are from. */
  waiting_partners: Record<string, Month>
  stocks: Record<Stock, Figure>
  /** By key. Only those that were fit to be published once: the mere name of a category can be one member's doing. */
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
