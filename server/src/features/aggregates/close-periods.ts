import { isBucket, toFigure } from './figures.ts'
import { MEMBER_FLOWS, monthAfter, type Flow, type MemberFlow, type Month, type Published } from './published.ts'
import { hidesEveryone, RULE, type Contributions, type Rule } from './rule.ts'

/** The contributions to each flow since it was last published. */
export interface MonthFacts {
  month: Month
  /** From the flow's `open_since` to the end of the month. */
  flows: Record<MemberFlow, Contributions>
  /** Per partner, from the first month with unpublished credits (or this one) to the end of the month. */
  credits: (Contributions & { partner_id: number })[]
}

const CENTIHOURS = 100
const UNITS: Record<Flow, number> = {
  exchanges: 1,
  hours_exchanged: CENTIHOURS,
  hours_credited: CENTIHOURS,
  trading_members: 1,
  new_members: 1,
}

/**
 * Closes one month. A flow that satisfies the rule is published from `open_since` on; any other is merged with the next
 * month and checked again. Published periods never change.
 *
 * Credits are checked per partner. So a partner cannot influence whether others' credits are published, and a partner
 * that subtracts its own is left with sums that satisfied the rule by themselves (docs/decisions/0010).
 */
export function closePeriods(facts: MonthFacts, previous: Published, rule: Rule = RULE): Published {
  const flows = { ...previous.flows }
  const publish = (flow: Flow, total: number) => {
    const { open_since: from, periods } = flows[flow]
    const figure = toFigure(Math.floor(total / UNITS[flow]))
    if (!isBucket(figure)) return
    flows[flow] = { open_since: monthAfter(facts.month), periods: [...periods, { from, to: facts.month, ...figure }] }
  }
  const isPublishable = (flow: Flow, contributions: Contributions) =>
    hidesEveryone(contributions, rule) && isBucket(toFigure(Math.floor(contributions.total / UNITS[flow])))

  for (const flow of MEMBER_FLOWS) if (isPublishable(flow, facts.flows[flow])) publish(flow, facts.flows[flow].total)

  const publishable = facts.credits.filter((credits) => isPublishable('hours_credited', credits))
  publish(
    'hours_credited',
    publishable.reduce((sum, { total }) => sum + total, 0),
  )
  const waiting = facts.credits.filter((credits) => credits.largest > 0 && !publishable.includes(credits))
  return {
    ...previous,
    closed_through: facts.month,
    flows,
    waiting_partners: Object.fromEntries(
      waiting.map(({ partner_id }) => [partner_id, previous.waiting_partners[partner_id] ?? facts.month]),
    ),
  }
}
