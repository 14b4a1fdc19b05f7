import { isBucket, toFigure } from './figures.ts'
import { MEMBER_FLOWS, monthAfter, type Flow, type MemberFlow, type Month, type Published } from './published.ts'
import { hidesEveryone, RULE, type Contributions, type Rule } from './rule.ts'

/** What a close has to know of the month: who is behind each flow since it was last published. */
export interface MonthFacts {
  month: Month
  /** From `open_since` of the flow up to the end of the month. */
  flows: Record<MemberFlow, Contributions>
  /** Of each partner, from the first month of which credits wait (else this one) up to the end of the month. */
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
 * Closes one month: each flow that is fit is published from where it stood open; what is not fit waits, and is judged
 * again together with the next month. What is published never changes.
 *
 * Partners' credits are judged partner by partner. So nobody's own credits, however well chosen, decide whether those of
 * others are told, and whoever subtracts their own is left with sums that were fit by themselves (docs/decisions/0010).
 */
export function closePeriods(facts: MonthFacts, previous: Published, rule: Rule = RULE): Published {
  const flows = { ...previous.flows }
  const publish = (flow: Flow, total: number) => {
    const { open_since: from, periods } = flows[flow]
    const figure = toFigure(Math.floor(total / UNITS[flow]))
    if (!isBucket(figure)) return
    flows[flow] = { open_since: monthAfter(facts.month), periods: [...periods, { from, to: facts.month, ...figure }] }
  }
  const isFit = (flow: Flow, behind: Contributions) =>
    hidesEveryone(behind, rule) && isBucket(toFigure(Math.floor(behind.total / UNITS[flow])))

  for (const flow of MEMBER_FLOWS) if (isFit(flow, facts.flows[flow])) publish(flow, facts.flows[flow].total)

  const fitting = facts.credits.filter((credits) => isFit('hours_credited', credits))
  publish(
    'hours_credited',
    fitting.reduce((sum, { total }) => sum + total, 0),
  )
  const waiting = facts.credits.filter((credits) => credits.largest > 0 && !fitting.includes(credits))
  return {
    ...previous,
    closed_through: facts.month,
    flows,
    waiting_partners: Object.fromEntries(
      waiting.map(({ partner_id }) => [partner_id, previous.waiting_partners[partner_id] ?? facts.month]),
    ),
  }
}
