import type { Random } from './random.ts'
import { NOTES, PAYMENT_NOTES } from './texts.ts'
import { randomFor, type Calendar, type Offers, type People, type TownPlan } from './town-people.ts'

/** One of this many credits is reversed. */
export const CREDITS_PER_REVERSAL = 60
const TRADING_DAYS = 365
const LOWER_LIMIT_CENTIHOURS = -1_000
const QUARTER_CENTIHOURS = 25
const EXCHANGE_QUARTERS_MAX = 32
const CREDIT_HOURS_MAX = 8
const NOTE_SHARE = 0.2
const PARTNER_TRIES_MAX = 40
/** Every trader's first exchange falls into the first part of their membership, of this size. */
const DEBUT_SHARE = 0.9

/** `undefined` as debit or credit is the partner. */
export interface TownTransfer {
  kind: 'exchange' | 'credit' | 'reversal'
  debit: number | undefined
  credit: number | undefined
  amount: number
  debitAfter: number | undefined
  creditAfter: number | undefined
  listing: number | undefined
  /** In the town's time zone. */
  day: string
  /** Milliseconds since 1970. */
  at: number
  note: string | undefined
}

/** Simulates the year with the balance of every member. */
export function* transferRows(
  { members, seed }: TownPlan,
  counts: { exchanges: number; credits: number },
  people: People,
  offers: Offers,
  calendar: Calendar,
): Generator<TownTransfer> {
  const random = randomFor(seed, 'transfers')
  const balances = new Int32Array(members)
  const slots = counts.exchanges + counts.credits
  const daysAt = (slot: number) => (slot / slots) * TRADING_DAYS - TRADING_DAYS
  const debuts = planDebuts(random, people, slots, (slot) => calendar.moment(daysAt(slot)).at)
  let [joined, debutsDone, creditsMade] = [0, 0, 0]
  for (let slot = 0; slot < slots; slot++) {
    const { at, day } = calendar.moment(daysAt(slot + random.next()))
    while (joined < people.traders.length && people.joinedAt[people.traders[joined]!]! < at) joined++
    const isCredit = Math.floor(((slot + 1) * counts.credits) / slots) > creditsMade
    if (isCredit) {
      creditsMade++
      const credit = people.traders[random.below(joined)]!
      const amount = 100 * (1 + random.below(CREDIT_HOURS_MAX))
      const partner = undefined
      const note = random.pick(PAYMENT_NOTES)
      yield moveHours(balances, { kind: 'credit', debit: partner, credit, amount, listing: undefined, day, at, note })
      if (creditsMade % CREDITS_PER_REVERSAL > 0) continue
      yield moveHours(balances, {
        kind: 'reversal',
        debit: credit,
        credit: partner,
        amount,
        listing: undefined,
        day,
        at: at + 1,
        note: undefined,
      })
      continue
    }
    const isDebut = debutsDone < debuts.length && debuts[debutsDone]! < (slot + 1) * members
    const giver = isDebut ? debuts[debutsDone++]! % members : pickTrader(random, people, joined)
    const listing = pickService(random, offers, giver, at)
    const { debit, credit, amount } = findDeal(
      random,
      people,
      joined,
      balances,
      giver,
      amountFor(random, offers, listing),
    )
    yield moveHours(balances, {
      kind: 'exchange',
      debit,
      credit,
      amount,
      // In the fallback of findDeal the giver pays, so the exchange was not for this service.
      listing: credit === giver ? listing : undefined,
      day,
      at,
      note: random.chance(NOTE_SHARE) ? random.pick(NOTES) : undefined,
    })
  }
  if (debutsDone < debuts.length) throw new Error(`${debuts.length - debutsDone} members never came to trade`)
}

/**
 * Plans the latest first exchange of each trader, so that everyone trades at least once. Each number combines slot and
 * member, sorted by slot.
 */
function planDebuts(
  random: Random,
  { traders, joinedAt }: People,
  slots: number,
  timeOf: (slot: number) => number,
): Float64Array {
  let opening = 0
  const debuts = Float64Array.from(traders, (member) => {
    while (opening < slots - 1 && timeOf(opening) <= joinedAt[member]!) opening++
    const slot = opening + Math.floor(random.next() * DEBUT_SHARE * (slots - opening))
    return slot * joinedAt.length + member
  })
  return debuts.toSorted()
}

function pickTrader(random: Random, { traders, readiness }: People, joined: number): number {
  for (;;) {
    const member = traders[random.below(joined)]!
    if (random.chance(readiness[member]!)) return member
  }
}

/** Picks one of the services that the member had published by then. */
function pickService(random: Random, { firstOf, isService, createdAt }: Offers, member: number, at: number) {
  const [first, end] = [firstOf[member]!, firstOf[member + 1]!]
  if (first === end) return undefined
  const listing = first + random.below(end - first)
  return isService[listing] && createdAt[listing]! < at ? listing : undefined
}

/** About the listing's hours, or a quarter to eight hours with a bias to short ones, in steps of a quarter hour. */
function amountFor(random: Random, { centihours }: Offers, listing: number | undefined): number {
  const expected = listing === undefined ? 0 : centihours[listing]!
  const quarters = expected
    ? Math.round((expected / QUARTER_CENTIHOURS) * (0.6 + 0.8 * random.next()))
    : 1 + Math.floor(EXCHANGE_QUARTERS_MAX * random.next() ** 2.5)
  return QUARTER_CENTIHOURS * Math.min(Math.max(quarters, 1), EXCHANGE_QUARTERS_MAX)
}

interface Deal {
  debit: number
  credit: number
  amount: number
}

/** Picks a receiver who can pay within the lower limit. Of two candidates, the one with the higher balance pays. */
function findDeal(
  random: Random,
  people: People,
  joined: number,
  balances: Int32Array,
  giver: number,
  wanted: number,
): Deal {
  const canPay = (member: number, amount: number) =>
    member !== giver && balances[member]! - amount >= LOWER_LIMIT_CENTIHOURS
  for (let tries = 0; tries < PARTNER_TRIES_MAX; tries++) {
    const [one, other] = [pickTrader(random, people, joined), pickTrader(random, people, joined)]
    const receiver = balances[one]! >= balances[other]! || other === giver ? one : other
    if (canPay(receiver, wanted)) return { debit: receiver, credit: giver, amount: wanted }
  }
  // In a very small town, a few members may hold all hours.
  const amount = QUARTER_CENTIHOURS
  const first = random.below(joined)
  for (let n = 0; n < joined; n++) {
    const receiver = people.traders[(first + n) % joined]!
    if (canPay(receiver, amount)) return { debit: receiver, credit: giver, amount }
  }
  const other = people.traders.find((member) => member !== giver)!
  return { debit: giver, credit: other, amount }
}

type Move = Omit<TownTransfer, 'debitAfter' | 'creditAfter'>

function moveHours(balances: Int32Array, { kind, debit, credit, amount, listing, day, at, note }: Move): TownTransfer {
  let [debitAfter, creditAfter]: (number | undefined)[] = []
  if (debit !== undefined) debitAfter = balances[debit]! -= amount
  if (credit !== undefined) creditAfter = balances[credit]! += amount
  return { kind, debit, credit, amount, debitAfter, creditAfter, listing, day, at, note }
}
