import { closePeriods, type MonthFacts } from '../src/features/aggregates/close-periods.ts'
import {
  MEMBER_FLOWS,
  monthAfter,
  nothingPublished,
  type Month,
  type Published,
} from '../src/features/aggregates/published.ts'
import { renderDocument } from '../src/features/aggregates/render-document.ts'
import { restateStocks, type StockFacts } from '../src/features/aggregates/restate-stocks.ts'
import { countOf, hidesEveryone, RULE, type Contributions, type Rule } from '../src/features/aggregates/rule.ts'

/*
 * The attacker is a partner. It credits what it likes, reads the aggregates after every close for years (they do not move
 * in between), and remembers. What it must not learn is whether one member did one thing: docs/decisions/0010 has the
 * promise that is checked here, in the same words.
 */

// ---- What happens in a community -------------------------------------------------------------------------------------

export type Deed =
  | { kind: 'join' | 'leave' | 'return'; month: number; member: number }
  | { kind: 'exchange'; month: number; giver: number; receiver: number; centihours: number; backdated: boolean }
  | { kind: 'credit'; month: number; partner: number; member: number; centihours: number }
  | { kind: 'reversal'; month: number; of: Deed & { kind: 'exchange' | 'credit' } }
  | { kind: 'publish'; month: number; member: number; type: 'service' | 'request'; category: string }
  | { kind: 'close'; month: number; of: Deed & { kind: 'publish' } }

export const ATTACKER = 1

export const CARE_NETWORK = 2

export const TOWN_HALL = 3

const CATEGORIES = ['Garden', 'Kitchen', 'Music', 'Transport', 'Company']

interface Life {
  members: number
  months: number
  deeds: Deed[]
}

/** Small and seeded: the same life every time. */
export function dice(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, pick: <T>(list: readonly T[]) => list[below(list.length)]!, chance: (p: number) => next() < p }
}

/** Regulars never leave; the attacker credits some of them, so that its own doings are the same in every world. */
const REGULARS = 12

export function live(seed: number, members: number, months: number): Life {
  const { below, pick, chance } = dice(seed)
  const deeds: Deed[] = []
  let newest = 0
  const join = (month: number) => deeds.push({ kind: 'join', month, member: ++newest })
  for (let n = 0; n < members; n++) join(0)
  const gone = new Set<number>()
  const exchanges: (Deed & { kind: 'exchange' })[] = []
  const credits: (Deed & { kind: 'credit' })[] = []
  const listings: (Deed & { kind: 'publish' })[] = []
  const active = () => {
    for (;;) {
      const member = 1 + below(newest)
      if (!gone.has(member)) return member
    }
  }
  const busy = members * (0.2 + 0.1 * below(8))
  for (let month = 0; month < months; month++) {
    for (let n = below(2 + members / 15); n > 0; n--) join(month)
    for (let n = below(2 + members / 25); n > 0; n--) {
      const member = active()
      if (member <= REGULARS) continue
      gone.add(member)
      deeds.push({ kind: 'leave', month, member })
    }
    if (gone.size > 0 && chance(0.3)) {
      const member = pick([...gone])
      gone.delete(member)
      deeds.push({ kind: 'return', month, member })
    }
    for (let n = below(busy); n > 0; n--) {
      const [giver, receiver] = [active(), active()]
      if (giver === receiver) continue
      // Now and then somebody does more than all the others.
      const centihours = (1 + below(32)) * 25 * (chance(0.01) ? 40 : 1)
      const deed = { kind: 'exchange', month, giver, receiver, centihours, backdated: chance(0.1) } as const
      deeds.push(deed)
      exchanges.push(deed)
    }
    for (let n = below(members / 3); n > 0; n--) {
      const deed = {
        kind: 'credit',
        month,
        partner: CARE_NETWORK,
        member: active(),
        centihours: 100 + below(900),
      } as const
      deeds.push(deed)
      credits.push(deed)
    }
    // A partner that does little, and nothing in most months.
    if (chance(0.2)) {
      const deed = {
        kind: 'credit',
        month,
        partner: TOWN_HALL,
        member: active(),
        centihours: 100 + below(3000),
      } as const
      deeds.push(deed)
      credits.push(deed)
    }
    for (const [made, often] of [
      [exchanges, members / 20],
      [credits, members / 60],
    ] as const) {
      for (let n = below(1 + often); n > 0 && made.length > 0; n--) {
        const [of] = made.splice(below(made.length), 1)
        deeds.push({ kind: 'reversal', month, of: of! })
      }
    }
    for (let n = below(2 + members / (month === 0 ? 1 : 8)); n > 0; n--) {
      const category = chance(0.03) ? `Whim ${month}-${n}` : CATEGORIES[Math.min(below(5), below(5))]!
      const type = chance(0.6) ? 'service' : 'request'
      const deed = { kind: 'publish', month, member: active(), type, category } as const
      deeds.push(deed)
      listings.push(deed)
    }
    for (let n = below(1 + members / 12); n > 0 && listings.length > 0; n--) {
      const [of] = listings.splice(below(listings.length), 1)
      deeds.push({ kind: 'close', month, of: of! })
    }
  }
  return { members, months, deeds }
}

/** The same life, without the deed and what hangs on it. */
function without(life: Life, deed: Deed): Life {
  return { ...life, deeds: life.deeds.filter((one) => one !== deed && !('of' in one && one.of === deed)) }
}

/** The same life, in which the deed was another's measure. */
function withMore(life: Life, deed: Deed & { kind: 'exchange' | 'credit' }, centihours: number): Life {
  const more = { ...deed, centihours }
  const swap = (one: Deed): Deed =>
    one === deed ? more : 'of' in one && one.of === deed ? { ...one, of: more as never } : one
  return { ...life, deeds: life.deeds.map(swap) }
}

export function doersOf(deed: Deed): number[] {
  if (deed.kind === 'exchange') return [deed.giver, deed.receiver]
  return 'of' in deed ? doersOf(deed.of) : [deed.member]
}

// ---- The attacker ----------------------------------------------------------------------------------------------------

/** What it does in a month, knowing all it was answered before. */
export type Attacker = (month: number, answers: string[]) => Probes

interface Probes {
  credits: { member: number; centihours: number }[]
  /** The oldest of its credits. */
  takesBack?: boolean
}

/** The same to a dozen members, so that its part is told whenever it alone decides. */
export const steady: Attacker = () => ({
  credits: Array.from({ length: REGULARS }, (_, n) => ({ member: n + 1, centihours: 100 })),
})

/** Grows one member's part month by month, watching for the month in which it is too much: that tells what the rest is. */
export const weigher: Attacker = (month, answers) => ({
  credits: [...steady(month, answers).credits, { member: 1, centihours: 200 * (month % 20) }],
})

/**
 * Bisects: lays the edges of buckets where it wants to look, by what it credits itself. At times it tries what one large
 * credit does, does nothing, or takes an old credit back.
 */
export function prober(seed: number, members: number): Attacker {
  const { below, chance } = dice(seed)
  const crowd = Math.min(REGULARS, members)
  const OTHERS_MAX = 1_000_000
  let spent = 0
  let [low, high] = [0, OTHERS_MAX]
  return (month, answers) => {
    const last = answers.at(-1) && JSON.parse(answers.at(-1)!).data.flows.hours_credited.periods.at(-1)
    if (last?.figure.min !== undefined) {
      // What the others must have had, if they do every month as they did in this one.
      low = Math.max(low, last.figure.min * 100 - spent)
      high = Math.min(high, last.figure.max * 100 + 99 - spent)
      if (low > high) [low, high] = [0, OTHERS_MAX]
    }
    const takesBack = month % 5 === 4
    if (chance(0.1)) {
      spent = 0
      return { credits: chance(0.5) ? [{ member: 1 + below(crowd), centihours: 100_000 }] : [], takesBack }
    }
    spent = 24_000 + (1000 - (Math.round((low + high) / 2) % 1000))
    const share = Math.floor(spent / crowd)
    const credits = Array.from({ length: crowd }, (_, n) => ({ member: 1 + n, centihours: share }))
    credits[0]!.centihours += spent - share * crowd
    return { credits, takesBack }
  }
}

/** The attacker's deeds of a month. */
export function attackerOf(attacker: Attacker): (month: number, answers: string[]) => Deed[] {
  const mine: (Deed & { kind: 'credit' })[] = []
  return (month, answers) => {
    const { credits, takesBack } = attacker(month, answers)
    const made = credits.map((wish) => ({ kind: 'credit', month, partner: ATTACKER, ...wish }) as const)
    const old = takesBack ? mine.shift() : undefined
    mine.push(...made)
    return old ? [...made, { kind: 'reversal', month, of: old }] : made
  }
}

// ---- What is counted, from the deeds themselves ----------------------------------------------------------------------

interface Part {
  /** Given and taken back, the one added to the other. */
  weight: number
  /** Deeds that count, and those of them that are not the attacker's. */
  deeds: number
  others: number
}

/** Deeds since a series was last published. Written without a look at the SQL: the database is held to it further down. */
class Window {
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

class Town {
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

  monthFacts(month: Month, { literal }: Engine): MonthFacts {
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
        ...(literal && !isFitLiterally(window) && { members: 0 }),
      })),
    }
  }

  stockFacts(): StockFacts {
    const holdings = [...this.stocks].map(([key, stock]) => {
      return { stock: key, changed: stock.changed.size, ...stock.contributions() }
    })
    return { holdings, categoryNames: this.#categoryNames }
  }

  #comeOrGo(member: number, comes: boolean): void {
    if (this.#active.has(member) === comes) return
    if (comes) this.#active.add(member)
    else this.#active.delete(member)
    this.#stock('active_members').change(member, comes ? 1 : -1)
    const listings = this.#listingsOf(member)
    for (const [listing, state] of listings) {
      if (state !== (comes ? 'left' : 'open')) continue
      listings.set(listing, comes ? 'open' : 'left')
      this.#list(listing, comes ? 1 : -1)
    }
  }

  #list({ type, category, member }: Listing, by: 1 | -1): void {
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

// ---- A world: a life, an attacker, and what it is answered -----------------------------------------------------------

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
  withDoers: boolean[]
  /** By the deeds themselves: whether what was published hides everyone, with and without any one partner's credits. */
  isRight: boolean
}

export interface World {
  answers: string[]
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
  const world: World = { answers: [], outcomes: [] }
  for (let month = 0; month < life.months; month++) {
    for (const deed of byMonth[month]!) town.happen(deed)
    for (const deed of attackerDoes(month, world.answers)) town.happen(deed)

    const name = nameOf(month)
    const facts = town.monthFacts(name, engine)
    published = engine.close(facts, published, engine.rule)
    const stockFacts = town.stockFacts()
    const restatement = engine.restate(stockFacts, published, engine.rule)
    published = restatement.published

    const outcomes = new Map<string, Outcome>()
    const enter = (series: string, window: Window, behind: Contributions, isPublished: boolean) =>
      outcomes.set(series, {
        entered: isPublished ? `${behind.total}` : '',
        others: window.others,
        withDoers: groups.map((doers) => window.touches(doers)),
        isRight: !isPublished || hidesEveryone(behind),
      })
    for (const flow of MEMBER_FLOWS) {
      const isPublished = published.flows[flow].open_since === monthAfter(name)
      enter(flow, town.windows[flow], facts.flows[flow], isPublished)
      if (isPublished) town.windows[flow] = new Window()
    }
    for (const [source, window] of town.credits) {
      const behind = window.contributions()
      const isPublished = behind.largest > 0 && !(source in published.waiting_partners)
      enter(creditsBy(source), window, behind, isPublished)
      if (isPublished) town.credits.set(source, new Window())
    }
    for (const [key, stock] of town.stocks) {
      const isStated = restatement.stated.includes(key)
      const { members, total } = stock.contributions()
      outcomes.set(key, {
        entered: isStated ? `${members} ${total}` : '',
        others: stock.changed.size,
        withDoers: groups.map((doers) => doers.every((doer) => stock.changed.has(doer))),
        isRight: true,
      })
      if (isStated) stock.state()
    }
    world.outcomes.push(outcomes)
    world.answers.push(engine.render(published, closingTime(name), town))
  }
  return world
}

export const creditsBy = (source: string | number) => `hours_credited by ${source}`

/** All partners' credits together are fit, and so is what remains without any one partner's, or nothing remains. */
function isFitLiterally(window: Window): boolean {
  const credits = [...window.deeds].filter((deed) => deed.kind === 'credit')
  const isFit = (partner: number) => {
    const rest = new Window()
    for (const deed of credits) if (deed.partner !== partner) rest.add(deed, deed.centihours)
    return rest.deeds.size === 0 || hidesEveryone(rest.contributions())
  }
  return (
    hidesEveryone(window.contributions()) &&
    credits.every(({ partner }, n) => {
      return credits.findIndex((credit) => credit.partner === partner) !== n || isFit(partner)
    })
  )
}

// ---- The promise -----------------------------------------------------------------------------------------------------

const HIDING_MEMBERS_MIN = 10

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
    for (const [name, { entered, others, isRight }] of series) {
      const isOwn = name === creditsBy(ATTACKER)
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
  // Whoever does anything else must have joined; and the attacker's regulars are there.
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

/** Standing orders: the care network to a dozen members, the town hall to two, the same every month. */
export function standingOrders(months: number, townHall: number): Life {
  const deeds: Deed[] = Array.from({ length: 30 }, (_, n) => ({ kind: 'join', month: 0, member: n + 1 }))
  for (let month = 0; month < months; month++) {
    for (let member = 10; member < 22; member++) {
      deeds.push({ kind: 'credit', month, partner: CARE_NETWORK, member, centihours: 300 + member })
    }
    for (const member of [25, 26]) {
      if (townHall > 0) deeds.push({ kind: 'credit', month, partner: TOWN_HALL, member, centihours: townHall })
    }
  }
  return { members: 30, months, deeds }
}
