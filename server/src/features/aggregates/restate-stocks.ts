import { isBucket, SUPPRESSED, toFigure, type Figure } from './figures.ts'
import { STOCKS, type Published } from './published.ts'
import { hidesEveryone, RULE, type Contributions, type Rule } from './rule.ts'

/** Who holds a stock at the close. */
export interface Holdings extends Contributions {
  /** One of the stocks, or a category's key. */
  stock: string
  /** Members whose part of it is not what it was when the stock was last stated. */
  changed: number
}

export interface StockFacts {
  holdings: Holdings[]
  /** All categories there are, by key. */
  categoryNames: Map<string, string>
}

export interface Restatement {
  published: Published
  /** The stocks and categories that were stated anew: from here on, changes of them are counted afresh. */
  stated: string[]
}

/**
 * States anew each stock that enough members changed since it was last stated; the others stay as they were told. From
 * one statement to the next is never a few members' doing, whether or not the figure looks different.
 */
export function restateStocks(facts: StockFacts, previous: Published, rule: Rule = RULE): Restatement {
  const due = facts.holdings.filter(({ changed }) => changed >= rule.changersMin)
  const figures = new Map(
    due.map((held): [string, Figure] => [held.stock, hidesEveryone(held, rule) ? toFigure(held.total) : SUPPRESSED]),
  )
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
