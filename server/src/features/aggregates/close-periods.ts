import { isBucket, SUPPRESSED, toFigure, type Figure } from './figures.ts'
import {
  countMonths,
  FLOWS,
  MEMBER_FLOWS,
  monthAfter,
  type Flow,
  type MemberFlow,
  type Month,
  type Published,
} from './published.ts'
import { hidesEveryone, RULE, visibleMembersMin, type Contributions, type Rule } from './rule.ts'

/** The contributions to each flow since it was last published. */
export interface MonthFacts {
  month: Month
  /** From the flow's `open_since` to the end of the month. */
  flows: Record<MemberFlow, Contributions>
  /** Per partner, from the first month with unpublished credits (or this one) to the end of the month. */
  credits: (Contributions & { partner_id: number })[]
}

/**
 * A period that is not publishable by then never is. Months only add contributors: without an end, a community in which
 * everyone has traded once would never publish anything again. The time alone decides, so the end reveals nothing.
 */
export const PERIOD_MONTHS_MAX = 12

const CENTIHOURS = 100
const UNITS: Record<Flow, number> = {
  exchanges: 1,
  hours_exchanged: CENTIHOURS,
  hours_credited: CENTIHOURS,
  trading_members: 1,
  new_members: 1,
}

/**
 * Closes one month, after the stocks. A flow that satisfies the rule is published from `open_since` on; any other is merged
 * with the next month and checked again, for up to a year. Periods never change.
 *
 * Credits are checked per partner. So a partner cannot influence whether others' credits are published, and a partner
 * that subtracts its own is left with sums that satisfied the rule by themselves (docs/decisions/0010).
 */
export function closePeriods(facts: MonthFacts, previous: Published, rule: Rule = RULE): Published {
  const flows = { ...previous.flows }
  const visibleMembers = visibleMembersMin(previous.stocks.active_members, rule)
  const isPublishable = (flow: Flow, contributions: Contributions) =>
    hidesEveryone(contributions, visibleMembers, rule) && isBucket(toFlowFigure(flow, contributions.total))
  const isOver = (since: Month) => countMonths(since, facts.month) >= PERIOD_MONTHS_MAX

  const publishable = facts.credits.filter((credits) => isPublishable('hours_credited', credits))
  const figures = Object.fromEntries([
    ...MEMBER_FLOWS.map((flow): [Flow, Figure] => {
      const { [flow]: contributions } = facts.flows
      return [flow, isPublishable(flow, contributions) ? toFlowFigure(flow, contributions.total) : SUPPRESSED]
    }),
    ['hours_credited', toFlowFigure('hours_credited', sumTotals(publishable))],
  ]) as Record<Flow, Figure>
  for (const flow of FLOWS) {
    const { open_since: from, periods } = flows[flow]
    if (!isBucket(figures[flow]) && !isOver(from)) continue
    const period = { from, to: facts.month, ...figures[flow] }
    flows[flow] = { open_since: monthAfter(facts.month), periods: [...periods, period] }
  }

  const waiting = facts.credits
    .filter((credits) => credits.largest > 0 && !publishable.includes(credits))
    .map(({ partner_id }): [number, Month] => [partner_id, previous.waiting_partners[partner_id] ?? facts.month])
    .filter(([, since]) => !isOver(since))
  return { ...previous, closed_through: facts.month, flows, waiting_partners: Object.fromEntries(waiting) }
}

function toFlowFigure(flow: Flow, total: number): Figure {
  return toFigure(Math.floor(total / UNITS[flow]))
}

function sumTotals(parts: Contributions[]): number {
  return parts.reduce((sum, { total }) => sum + total, 0)
}
