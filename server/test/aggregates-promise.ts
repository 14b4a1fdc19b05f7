import { monthAfter, type Month } from '../src/features/aggregates/published.ts'
import { prober } from './aggregates-attackers.ts'
import { ATTACKER, dice, doersOf, REGULARS, without, withMore, type Deed, type Life } from './aggregates-lives.ts'
import { creditsBy, FIRST_MONTH, observe, REAL, type World } from './aggregates-worlds.ts'

/* The promise of docs/decisions/0010, checked deed by deed. */

const HIDING_MEMBERS_MIN = 10
const OUTSIDERS_MIN = 10

/**
 * What gives one deed away, in two worlds that differ in nothing else; empty: nothing does.
 *
 * A figure is fed by series: a flow, one partner's credits, a stock. At the first close at which what enters a series is
 * not the same in both worlds, it is, in one of them, the doing of at least ten members, those whose deed it is among
 * them, not counting what the attacker credited itself. And no answer differs before a series of it does.
 */
export function betrayals(one: World, other: World, group = 0): string[] {
  const found: string[] = []
  const firstDifference = one.answers.findIndex((answer, close) => answer !== other.answers[close])
  const names = new Set([...one.outcomes, ...other.outcomes].flatMap((outcomes) => [...outcomes.keys()]))
  let firstEntry = Infinity
  for (const name of names) {
    if (name === creditsBy(ATTACKER)) continue
    const close = one.outcomes.findIndex((outcomes, n) => {
      return (outcomes.get(name)?.entered ?? '') !== (other.outcomes[n]!.get(name)?.entered ?? '')
    })
    if (close < 0) continue
    // What follows from a published figure that differs reveals no more than that figure.
    const isJudgedAlike = one.activeMembers.slice(0, close + 1).every((figure, n) => figure === other.activeMembers[n])
    if (name !== 'active_members' && !isJudgedAlike) continue
    firstEntry = Math.min(firstEntry, close)
    const outcomes = [one.outcomes[close]!.get(name), other.outcomes[close]!.get(name)]
    const isAmong = [outcomes[0]?.withDoers[group], outcomes[1]?.withDoers[0]]
    const isHidden = outcomes.some((outcome, n) => isAmong[n] && outcome!.others >= HIDING_MEMBERS_MIN)
    if (!isHidden) found.push(`${name} at close ${close}: ${JSON.stringify(outcomes)}`)
  }
  if (firstDifference >= 0 && firstDifference < firstEntry) {
    found.push(`the answer to close ${firstDifference}, though nothing that differs has entered a figure`)
  }
  return found
}

/** What is wrong with one world, judged by its deeds. */
function faults({ outcomes }: World): string[] {
  const found: string[] = []
  outcomes.forEach((series, close) => {
    for (const [name, { entered, others, outsiders, isRight }] of series) {
      const isOwn = name === creditsBy(ATTACKER)
      if (entered && outsiders < OUTSIDERS_MIN) {
        found.push(`${name} at close ${close}: only ${outsiders} members are not behind it`)
      }
      if (entered && !isOwn && others < HIDING_MEMBERS_MIN) found.push(`${name} at close ${close}: ${others} members`)
      if (entered && !isRight) found.push(`${name} at close ${close}: someone sticks out`)
    }
  })
  return found
}

type Answered = { from: Month; to: Month; figure: { suppressed?: true; min: number; max: number } }

/** What is wrong with the answers by themselves, from one of them on. */
function answerFaults({ answers }: World, since = 0): string[] {
  const found: string[] = []
  let before: Record<string, { periods: Answered[] }> = {}
  for (const answer of answers.slice(Math.max(0, since - 1))) {
    const { flows } = JSON.parse(answer).data
    for (const [name, { total, periods }] of Object.entries<{ total: Answered['figure']; periods: Answered[] }>(
      flows,
    )) {
      const told = periods.filter(({ figure }) => !figure.suppressed)
      const sum = (end: 'min' | 'max') => told.reduce((all, { figure }) => all + figure[end], 0)
      const isSum = told.length > 0 ? total.min === sum('min') && total.max === sum('max') : total.suppressed
      if (!isSum) found.push(`${name}: the total tells more than its periods`)
      const earlier = (before[name]?.periods ?? []).filter(({ figure }) => !figure.suppressed)
      const isFrozen = earlier.every(({ to, figure: { min, max } }, n) => {
        return told[n]?.to === to && told[n].figure.min === min && told[n].figure.max === max
      })
      if (!isFrozen) found.push(`${name}: not frozen`)
      const isWhole = periods.every(({ from }, n) => from === (n === 0 ? FIRST_MONTH : monthAfter(periods[n - 1]!.to)))
      if (!isWhole) found.push(`${name}: a gap or an overlap`)
    }
    before = flows
  }
  return found
}

export interface Tally {
  same: number
  hidden: number
  betrayed: string[]
}

/** Lives a life with and without single deeds of it, before the eyes of the attacker. */
export function attack(
  life: Life,
  seed: number,
  count: number,
  engine = REAL,
  isWanted = (_deed: Deed) => true,
): Tally {
  const { pick, chance } = dice(seed)
  const traders = new Set(life.deeds.flatMap((deed) => (deed.kind === 'join' ? [] : doersOf(deed))))
  // Members must join before they do anything else; and the attacker's regulars are there.
  const candidates = life.deeds.filter((deed) => {
    return isWanted(deed) && !(deed.kind === 'join' && (traders.has(deed.member) || deed.member <= REGULARS))
  })
  const deeds = candidates.length > 0 ? Array.from({ length: count }, () => pick(candidates)) : []
  const view = (each: Life, groups: number[][]) => observe(each, prober(seed, life.members), groups, engine)
  const world = view(life, deeds.map(doersOf))
  const tally: Tally = { same: 0, hidden: 0, betrayed: [...faults(world), ...answerFaults(world)] }
  deeds.forEach((deed, n) => {
    const isMeasured = deed.kind === 'exchange' || deed.kind === 'credit'
    const twin = isMeasured && chance(0.3) ? withMore(life, deed, deed.centihours * 30) : without(life, deed)
    const other = view(twin, [doersOf(deed)])
    const difference = world.answers.findIndex((answer, close) => answer !== other.answers[close])
    const found = [...betrayals(world, other, n), ...faults(other)]
    if (difference >= 0) found.push(...answerFaults(other, difference))
    if (found.length > 0) tally.betrayed.push(`${JSON.stringify(deed)}: ${found.join('; ')}`)
    else if (difference < 0) tally.same += 1
    else tally.hidden += 1
  })
  return tally
}
