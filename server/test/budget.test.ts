import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { isCacheTrusted } from './access-calls.ts'
import {
  eventually,
  fetchToken,
  startBank,
  startTestNode,
  TESTER,
  type Answer,
  type Bank,
  type CallOptions,
  callNode,
} from './bank.ts'
import { startReadingProxy, type Sent } from './budget-proxy.ts'
import { newDatabase } from './database.ts'

const AT_ONCE = 64
/** Two statements under way, and then one with all the rest; some more for those that came late to it. */
const SHARED_MAX = 8
/** For what has arrived to be read: nothing is waited for but the loop itself. */
const TURNS = 50
/** On a machine that stands still for a second, memory is not trusted, and a token is looked up once more. */
const TRIES = 3
/** Two thousand calls; seconds, unless the machine is busy with much else. */
const TEST_MS = 120_000

/** How many statements a call may send, and how often it may wait for the database. */
interface Budget {
  path: string
  statements: number
  roundTrips: number
  scope?: string
  body?: (n: number) => unknown
  /** Calls that come together share statements. */
  isShared?: boolean
}

const CREDENTIALS = 'credentials'

const BUDGETS: Budget[] = [
  { path: '/oauth/token', body: () => CREDENTIALS, statements: 1, roundTrips: 1, isShared: true },
  { path: '/users/1', statements: 1, roundTrips: 1, isShared: true },
  { path: '/users/1', scope: 'users.read users.pii', statements: 2, roundTrips: 2, isShared: true },
  { path: '/users', statements: 1, roundTrips: 1 },
  { path: '/users', scope: 'users.read users.pii', statements: 2, roundTrips: 2 },
  { path: '/users?updated_since=2020-01-01T00:00:00Z', statements: 2, roundTrips: 2 },
  { path: '/listings', statements: 1, roundTrips: 1 },
  { path: '/listings?q=garden', statements: 1, roundTrips: 1 },
  { path: '/removals?since=2020-01-01T00:00:00Z', statements: 2, roundTrips: 2 },
  { path: '/wallet/balance/1', statements: 1, roundTrips: 1, isShared: true },
  {
    path: '/wallet/credit',
    body: (n) => ({ user_id: 1, hours: 0.01, reference: `tx-${n}` }),
    statements: 1,
    roundTrips: 1,
    isShared: true,
  },
  // The page, and the sums over the whole selection, at the same time.
  { path: '/wallet/credits', statements: 2, roundTrips: 2 },
  // From memory, until a month is closed.
  { path: '/aggregates/community', statements: 0, roundTrips: 0, isShared: true },
  { path: '/webhooks/subscriptions', statements: 1, roundTrips: 1 },
  { path: '/webhooks/event-types', statements: 0, roundTrips: 0 },
  // The head before and after the page: what is pruned meanwhile must not look like nothing.
  { path: '/events', statements: 3, roundTrips: 3 },
]
const PLAIN_SCOPES = 'users.read listings.read wallet.read wallet.write aggregates.read webhooks.manage'

test(
  `a call sends no more statements than its budget, alone and ${AT_ONCE} at once`,
  async () => {
    const databaseUrl = await newDatabase()
    const bank = await startBank({ databaseUrl })
    await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada', email: 'ada@example.org' })
    await fillLists(bank)
    await bank.sql`update partners set rate_limit_per_minute = 1000000`
    const proxy = await startReadingProxy(databaseUrl)
    const { url } = await startTestNode(proxy.url, { config: { role: 'api' } })
    const tokens = new Map<string, string>()
    for (const { scope = PLAIN_SCOPES } of BUDGETS) tokens.set(scope, await fetchToken(url, bank.partner, scope))
    const { clientId: client_id, clientSecret: client_secret } = bank.partner
    let calls = 0

    function call({ path, scope = PLAIN_SCOPES, body }: Budget): Promise<Answer> {
      const input = body?.((calls += 1))
      const options: CallOptions =
        input === CREDENTIALS
          ? { body: { grant_type: 'client_credentials', client_id, client_secret } }
          : { token: tokens.get(scope), ...(body && { body: input }) }
      return callNode(url, path, options)
    }

    async function callAlone(budget: Budget): Promise<Sent> {
      // Until then, tokens are looked up again for each call.
      await eventually(() => isCacheTrusted(url))
      proxy.sent()
      expect((await call(budget)).status, budget.path).toBeLessThan(300)
      return proxy.sent()
    }

    /** The database answers none before all have come. */
    async function callTogether(budget: Budget): Promise<Answer[]> {
      proxy.freeze()
      const arrived = requestsArrived(AT_ONCE)
      const answers = Array.from({ length: AT_ONCE }, () => call(budget))
      await arrived
      for (let n = 0; n < TURNS; n++) await turn()
      proxy.restore()
      return Promise.all(answers)
    }

    const alone: [string, Sent][] = []
    const together: [string, Sent][] = []
    for (const budget of BUDGETS) {
      const name = `${budget.path} ${budget.scope ?? ''}`.trim()
      // What is asked once and then known: the token, the epoch, the partner's row of the day.
      expect((await call(budget)).status, name).toBeLessThan(300)
      alone.push([name, await leastOf(TRIES, () => callAlone(budget))])
      const statuses = (await callTogether(budget)).map(({ status }) => status)
      expect(
        statuses.filter((status) => status >= 300),
        name,
      ).toEqual([])
      together.push([name, proxy.sent()])
    }

    expect(alone).toEqual(
      BUDGETS.map(({ statements, roundTrips }, index) => [alone[index]![0], { statements, roundTrips }]),
    )
    const over = BUDGETS.flatMap(({ statements, isShared }, index) => {
      const [name, sent] = together[index]!
      // Whose token has to be looked up, if memory was not trusted just then, share that too.
      const allowed = statements * (isShared ? SHARED_MAX : AT_ONCE) + SHARED_MAX
      return sent.statements > allowed ? [`${name}: ${sent.statements} statements for ${AT_ONCE} calls`] : []
    })
    expect(over).toEqual([])
  },
  TEST_MS,
)

/** A statement per row would be noticed. */
async function fillLists({ sql, communityId, call, token }: Bank): Promise<void> {
  for (const title of ['Bread', 'Roof', 'Garden']) {
    const text = { title, description: '', category: 'House', centihours: null, external_id: null }
    await publishListing(sql, TESTER, communityId, { member_id: 1, type: 'service', ...text })
    const body = { event_types: ['user.erased'], target_url: 'https://example.org/hook' }
    expect((await call('/webhooks/subscriptions', { token: await token(), body })).status).toBe(201)
  }
}

async function leastOf(tries: number, measure: () => Promise<Sent>): Promise<Sent> {
  let least = await measure()
  for (let n = 1; n < tries; n++) {
    const next = await measure()
    if (next.statements < least.statements) least = next
  }
  return least
}

function requestsArrived(count: number): Promise<void> {
  return new Promise((resolve) => {
    let arrived = 0
    const onRequest = () => {
      arrived += 1
      if (arrived < count) return
      unsubscribe('http.server.request.start', onRequest)
      resolve()
    }
    subscribe('http.server.request.start', onRequest)
  })
}
