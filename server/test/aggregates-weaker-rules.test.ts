import { describe, expect, test } from 'vitest'
import { closePeriods } from '../src/features/aggregates/close-periods.ts'
import { toFigure } from '../src/features/aggregates/figures.ts'
import { monthAfter } from '../src/features/aggregates/published.ts'
import { renderDocument } from '../src/features/aggregates/render-document.ts'
import { restateStocks } from '../src/features/aggregates/restate-stocks.ts'
import { RULE } from '../src/features/aggregates/rule.ts'
import { steady, weigher } from './aggregates-attackers.ts'
import { type Deed, TOWN_HALL, live, standingOrders } from './aggregates-lives.ts'
import { betrayals, attack } from './aggregates-promise.ts'
import { type Engine, REAL, observe } from './aggregates-worlds.ts'

/** Whether any of a few lives is betrayed. */
function isCaught(engine: Engine, isWanted?: (deed: Deed) => boolean): boolean {
  return [1, 2, 3, 4].some((seed) => attack(live(seed, 30, 36), seed, 20, engine, isWanted).betrayed.length > 0)
}

const isWhim = (deed: Deed) => deed.kind === 'publish' && deed.category.startsWith('Whim')

/** The design's rule for partners' credits, word by word. */
const LITERAL: Engine = { ...REAL, source: () => '0', literal: true }

const nameAtOnce: Engine['restate'] = (facts, previous, rule) => {
  const { published, stated } = restateStocks(facts, previous, rule)
  const named = facts.holdings.filter(({ stock }) => stock.startsWith('category:'))
  const unnamed = named.filter(({ stock }) => !published.categories[stock])
  const early = unnamed.map(({ stock }) => [stock, { name: stock, figure: { suppressed: true as const } }])
  return { published: { ...published, categories: { ...published.categories, ...Object.fromEntries(early) } }, stated }
}

const totalOfAll: Engine['render'] = (published, closedAt, { exchangesEver }) => {
  const document = JSON.parse(renderDocument(published, closedAt))
  document.data.flows.exchanges.total = toFigure(exchangesEver)
  return JSON.stringify(document)
}

const skipEmptyMonths: Engine['close'] = (facts, previous, rule) => {
  const published = closePeriods(facts, previous, rule)
  const { new_members } = published.flows
  if (facts.flows.new_members.total > 0) return published
  const moved = { ...new_members, open_since: monthAfter(facts.month) }
  return { ...published, flows: { ...published.flows, new_members: moved } }
}

describe('a weaker rule is found out', () => {
  test('the real one is not, by the same tests', () => {
    expect(isCaught(REAL)).toBe(false)
    expect(isCaught(REAL, isWhim)).toBe(false)
  })

  test('seven members instead of ten', () => {
    expect(isCaught({ ...REAL, rule: { ...RULE, membersMin: 7 } })).toBe(true)
  })

  test('nine members', () => {
    expect(isCaught({ ...REAL, rule: { ...RULE, membersMin: 9 } })).toBe(true)
  })

  test('no minimum of members who are not behind a figure', () => {
    expect(isCaught({ ...REAL, rule: { ...RULE, outsidersMin: 0 } })).toBe(true)
  })

  test('no limit for the largest contributors', () => {
    expect(isCaught({ ...REAL, rule: { ...RULE, wholePerLargestMin: 1, largestPerRestMax: 10 ** 9 } })).toBe(true)
  })

  test('stocks that follow every change', () => {
    expect(isCaught({ ...REAL, rule: { ...RULE, changersMin: 1 } })).toBe(true)
  })

  test('the attacker’s own credits make up the ten', () => {
    expect(isCaught({ ...REAL, source: () => '0' })).toBe(true)
  })

  test('“or nothing remains”: a partner that is alone finds out when another credits one member', () => {
    const alone = standingOrders(12, 0)
    const deeds = alone.deeds.filter((deed) => deed.kind !== 'credit')
    const once: Deed = { kind: 'credit', month: 5, partner: TOWN_HALL, member: 25, centihours: 100 }
    const view = (all: Deed[], engine: Engine) => observe({ ...alone, deeds: all }, steady, [[25]], engine)
    expect(betrayals(view(deeds, LITERAL), view([...deeds, once], LITERAL))).not.toEqual([])
    expect(view([...deeds, once], REAL).answers).toEqual(view(deeds, REAL).answers)
    expect(view(deeds, REAL).answers.at(-1)).toContain('"hours_credited":{"total":{"min"')
  })

  test("checking partners together lets one partner's credits influence whether another's are published", () => {
    const views = [700, 1400].map((amount) => observe(standingOrders(40, amount), weigher, [], LITERAL).answers)
    expect(views[0]).not.toEqual(views[1])
  })

  test('a category is named as soon as it has a listing', () => {
    expect(isCaught({ ...REAL, restate: nameAtOnce }, isWhim)).toBe(true)
  })

  test('totals of all there is, not of what was published', () => {
    expect(isCaught({ ...REAL, render: totalOfAll })).toBe(true)
  })

  test('months in which nothing happened are left out of the label', () => {
    expect(isCaught({ ...REAL, close: skipEmptyMonths })).toBe(true)
  })
})
