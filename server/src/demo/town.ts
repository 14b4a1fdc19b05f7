import { inventName, mailboxOf } from './names.ts'
import { createRandom, type Random } from './random.ts'
import { CATEGORIES, NOTES, PAYMENT_NOTES, REMARKS, type Category, type Text } from './texts.ts'

/*
 * Generates a town from a seed. The same seed and day give the same town. Memory holds only a few bytes per member and
 * listing: rows are generated on demand, and transfers are simulated again each time. Members, listings and transfers are
 * numbered from 0.
 */

const NEVER_TRADING_SHARE = 1 / 4
const SERVICES_PER_MEMBER = 163 / 250
const REQUESTS_PER_MEMBER = 137 / 250
const EXCHANGES_PER_MEMBER = 8
const CREDITS_PER_MEMBER = 18 / 25
/** From this size on, a town has a fixed number of transfers per member. */
const LARGE_FROM_MEMBERS = 1_000
const LARGE_TRANSFERS_PER_MEMBER = 5
/** More would exceed a partner's daily limit. */
const CREDITS_MAX = 20_000
/** One of this many credits is reversed. */
const CREDITS_PER_REVERSAL = 60

/** Members joined during this period, which ended LAST_JOINED_DAYS_AGO. */
const JOINING_DAYS = 3 * 365
const LAST_JOINED_DAYS_AGO = 14
const TRADING_DAYS = 365
const LISTING_AFTER_JOINING_DAYS = 90

const LOWER_LIMIT_CENTIHOURS = -1_000
const QUARTER_CENTIHOURS = 25
const EXCHANGE_QUARTERS_MAX = 32
const CREDIT_HOURS_MAX = 8
const WITHOUT_EMAIL_SHARE = 0.06
const WITHOUT_HOURS_SHARE = 0.1
const NOTE_SHARE = 0.2
/** Names are unique up to this number of members. */
const UNIQUE_NAMES_MAX = 1_000
const PARTNER_TRIES_MAX = 40
/** Every trader's first exchange falls into the first part of their membership, of this size. */
const DEBUT_SHARE = 0.9

const DAY_MS = 24 * 60 * 60 * 1000
/** Exchanges happen between 8:00 and 20:00. */
const DAY_BEGINS_MS = 8 * 60 * 60 * 1000
const DAY_LASTS_MS = 12 * 60 * 60 * 1000

export interface TownPlan {
  members: number
  seed: number
  now: Date
  timeZone: string
}

export interface TownMember {
  externalId: string
  name: string
  email: string | null
  joinedAt: Date
}

export interface TownListing {
  member: number
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  centihours: number | null
  createdAt: Date
}

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

export interface Town {
  members: number
  services: number
  requests: number
  exchanges: number
  credits: number
  reversals: number
  categories: string[]
  memberRows(): Generator<TownMember>
  listingRows(): Generator<TownListing>
  /** Oldest first. */
  transferRows(): Generator<TownTransfer>
}

export function planTown(plan: TownPlan): Town {
  const { members } = plan
  const isLarge = members >= LARGE_FROM_MEMBERS
  const credits = Math.min(Math.round(members * CREDITS_PER_MEMBER), CREDITS_MAX)
  const reversals = Math.floor(credits / CREDITS_PER_REVERSAL)
  const counts = {
    members,
    services: Math.round(members * SERVICES_PER_MEMBER),
    requests: Math.round(members * REQUESTS_PER_MEMBER),
    exchanges: isLarge
      ? members * LARGE_TRANSFERS_PER_MEMBER - credits - reversals
      : Math.round(members * EXCHANGES_PER_MEMBER),
    credits,
    reversals,
  }
  const calendar = localCalendar(plan.now, plan.timeZone)
  const people = planPeople(plan, calendar)
  const offers = planOffers(plan, counts, people, calendar)
  return {
    ...counts,
    categories: CATEGORIES.map(({ name }) => name),
    memberRows: () => memberRows(plan, people),
    listingRows: () => listingRows(plan, offers),
    transferRows: () => transferRows(plan, counts, people, offers, calendar),
  }
}

interface Calendar {
  /** Converts days relative to today into a time. The fraction is the time of day. */
  moment(days: number): { at: number; day: string }
}

function localCalendar(now: Date, timeZone: string): Calendar {
  const offsetMs = zoneOffsetMs(now, timeZone)
  const todayMs = Math.floor((now.getTime() + offsetMs) / DAY_MS) * DAY_MS
  // Cache the last day: this runs millions of times, mostly for the same day.
  let lastDay = { whole: NaN, day: '' }
  return {
    moment(days) {
      const whole = Math.floor(days)
      const midnightMs = todayMs + whole * DAY_MS
      if (lastDay.whole !== whole) lastDay = { whole, day: new Date(midnightMs).toISOString().slice(0, 10) }
      const localMs = midnightMs + DAY_BEGINS_MS + Math.floor((days - whole) * DAY_LASTS_MS)
      return { at: localMs - offsetMs, day: lastDay.day }
    },
  }
}

/** Uses the current offset. An error of one hour due to daylight saving time does not change the day. */
function zoneOffsetMs(now: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  }).formatToParts(now)
  const [year, month, day, hour, minute] = (['year', 'month', 'day', 'hour', 'minute'] as const).map((type) =>
    Number(parts.find((part) => part.type === type)!.value),
  )
  const localMs = Date.UTC(year!, month! - 1, day, hour, minute)
  return localMs - Math.floor(now.getTime() / 60_000) * 60_000
}

/** Independent random streams, so that a change in one part leaves the others unchanged. */
const STREAMS = { people: 1, offers: 2, transfers: 3, names: 4, remarks: 5 }

function randomFor(seed: number, stream: keyof typeof STREAMS): Random {
  return createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(STREAMS[stream], 0x85ebca6b))
}

interface People {
  /** Milliseconds since 1970, ascending by member. */
  joinedAt: Float64Array
  /** The members who trade, in order of joining. */
  traders: Int32Array
  /** The probability that a picked member trades, from 0 to 1. */
  readiness: Float32Array
}

function planPeople({ members, seed }: TownPlan, calendar: Calendar): People {
  const random = randomFor(seed, 'people')
  const joinedAt = new Float64Array(members)
  const readiness = new Float32Array(members)
  const neverTrading = Math.floor(members * NEVER_TRADING_SHARE)
  const traders = new Int32Array(members - neverTrading)
  let tradersFound = 0
  for (let n = 0; n < members; n++) {
    const days = ((n + random.next()) / members) * JOINING_DAYS - JOINING_DAYS - LAST_JOINED_DAYS_AGO
    joinedAt[n] = calendar.moment(days).at
    readiness[n] = 0.05 + 0.95 * random.next() ** 2
    // Selection sampling picks exactly the wanted number, all with the same probability.
    if (random.next() * (members - n) < traders.length - tradersFound) traders[tradersFound++] = n
  }
  return { joinedAt, traders, readiness }
}

interface Offers {
  count: number
  /** The first listing of each member. Listings are numbered member by member. */
  firstOf: Int32Array
  isService: Uint8Array
  /** Index into the texts of its type. */
  text: Int32Array
  centihours: Int32Array
  createdAt: Float64Array
  serviceTexts: ListingText[]
  requestTexts: ListingText[]
}

interface ListingText {
  category: string
  title: string
  text: Text
}

function planOffers(
  { members, seed, now }: TownPlan,
  counts: { services: number; requests: number },
  { joinedAt }: People,
  calendar: Calendar,
): Offers {
  const random = randomFor(seed, 'offers')
  const count = counts.services + counts.requests
  const firstOf = new Int32Array(members + 1)
  for (let n = 0; n < count; n++) firstOf[random.below(members) + 1]! += 1
  for (let n = 0; n < members; n++) firstOf[n + 1]! += firstOf[n]!
  const offers: Offers = {
    count,
    firstOf,
    isService: new Uint8Array(count),
    text: new Int32Array(count),
    centihours: new Int32Array(count),
    createdAt: new Float64Array(count),
    serviceTexts: shuffledTexts(random, (category) => category.services),
    requestTexts: shuffledTexts(random, (category) => category.requests),
  }
  let [services, requests] = [0, 0]
  let member = 0
  for (let n = 0; n < count; n++) {
    while (firstOf[member + 1]! <= n) member++
    const isService = random.next() * (count - n) < counts.services - services
    offers.isService[n] = isService ? 1 : 0
    offers.text[n] = isService ? services++ % offers.serviceTexts.length : requests++ % offers.requestTexts.length
    const { centihours } = textOf(offers, n).text
    offers.centihours[n] = random.chance(WITHOUT_HOURS_SHARE) ? 0 : centihours
    const joinedDays = Math.floor((joinedAt[member]! - now.getTime()) / DAY_MS)
    const waitDaysMax = Math.min(LISTING_AFTER_JOINING_DAYS, -joinedDays - 2)
    offers.createdAt[n] = calendar.moment(joinedDays + 2 + random.next() * (waitDaysMax - 1)).at
  }
  return offers
}

/** Returns all titles in random order, so that each is used once before any repeats. */
function shuffledTexts(random: Random, pick: (category: Category) => readonly Text[]): ListingText[] {
  const all = CATEGORIES.flatMap((category) =>
    pick(category).flatMap((text) => text.titles.map((title) => ({ category: category.name, title, text }))),
  )
  for (let n = all.length - 1; n > 0; n--) {
    const other = random.below(n + 1)
    ;[all[n], all[other]] = [all[other]!, all[n]!]
  }
  return all
}

function textOf({ isService, text, serviceTexts, requestTexts }: Offers, n: number): ListingText {
  return (isService[n] ? serviceTexts : requestTexts)[text[n]!]!
}

function* memberRows({ members, seed }: TownPlan, { joinedAt }: People): Generator<TownMember> {
  const random = randomFor(seed, 'names')
  const used = new Set<string>()
  const digits = Math.max(4, `${members}`.length)
  for (let n = 0; n < members; n++) {
    let name = inventName(random)
    let mailbox = `${mailboxOf(name)}.${n}`
    if (n < UNIQUE_NAMES_MAX) {
      while (used.has(name)) name = inventName(random)
      used.add(name)
      mailbox = mailboxOf(name)
    }
    const email = random.chance(WITHOUT_EMAIL_SHARE) ? null : `${mailbox}@lindenau.example`
    yield { externalId: `L-${`${n + 1}`.padStart(digits, '0')}`, name, email, joinedAt: new Date(joinedAt[n]!) }
  }
}

function* listingRows({ members, seed }: TownPlan, offers: Offers): Generator<TownListing> {
  const random = randomFor(seed, 'remarks')
  for (let member = 0; member < members; member++) {
    for (let n = offers.firstOf[member]!; n < offers.firstOf[member + 1]!; n++) {
      const { category, title, text } = textOf(offers, n)
      yield {
        member,
        type: offers.isService[n] ? 'service' : 'request',
        title,
        description: `${text.description} ${random.pick(REMARKS)}`,
        category,
        centihours: offers.centihours[n] || null,
        createdAt: new Date(offers.createdAt[n]!),
      }
    }
  }
}

/** Simulates the year with the balance of every member. */
function* transferRows(
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
