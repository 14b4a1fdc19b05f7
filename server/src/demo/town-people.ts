import { createRandom, type Random } from './random.ts'
import { CATEGORIES, type Category, type Text } from './texts.ts'

const NEVER_TRADING_SHARE = 1 / 4
/** Members joined during this period, which ended LAST_JOINED_DAYS_AGO. */
const JOINING_DAYS = 3 * 365
const LAST_JOINED_DAYS_AGO = 14
const LISTING_AFTER_JOINING_DAYS = 90
const WITHOUT_HOURS_SHARE = 0.1
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

export interface Calendar {
  /** Converts days relative to today into a time. The fraction is the time of day. */
  moment(days: number): { at: number; day: string }
}

export function localCalendar(now: Date, timeZone: string): Calendar {
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

export function randomFor(seed: number, stream: keyof typeof STREAMS): Random {
  return createRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(STREAMS[stream], 0x85ebca6b))
}

export interface People {
  /** Milliseconds since 1970, ascending by member. */
  joinedAt: Float64Array
  /** The members who trade, in order of joining. */
  traders: Int32Array
  /** The probability that a picked member trades, from 0 to 1. */
  readiness: Float32Array
}

export function planPeople({ members, seed }: TownPlan, calendar: Calendar): People {
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

export interface Offers {
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

export function planOffers(
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

export function textOf({ isService, text, serviceTexts, requestTexts }: Offers, n: number): ListingText {
  return (isService[n] ? serviceTexts : requestTexts)[text[n]!]!
}
