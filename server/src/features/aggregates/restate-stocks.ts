import { isBucket, SUPPRESSED, toFigure, type Figure } from './figures.ts'
import { STOCKS, type Published } from './published.ts'
import { hidesEveryone, RULE, visibleMembersMin, type Contributions, type Rule } from './rule.ts'

/** The members' contributions to a stock at the close: of members and listings that partners can see. */
export interface Holdings extends Contributions {
  /** A stock, or the key of a category. */
  stock: string
  /** Number of members whose part has changed since the stock was last published. */
  changed: number
}

export interface StockFacts {
  holdings: Holdings[]
  /** All categories, by key. */
  categoryNames: Map<string, string>
}

export interface Restatement {
  published: Published
  /** The stocks and categories that were published again. Their count of changes restarts. */
  stated: string[]
}

/**
 * Publishes each stock again that enough members have changed since it was last published. The others keep their figure.
 * So the difference between two published figures never reveals a few members.
 */
export function restateStocks(facts: StockFacts, previous: Published, rule: Rule = RULE): Restatement {
  const due = facts.holdings.filter(({ changed }) => changed >= rule.changersMin)
  const toStockFigure = (held: Holdings, visibleMembers: number) =>
    hidesEveryone(held, visibleMembers, rule) ? toFigure(held.total) : SUPPRESSED
  // Everyone whom partners can see is behind the number of members. The other figures are checked against it.
  const everyone = due.find(({ stock }) => stock === 'active_members')
  const activeMembers = everyone ? toStockFigure(everyone, Infinity) : previous.stocks.active_members
  const visibleMembers = visibleMembersMin(activeMembers, rule)
  const figures = new Map<string, Figure>(due.map((held) => [held.stock, toStockFigure(held, visibleMembers)]))
  figures.set('active_members', activeMembers)
  const stocks = { ...previous.stocks }
  for (const stock of STOCKS) stocks[stock] = figures.get(stock) ?? stocks[stock]

  const categories: Published['categories'] = {}
  for (const [key, name] of facts.categoryNames) {
    const before = previous.categories[key]?.figure
    const figure = figures.get(key) ?? before
    if (figure && (before || isBucket(figure))) categories[key] = { name, figure }
  }
  return { published: { ...previous, stocks, categories }, stated: due.map(({ stock }) => stock) }
}
