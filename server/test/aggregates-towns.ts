import type { MonthFacts } from '../src/features/aggregates/close-periods.ts'
import type { Figure } from '../src/features/aggregates/figures.ts'
import type { Month } from '../src/features/aggregates/published.ts'
import type { StockFacts } from '../src/features/aggregates/restate-stocks.ts'
import {
  countOf,
  hidesEveryone,
  visibleMembersMin,
  type Contributions,
  type Rule,
} from '../src/features/aggregates/rule.ts'
import { ATTACKER, doersOf, type Deed } from './aggregates-lives.ts'

/* What is counted, from the deeds themselves. */

interface Part {
  /** Given and taken back, the one added to the other. */
  weight: number
  /** Deeds that count, and those of them that are not the attacker's. */
  deeds: number
  others: number
}

/** Deeds since a series was last published. Written without a look at the SQL: the database is held to it further down. */
export class Window {
  readonly deeds = new Set<Deed>()
  readonly #parts = new Map<number, Part>()
  #total = 0
  #members = 0
  /** Members behind what counts, the attacker's own doings apart. */
  others = 0

  add(deed: Deed, amount: number): void {
    this.deeds.add(deed)
    this.#count(deed, amount, 1)
  }

  /** What was made in this window is as if it had never been; what is older counts against it. */
  takeBack(deed: Deed, amount: number): void {
    if (this.deeds.delete(deed)) return this.#count(deed, amount, -1)
    this.#total -= amount
    for (const member of doersOf(deed)) this.#part(member).weight += amount
  }

  contributions(): Contributions {
    return { members: this.#members, total: this.#total, ...twoLargest(this.#parts.values(), ({ weight }) => weight) }
  }

  counts(member: number): boolean {
    return (this.#parts.get(member)?.deeds ?? 0) > 0
  }

  touches(members: number[]): boolean {
    return members.every((member) => (this.#parts.get(member)?.weight ?? 0) > 0)
  }

  #part(member: number): Part {
    const part = this.#parts.get(member) ?? { weight: 0, deeds: 0, others: 0 }
    this.#parts.set(member, part)
    return part
  }

  #count(deed: Deed, amount: number, by: 1 | -1): void {
    const isOther = !(deed.kind === 'credit' && deed.partner === ATTACKER)
    this.#total += by * amount
    for (const member of doersOf(deed)) {
      const part = this.#part(member)
      const before = { ...part }
      part.weight += by * amount
      part.deeds += by
      if (isOther) part.others += by
      this.#members += Number(part.deeds > 0) - Number(before.deeds > 0)
      this.others += Number(part.others > 0) - Number(before.others > 0)
    }
  }
}

/** A stock: who holds how much, and what was so when it was last stated. */
class Stock {
  readonly held = new Map<number, number>()
  readonly changed = new Set<number>()
  #stated = new Map<number, number>()

  change(member: number, by: number): void {
    const now = (this.held.get(member) ?? 0) + by
    if (now === 0) this.held.delete(member)
    else this.held.set(member, now)
    if (now === (this.#stated.get(member) ?? 0)) this.changed.delete(member)
    else this.changed.add(member)
  }

  state(): void {
    this.#stated = new Map(this.held)
    this.changed.clear()
  }

  contributions(): Contributions {
    let total = 0
    for (const held of this.held.values()) total += held
    return { members: this.held.size, total, ...twoLargest(this.held.values(), (held) => held) }
  }
}

function twoLargest<T>(parts: Iterable<T>, sizeOf: (part: T) => number): { largest: number; second: number } {
  let [largest, second] = [0, 0]
  for (const part of parts) {
    const size = sizeOf(part)
    if (size > largest) [largest, second] = [size, largest]
    else if (size > second) second = size
  }
  return { largest, second }
}

type Listing = Deed & { kind: 'publish' }

export class Town {
  readonly windows = {
    exchanges: new Window(),
    hours_exchanged: new Window(),
    trading_members: new Window(),
    new_members: new Window(),
  }
  /** By whose credits are judged together. */
  readonly credits = new Map<string, Window>()
  readonly stocks = new Map<string, Stock>()
  readonly #categoryNames = new Map<string, string>()
  readonly #active = new Set<number>()
  readonly #hidden = new Set<number>()
  readonly #listings = new Map<number, Map<Listing, 'open' | 'closed' | 'left'>>()
  readonly #sourceOf: (partner: number) => string
  exchangesEver = 0

  constructor(sourceOf: (partner: number) => string) {
    this.#sourceOf = sourceOf
  }

  happen(deed: Deed): void {
    if (deed.kind === 'join') {
      this.windows.new_members.add(deed, 1)
      this.#active.add(deed.member)
      this.#stock('active_members').change(deed.member, 1)
    } else if (deed.kind === 'leave' || deed.kind === 'return') {
      this.#comeOrGo(deed.member, deed.kind === 'return')
    } else if (deed.kind === 'hide' || deed.kind === 'show') {
      this.#hideOrShow(deed.member, deed.kind === 'hide')
    } else if (deed.kind === 'exchange') {
      this.windows.exchanges.add(deed, 1)
      this.windows.trading_members.add(deed, 1)
      this.windows.hours_exchanged.add(deed, deed.centihours)
      this.exchangesEver += 1
    } else if (deed.kind === 'credit') {
      this.#creditsOf(deed.partner).add(deed, deed.centihours)
    } else if (deed.kind === 'reversal' && deed.of.kind === 'credit') {
      this.#creditsOf(deed.of.partner).takeBack(deed.of, deed.of.centihours)
    } else if (deed.kind === 'reversal') {
      this.windows.exchanges.takeBack(deed.of, 1)
      this.windows.trading_members.takeBack(deed.of, 1)
      this.windows.hours_exchanged.takeBack(deed.of, deed.of.centihours)
      this.exchangesEver -= 1
    } else if (deed.kind === 'publish') {
      if (!this.#active.has(deed.member)) return
      this.#listingsOf(deed.member).set(deed, 'open')
      this.#list(deed, 1)
    } else if (deed.kind === 'close') {
      // What leaving has closed is closed: the office has nothing to do, and it comes back with the member.
      const listings = this.#listingsOf(deed.of.member)
      if (listings.get(deed.of) !== 'open') return
      listings.set(deed.of, 'closed')
      this.#list(deed.of, -1)
    }
  }

  monthFacts(month: Month, { literal, rule }: { literal?: boolean; rule: Rule }, activeMembers: Figure): MonthFacts {
    const { exchanges, hours_exchanged, trading_members, new_members } = this.windows
    return {
      month,
      flows: {
        exchanges: exchanges.contributions(),
        hours_exchanged: hours_exchanged.contributions(),
        trading_members: countOf(trading_members.contributions().members),
        new_members: countOf(new_members.contributions().members),
      },
      credits: [...this.credits].map(([source, window]) => ({
        partner_id: Number(source),
        ...window.contributions(),
        ...(literal && !isFitLiterally(window, visibleMembersMin(activeMembers, rule)) && { members: 0 }),
      })),
    }
  }

  stockFacts(): StockFacts {
    const holdings = [...this.stocks].map(([key, stock]) => {
      return { stock: key, changed: stock.changed.size, ...stock.contributions() }
    })
    return { holdings, categoryNames: this.#categoryNames }
  }

  /** Members whom partners can see and who are not behind what counts. */
  outsiders(window: Window): number {
    return [...this.#active].filter((member) => !this.#hidden.has(member) && !window.counts(member)).length
  }

  /** Listings stay open, but partners no longer see them. */
  #hideOrShow(member: number, hides: boolean): void {
    if (this.#hidden.has(member) === hides) return
    const count = (by: 1 | -1) => {
      this.#stock('active_members').change(member, by)
      for (const [listing, state] of this.#listingsOf(member)) if (state === 'open') this.#list(listing, by)
    }
    if (!hides) this.#hidden.delete(member)
    if (this.#active.has(member)) count(hides ? -1 : 1)
    if (hides) this.#hidden.add(member)
  }

  #comeOrGo(member: number, comes: boolean): void {
    if (this.#active.has(member) === comes) return
    if (comes) this.#active.add(member)
    else this.#active.delete(member)
    if (!this.#hidden.has(member)) this.#stock('active_members').change(member, comes ? 1 : -1)
    const listings = this.#listingsOf(member)
    for (const [listing, state] of listings) {
      if (state !== (comes ? 'left' : 'open')) continue
      listings.set(listing, comes ? 'open' : 'left')
      this.#list(listing, comes ? 1 : -1)
    }
  }

  #list({ type, category, member }: Listing, by: 1 | -1): void {
    if (this.#hidden.has(member)) return
    this.#stock(`active_${type}s`).change(member, by)
    this.#stock(`category:${category}`).change(member, by)
    this.#categoryNames.set(`category:${category}`, category)
  }

  #stock(name: string): Stock {
    return this.stocks.get(name) ?? this.stocks.set(name, new Stock()).get(name)!
  }

  #creditsOf(partner: number): Window {
    const source = this.#sourceOf(partner)
    return this.credits.get(source) ?? this.credits.set(source, new Window()).get(source)!
  }

  #listingsOf(member: number): Map<Listing, 'open' | 'closed' | 'left'> {
    return this.#listings.get(member) ?? this.#listings.set(member, new Map()).get(member)!
  }
}

/** All partners' credits together are fit, and so is what remains without any one partner's, or nothing remains. */
function isFitLiterally(window: Window, visibleMembers: number): boolean {
  const credits = [...window.deeds].filter((deed) => deed.kind === 'credit')
  const isFit = (partner: number) => {
    const rest = new Window()
    for (const deed of credits) if (deed.partner !== partner) rest.add(deed, deed.centihours)
    return rest.deeds.size === 0 || hidesEveryone(rest.contributions(), visibleMembers)
  }
  return (
    hidesEveryone(window.contributions(), visibleMembers) &&
    credits.every(({ partner }, n) => {
      return credits.findIndex((credit) => credit.partner === partner) !== n || isFit(partner)
    })
  )
}
