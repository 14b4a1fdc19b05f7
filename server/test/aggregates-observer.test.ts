import { expect, test } from 'vitest'
import { closeDuePeriods } from '../src/features/aggregates/close-due-periods.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember, changeMember, hideMember, leave } from '../src/features/members/change-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { eventually, TESTER, type Bank } from './bank.ts'
import { startPostman } from './postman.ts'

/*
 * The attacker of docs/decisions/0010, with everything it can call: it holds all scopes but wallet.read and users.pii, and
 * lives in two worlds that differ in what it must not learn. Whatever it sees must be the same in both.
 */
const SCOPES = 'aggregates.read wallet.write users.read listings.read webhooks.manage'
const MEMBERS = 45
/** A regular whom the attacker credits. */
const REGULAR = 1

type Post = Awaited<ReturnType<typeof startPostman>>

/** Times, random ids, secrets and sealed texts differ between any two runs. Numbers do not, except of deliveries. */
function normalize(value: unknown, key = ''): unknown {
  // How often and how long a receiver was tried depends on the machine.
  if (key === 'attempts') return 'attempts'
  if (Array.isArray(value)) return value.map((one) => normalize(one, key))
  if (typeof value === 'object' && value !== null) {
    const isDelivery = 'event_type' in value && 'subscription_id' in value
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        isDelivery && name === 'id' ? 'disguised' : normalize(one, name),
      ]),
    )
  }
  if (typeof value !== 'string') return value
  if (key === 'next_cursor') return `cursor of ${value.length} characters`
  return value
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
    .replaceAll(/whsec_\S+/g, 'secret')
    .replaceAll(/:\d{4,5}\//g, ':port/')
}

/** Everything that the attacker is answered, sent or can compare, in order. */
class Observer {
  readonly seen: unknown[] = []
  readonly feedTags = new Set<string | null>()
  /** As last listed, in the order of the events. */
  deliveryIds: number[] = []
  #cursor: string | undefined
  #credits = 0
  readonly #post: Post
  readonly #token: string

  constructor(post: Post, token: string) {
    this.#post = post
    this.#token = token
  }

  async call(path: string, options: { method?: string; body?: unknown } = {}) {
    const answer = await this.#post.bank.call(path, { token: this.#token, ...options })
    const { status, headers, body } = answer
    const asked = path.replace(/cursor=.*/, 'cursor').replace(/deliveries\/\d+/, 'deliveries/id')
    this.seen.push(normalize([options.method ?? 'GET', asked, status, headers.get('location'), body]))
    return answer
  }

  async pages(path: string): Promise<any[]> {
    const rows: any[] = []
    for (let cursor = ''; ;) {
      const { body } = await this.call(`${path}${path.includes('?') ? '&' : '?'}limit=20${cursor}`)
      rows.push(...body.data)
      if (!body.meta.has_more) return rows
      cursor = `&cursor=${body.meta.next_cursor}`
    }
  }

  async subscribe(): Promise<number> {
    const target_url = `${this.#post.receiver.url}/attacker`
    const { body } = await this.call('/webhooks/subscriptions', { body: { event_types: ['*'], target_url } })
    return body.data.id
  }

  /** Lists of changes end before transactions that are still running, such as the call log's. */
  async #settle(): Promise<void> {
    const { sql } = this.#post.bank
    const [{ now }] = await sql<[{ now: string }]>`select clock_timestamp() as now`
    await eventually(async () => {
      const [row] = await sql<[{ is_past: boolean }]>`select sync_horizon() >= ${now}::timestamptz as is_past`
      return row.is_past
    })
  }

  /** Until everything for the attacker has arrived, however often that takes. */
  async #deliver(subscriptionId: number): Promise<void> {
    const { sql, communityId } = this.#post.bank
    await eventually(async () => {
      await this.#post.deliver()
      const pending = await sql`
        select from deliveries
        where community_id = ${communityId} and subscription_id = ${subscriptionId} and status = 'pending'`
      return pending.length === 0
    })
  }

  async look(subscriptionId: number): Promise<void> {
    await this.#settle()
    await this.call('/aggregates/community')
    for (const path of ['/users', '/users?updated_since=2020-01-01T00:00:00Z', '/listings', '/removals']) {
      await this.pages(path)
    }
    for (let id = 1; id <= MEMBERS + 3; id++) await this.call(`/users/${id}`)
    const reference = `probe-${++this.#credits}`
    await this.call('/wallet/credit', { body: { user_id: REGULAR, hours: 0.01, reference } })
    await this.call('/wallet/credits/reverse', { body: { reference, reversal_reference: `back-${reference}` } })
    await this.pages('/wallet/credits')
    await this.call(`/wallet/balance/${REGULAR}`)
    await this.call(`/webhooks/subscriptions/${subscriptionId}/test`, { method: 'POST' })
    await this.#deliver(subscriptionId)
    const feed = await this.call(`/events?limit=100${this.#cursor ? `&cursor=${this.#cursor}` : ''}`)
    this.#cursor = feed.body.meta.next_cursor
    // Read again from there: nothing is left, and the tag of nothing is always the same.
    this.feedTags.add((await this.call(`/events?limit=100&cursor=${this.#cursor}`)).headers.get('etag'))
    await this.call(`/webhooks/subscriptions/${subscriptionId}/replay`, { body: { since: '2020-01-01T00:00:00Z' } })
    await this.#deliver(subscriptionId)
    const deliveries = await this.pages(`/webhooks/subscriptions/${subscriptionId}/deliveries`)
    await this.call(`/webhooks/deliveries/${deliveries[0].id}/redeliver`, { method: 'POST' })
    // Neighbours of its own deliveries are unknown: ids have no order.
    for (const by of [-1, 1]) {
      await this.call(`/webhooks/deliveries/${deliveries[0].id + by}/redeliver`, { method: 'POST' })
    }
    await this.#deliver(subscriptionId)
    await this.pages('/webhooks/subscriptions')
    this.deliveryIds = deliveries.map(({ id }) => id as number)
  }
}

/** What the attacker must not learn. */
interface Secrets {
  happen(bank: Bank, round: number): Promise<void>
}

const nothing: Secrets = { happen: async () => {} }

/** Exchanges, adjustments, what a hidden member does, another partner, another community. */
function secretLife(bank: Bank, hidden: number): Secrets {
  let other: { token: string; subscription: number } | undefined
  let village: { id: number; token: string } | undefined
  return {
    async happen(_, round) {
      const { sql, communityId } = bank
      await recordExchanges(sql, TESTER, communityId, [
        { giverId: 2, receiverId: 3, centihours: 100 },
        { giverId: hidden, receiverId: 4, centihours: 200 },
      ])
      await adjustBalance(sql, TESTER, communityId, { memberId: 5, centihours: 50, reason: 'A gift' })
      await changeMember(sql, TESTER, communityId, hidden, { name: `Someone ${round}` })
      if (!other) {
        const token = await bank.token(undefined, await bank.addPartner())
        const body = { event_types: ['*'], target_url: 'https://other.example.org/' }
        const answer = await bank.call('/webhooks/subscriptions', { token, body })
        other = { token, subscription: answer.body.data.id }
      }
      for (const user_id of [REGULAR, 2, 6]) {
        const body = { user_id, hours: 3, reference: `other-${round}-${user_id}` }
        await bank.call('/wallet/credit', { token: other.token, body })
      }
      const back = { reference: `other-${round}-2`, reversal_reference: `other-back-${round}` }
      await bank.call('/wallet/credits/reverse', { token: other.token, body: back })
      await bank.call(`/webhooks/subscriptions/${other.subscription}/test`, { token: other.token, method: 'POST' })

      if (!village) {
        const { id } = await createCommunity(sql, TESTER, { slug: 'village', name: 'Village' })
        village = { id, token: await bank.token(undefined, await bank.addPartner({}, id)) }
      }
      const neighbour = await addMember(sql, TESTER, village.id, { name: 'Neighbour' })
      const listing = { member_id: neighbour.id, type: 'service', title: 'Bread', category: 'Kitchen' } as const
      await publishListing(sql, TESTER, village.id, {
        ...listing,
        description: '',
        centihours: null,
        external_id: null,
      })
      await bank.call('/wallet/credit', {
        token: village.token,
        body: { user_id: neighbour.id, hours: 3, reference: `village-${round}` },
      })
      const body = { event_types: ['*'], target_url: 'https://village.example.org/' }
      if (round < 3) await bank.call('/webhooks/subscriptions', { token: village.token, body })
      await leave(sql, TESTER, village.id, neighbour.id)
    },
  }
}

/** Two rounds of a month each: the public life is the same in every world. */
async function live(withSecrets: boolean): Promise<Observer> {
  const post = await startPostman()
  const { bank } = post
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  await bank.sql`update communities set created_at = '2024-01-02', lower_limit_centihours = -100000000`
  for (let n = 2; n <= MEMBERS; n++) await addMember(bank.sql, TESTER, bank.communityId, { name: `Member ${n}` })
  await bank.sql`update members set recorded_at = '2024-01-02T12:00:00Z'`
  await hideMember(bank.sql, TESTER, bank.communityId, MEMBERS)
  const attacker = await bank.addPartner({ name: 'Attacker' })
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  const observer = new Observer(post, await bank.token(SCOPES, attacker))
  const witness = await bank.token('aggregates.read')
  const subscription = await observer.subscribe()
  const secrets = withSecrets ? secretLife(bank, MEMBERS) : nothing
  for (let round = 1; round <= 3; round++) {
    await observer.look(subscription)
    await secrets.happen(bank, round)
    await bank.sql`update partners set rate_limit_per_minute = 1000000`
    const newcomer = await addMember(bank.sql, TESTER, bank.communityId, { name: `Newcomer ${round}` })
    await bank.sql`update members set recorded_at = '2024-01-20' where id = ${newcomer.id}`
    await bank.sql`update transfers set created_at = '2024-01-15'`
    await observer.look(subscription)
    await closeDuePeriods(bank.sql, bank.communityId, new Date(`2024-0${round + 1}-12T00:00:00Z`))
    // The node drops its copy of the document when PostgreSQL notifies it, a moment later.
    await eventually(async () => {
      const { body } = await bank.call('/aggregates/community', { token: witness })
      return body.data.closed_through === `2024-0${round}`
    })
  }
  await observer.look(subscription)
  // Deliveries overtake each other, and a slow one may arrive twice.
  const sent = new Set(post.receiver.received.map(({ json }) => JSON.stringify(normalize(json))))
  observer.seen.push([...sent].toSorted())
  return observer
}

test('with every call but those that read balances, the attacker sees the same whatever others do', async () => {
  const [quiet, busy] = [await live(false), await live(true)]
  expect(busy.seen.length).toBeGreaterThan(400)
  expect(busy.seen).toEqual(quiet.seen)
  for (const { feedTags } of [quiet, busy]) expect([...feedTags].length).toBe(1)
  // Ids of deliveries are spread over all numbers that JSON can carry, so nothing can be counted between two of them.
  for (const { deliveryIds } of [quiet, busy]) {
    expect(deliveryIds.length).toBeGreaterThan(50)
    expect(Math.max(...deliveryIds)).toBeLessThan(2 ** 52)
    expect(Math.min(...deliveryIds)).toBeGreaterThan(2 ** 32)
  }
  console.log(`the attacker made ${busy.seen.length} observations in each world and learned nothing`)
})
