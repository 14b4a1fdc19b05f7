import { inventName, mailboxOf } from './names.ts'
import { CATEGORIES, REMARKS } from './texts.ts'
import {
  localCalendar,
  planOffers,
  planPeople,
  randomFor,
  textOf,
  type Offers,
  type People,
  type TownPlan,
} from './town-people.ts'
import { CREDITS_PER_REVERSAL, transferRows, type TownTransfer } from './town-transfers.ts'

/*
 * Generates a town from a seed. The same seed and day give the same town. Memory holds only a few bytes per member and
 * listing: rows are generated on demand, and transfers are simulated again each time. Members, listings and transfers are
 * numbered from 0.
 */

const SERVICES_PER_MEMBER = 163 / 250
const REQUESTS_PER_MEMBER = 137 / 250
const EXCHANGES_PER_MEMBER = 8
const CREDITS_PER_MEMBER = 18 / 25
/** From this size on, a town has a fixed number of transfers per member. */
const LARGE_FROM_MEMBERS = 1_000
const LARGE_TRANSFERS_PER_MEMBER = 5
/** More would exceed a partner's daily limit. */
const CREDITS_MAX = 20_000
const WITHOUT_EMAIL_SHARE = 0.06
/** Names are unique up to this number of members. */
const UNIQUE_NAMES_MAX = 1_000

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
