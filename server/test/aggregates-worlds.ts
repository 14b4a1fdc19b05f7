import { closePeriods } from '../src/features/aggregates/close-periods.ts'
import { isBucket, toFigure } from '../src/features/aggregates/figures.ts'
import {
  MEMBER_FLOWS,
  monthAfter,
  nothingPublished,
  type Month,
  type Published,
} from '../src/features/aggregates/published.ts'
import { renderDocument } from '../src/features/aggregates/render-document.ts'
import { restateStocks } from '../src/features/aggregates/restate-stocks.ts'
import {
  hidesEveryone,
  RULE,
  visibleMembersMin,
  type Contributions,
  type Rule,
} from '../src/features/aggregates/rule.ts'
import { attackerOf, type Attacker } from './aggregates-attackers.ts'
import type { Deed, Life } from './aggregates-lives.ts'
import { Town, Window } from './aggregates-towns.ts'

/* A world: a life, an attacker, and what it is answered. */

/** How the answers come about; the real way, or one that a test spoils to see whether it is found out. */
export interface Engine {
  rule: Rule
  /** Which partners' credits are judged together. */
  source: (partner: number) => string
  /** The design's wording, taken literally: all partners together, and what remains without any one of them, if anything. */
  literal?: boolean
  close: typeof closePeriods
  restate: typeof restateStocks
  render: (published: Published, closedAt: Date, town: Town) => string
}

export const REAL: Engine = {
  rule: RULE,
  source: (partner) => `${partner}`,
  close: closePeriods,
  restate: restateStocks,
  render: renderDocument,
}

/** What one series came to at one close. Equal outcomes: nothing that the worlds differ in has entered a figure. */
interface Outcome {
  entered: string
  /** Members behind it, the attacker's own credits apart; and for each deed it is about, whether its doers are among them. */
  others: number
  /** Members whom partners can see and who are not behind it. */
  outsiders: number
  withDoers: boolean[]
  /** By the deeds themselves: whether what was published hides everyone, with and without any one partner's credits. */
  isRight: boolean
}

export interface World {
  answers: string[]
  /** Per close, the published number of members: the other figures are judged by it. */
  activeMembers: string[]
  /** Per close, by series. */
  outcomes: Map<string, Outcome>[]
}

export const FIRST_MONTH: Month = '2021-01'

export function nameOf(month: number): Month {
  let name = FIRST_MONTH
  for (let n = 0; n < month; n++) name = monthAfter(name)
  return name
}

/** A day after the earliest moment, in whatever time zone. */
export function closingTime(month: Month): Date {
  return new Date(`${monthAfter(month)}-12T00:00:00Z`)
}

export function observe(life: Life, attacker: Attacker, groups: number[][] = [], engine: Engine = REAL): World {
  const town = new Town(engine.source)
  const byMonth: Deed[][] = Array.from({ length: life.months }, () => [])
  for (const deed of life.deeds) byMonth[deed.month]!.push(deed)
  const attackerDoes = attackerOf(attacker)
  let published = nothingPublished(FIRST_MONTH)
  const world: World = { answers: [], activeMembers: [], outcomes: [] }
  for (let month = 0; month < life.months; month++) {
    for (const deed of byMonth[month]!) town.happen(deed)
    for (const deed of attackerDoes(month, world.answers)) town.happen(deed)

    const name = nameOf(month)
    const restatement = engine.restate(town.stockFacts(), published, engine.rule)
    const { active_members } = restatement.published.stocks
    const facts = town.monthFacts(name, engine, active_members)
    published = engine.close(facts, restatement.published, engine.rule)
    const visibleMembers = visibleMembersMin(active_members)

    const outcomes = new Map<string, Outcome>()
    const enter = (series: string, window: Window, behind: Contributions, isPublished: boolean) =>
      outcomes.set(series, {
        entered: isPublished ? `${behind.total}` : '',
        others: window.others,
        outsiders: isPublished ? town.outsiders(window) : 0,
        withDoers: groups.map((doers) => window.touches(doers)),
        isRight: !isPublished || hidesEveryone(behind, visibleMembers),
      })
    for (const flow of MEMBER_FLOWS) {
      const last = published.flows[flow].periods.at(-1)
      const isPublished = last?.to === name && isBucket(last)
      enter(flow, town.windows[flow], facts.flows[flow], isPublished)
      if (published.flows[flow].open_since === monthAfter(name)) town.windows[flow] = new Window()
    }
    for (const [source, window] of town.credits) {
      const behind = window.contributions()
      const judged = facts.credits.find(({ partner_id }) => partner_id === Number(source))!
      const isPublished =
        hidesEveryone(judged, visibleMembersMin(active_members, engine.rule), engine.rule) &&
        isBucket(toFigure(Math.floor(behind.total / 100)))
      enter(creditsBy(source), window, behind, isPublished)
      if (!(source in published.waiting_partners)) town.credits.set(source, new Window())
    }
    const visibleNow = town.stocks.get('active_members')?.held.size ?? 0
    for (const [key, stock] of town.stocks) {
      const isStated = restatement.stated.includes(key)
      const figure = published.stocks[key as never] ?? published.categories[key]?.figure
      const isTold = isStated && figure !== undefined && isBucket(figure)
      const { members, total } = stock.contributions()
      outcomes.set(key, {
        entered: isStated ? `${members} ${total}` : '',
        others: stock.changed.size,
        outsiders: isTold && key !== 'active_members' ? visibleNow - members : Infinity,
        withDoers: groups.map((doers) => doers.every((doer) => stock.changed.has(doer))),
        isRight: true,
      })
      if (isStated) stock.state()
    }
    world.outcomes.push(outcomes)
    world.activeMembers.push(JSON.stringify(active_members))
    world.answers.push(engine.render(published, closingTime(name), town))
  }
  return world
}

export const creditsBy = (source: string | number) => `hours_credited by ${source}`
