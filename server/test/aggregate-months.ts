import { expect, vi } from 'vitest'
import { closeDuePeriods } from '../src/features/aggregates/close-due-periods.ts'
import { nothingPublished } from '../src/features/aggregates/published.ts'
import { renderDocument } from '../src/features/aggregates/render-document.ts'
import { CommunityAggregates } from '../src/features/aggregates/schema.ts'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

export const PATH = '/aggregates/community'

const HEARD_WITHIN = { timeout: 10_000, interval: 20 }

export const HIDDEN = { suppressed: true }

export const ten = (min: number) => ({ min, max: min + 9 })

/** Members of every town who do nothing, beside those of the test: without them, a figure would tell of everyone. */
export const QUIET = 30

/** A town that was founded with the year 2024. No node of it closes anything by itself: the test has the clock. */
export async function foundTown(members: number, timeZone = 'UTC'): Promise<Bank & { members: number[] }> {
  const bank = await startBank({ config: { role: 'api' } })
  const founded = '2024-01-02T12:00:00Z'
  await bank.sql`
    update communities set created_at = ${founded}, time_zone = ${timeZone}, lower_limit_centihours = -100000000
    where id = ${bank.communityId}`
  const active = await join(bank, members, founded)
  await join(bank, QUIET, founded)
  return Object.assign(bank, { members: active })
}

async function join(bank: Bank, count: number, at: string): Promise<number[]> {
  const ids: number[] = []
  for (let n = 0; n < count; n++) {
    ids.push((await addMember(bank.sql, TESTER, bank.communityId, { name: `Member ${n}` })).id)
  }
  await bank.sql`
    update members set recorded_at = ${at} where community_id = ${bank.communityId} and id = any (${ids}::int8[])`
  return ids
}

/** The books stamp what they are told with the hour; here, that hour is the test's. */
export async function stamp(bank: Bank, transfers: { id: number }[], at: string): Promise<number[]> {
  const ids = transfers.map(({ id }) => id)
  await bank.sql`
    update transfers set created_at = ${at} where community_id = ${bank.communityId} and id = any (${ids}::int8[])`
  return ids
}

/** Everyone gives their neighbour that many hours, in a ring. */
export async function trade(
  bank: Bank,
  members: number[],
  at: string,
  hours = 2,
  occurredOn?: string,
): Promise<number[]> {
  const slips = members.map((giverId, n) => ({
    giverId,
    receiverId: members[(n + 1) % members.length]!,
    centihours: hours * 100,
    ...(occurredOn && { occurredOn }),
  }))
  return stamp(bank, await recordExchanges(bank.sql, TESTER, bank.communityId, slips), at)
}

export async function offer(bank: Bank, member_id: number, category: string, type: 'service' | 'request' = 'service') {
  return publishListing(bank.sql, TESTER, bank.communityId, {
    member_id,
    type,
    title: 'Bread',
    description: '',
    category,
    centihours: null,
    external_id: null,
  })
}

export async function close(bank: Bank, now: string): Promise<void> {
  await closeDuePeriods(bank.sql, bank.communityId, new Date(now))
}

/** Nodes keep the document in memory, and hear within a second that there is another. */
export async function read(bank: Bank): Promise<CommunityAggregates> {
  const token = await bank.token()
  return vi.waitFor(async () => {
    const { status, body } = await bank.call(PATH, { token })
    // Each time: a node that has just started may be closing months.
    const [stored] = await bank.sql<{ body: string }[]>`
      select body from aggregate_documents where community_id = ${bank.communityId}`
    expect(status).toBe(200)
    if (stored) expect(body).toEqual(JSON.parse(stored.body))
    return body.data
  }, HEARD_WITHIN)
}

export async function closeAndRead(bank: Bank, now: string): Promise<CommunityAggregates> {
  await close(bank, now)
  return read(bank)
}

export const category = (name: string, min?: number) => ({ name, figure: min ? ten(min) : HIDDEN })

export function told(...categories: object[]): (number | undefined)[] {
  const published = { ...nothingPublished('2024-01'), categories: { ...categories } as never }
  const { listings_by_category } = JSON.parse(renderDocument(published, null)).data.stocks
  return listings_by_category.map(({ figure }: { figure: { min?: number } }) => figure.min)
}
