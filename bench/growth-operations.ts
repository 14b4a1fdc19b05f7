import type { Child } from './children.ts'
import { median } from './figures.ts'
import { CONSOLE_API, SEARCH_WORD, TAG, type GrownTown } from './growth-towns.ts'
import type { Job, Measured } from './load/job.ts'

const API = '/api/partner/v1'
/** The largest town relative to the smallest. */
const RATIO_MAX = 1.3
/** Of the console: its lists also count what fits, up to 5,000. */
const CONSOLE_RATIO_MAX = 3
/** One caller at a time: this measures latency, not throughput. */
const CONNECTIONS = 1
const WARM_UP_MS = 200
const MEASURE_MS = 700

const CONSOLE_JOB = { authorizations: [] }

type Operation = (town: GrownTown) => Promise<Partial<Job> & { path: string }>

const OPERATIONS: Record<string, Operation> = {
  'first page': async () => ({ path: '/users?limit=100' }),
  'page at 90 %': async (town) => ({ path: `/users?limit=100&cursor=${await cursorAt(town)}` }),
  member: async () => ({ path: '/users/{member}' }),
  balance: async () => ({ path: '/wallet/balance/{member}' }),
  credit: async () => ({
    path: '/wallet/credit',
    method: 'POST',
    body: '{"user_id":{member},"hours":0.01,"reference":"{unique}"}',
    expectedStatus: 201,
  }),
  search: async () => ({ path: `/listings?limit=25&q=${SEARCH_WORD}` }),
}

/** Lists of the console as its pages ask for them. */
const CONSOLE_LISTS: Record<string, string> = {
  'members, newest': '/members?',
  'members by name': '/members?sort=name',
  'members by balance': '/members?sort=-balance',
  'members by last exchange': '/members?sort=last_active_on',
  'members by joining': '/members?sort=joined_at',
  'members below 0': '/members?balance=negative',
  'members below 0, by name': '/members?balance=negative&sort=name',
  'members near the limit': '/members?balance=near_limit',
  'members inactive since 2026': '/members?inactive_since=2026-01-01&sort=name',
  'members with a tag': `/members?tag=${TAG}&sort=name`,
  'members named Ma…': '/members?q=ma',
  'members named Ma…, by name': '/members?q=ma&sort=name',
  'exchanges, latest': '/transfers?',
  'exchanges by day': '/transfers?sort=day',
  'exchanges of a month': '/transfers?from=2026-03-01&until=2026-03-31',
  'exchanges of a month, by kind': '/transfers?from=2026-03-01&until=2026-03-31&kind=exchange',
  'exchanges of a category': '/transfers?category=Garden&kind=exchange',
  'exchanges of a member': '/transfers?member_id={member}',
  adjustments: '/transfers?kind=adjustment',
  'exchanges reversed': '/transfers?status=reversed',
  'listings, newest': '/listings?',
  'listings by title': '/listings?sort=title',
  'listings of a category': '/listings?category=Garden&status=active',
  'listings of a category, by title': '/listings?category=Garden&status=active&sort=title',
  'listings, closed': '/listings?status=closed',
  'listings with a common word': '/listings?q=a',
}

export interface Growth {
  operation: string
  ratioMax: number
  /** One entry per town, by size: the median over all rounds, and in each round the ratio to the smallest town. */
  p50Ms: number[]
  p99Ms: number[]
  ratios: number[]
}

/** Each round measures all towns in turn, so that other load on the machine affects them equally. */
export async function measureGrowth(
  towns: GrownTown[],
  generator: Child<Job, Measured>,
  { rounds, isListsOnly }: { rounds: number; isListsOnly: boolean },
  onProgress: (text: string) => void,
): Promise<Growth[]> {
  const results: Growth[] = []
  const inConsole = Object.entries(CONSOLE_LISTS).map(([operation, path]) => ({
    operation,
    ratioMax: CONSOLE_RATIO_MAX,
    jobOf: async (town: GrownTown) => ({
      ...CONSOLE_JOB,
      path: `${CONSOLE_API}${path}&limit=50&with_total=true`,
      cookie: town.cookie,
    }),
  }))
  const byPartners = Object.entries(OPERATIONS).map(([operation, jobOf]) => ({ operation, ratioMax: RATIO_MAX, jobOf }))
  for (const { operation, ratioMax, jobOf } of isListsOnly ? inConsole : [...byPartners, ...inConsole]) {
    onProgress(operation)
    const measured: Measured[][] = towns.map(() => [])
    for (let round = 0; round < rounds; round++) {
      for (const [index, town] of towns.entries()) {
        measured[index]!.push(await generator.ask(job(town, await jobOf(town))))
      }
    }
    const of = (index: number, pick: (one: Measured) => number) => measured[index]!.map(pick)
    const p50 = towns.map((_, index) => of(index, (one) => one.latencyMs.p50))
    results.push({
      operation,
      ratioMax,
      p50Ms: p50.map(median),
      p99Ms: towns.map((_, index) => median(of(index, (one) => one.latencyMs.p99))),
      ratios: p50.map((values) => median(values.map((value, round) => value / p50[0]![round]!))),
    })
  }
  return results
}

function job({ service, token, members }: GrownTown, input: Partial<Job> & { path: string }): Job {
  return {
    port: service.port,
    method: 'GET',
    authorizations: [`Bearer ${token}`],
    members,
    expectedStatus: 200,
    connections: CONNECTIONS,
    warmUpMs: WARM_UP_MS,
    measureMs: MEASURE_MS,
    ...input,
    path: input.path.startsWith('/api/') ? input.path : `${API}${input.path}`,
  }
}

/** Moves the cursor of the first page forward: paging there would take 9,000 calls in the largest town. */
async function cursorAt({ service, token, lateMemberId }: GrownTown): Promise<string> {
  const { meta } = await service.call('GET', '/users?limit=100', token)
  const [epoch, filters] = JSON.parse(Buffer.from(meta.next_cursor, 'base64url').toString())
  return Buffer.from(JSON.stringify([epoch, filters, lateMemberId])).toString('base64url')
}
