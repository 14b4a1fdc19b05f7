import type { Child } from './children.ts'
import { median } from './figures.ts'
import { SEARCH_WORD, type GrownTown } from './growth-towns.ts'
import type { Job, Measured } from './load/job.ts'

const API = '/api/partner/v1'
/** One caller at a time: this measures latency, not throughput. */
const CONNECTIONS = 1
const WARM_UP_MS = 200
const MEASURE_MS = 700

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

export interface Growth {
  operation: string
  /** One entry per town, by size: the median over all rounds, and in each round the ratio to the smallest town. */
  p50Ms: number[]
  p99Ms: number[]
  ratios: number[]
}

/** Each round measures all towns in turn, so that other load on the machine affects them equally. */
export async function measureGrowth(
  towns: GrownTown[],
  generator: Child<Job, Measured>,
  rounds: number,
  onProgress: (text: string) => void,
): Promise<Growth[]> {
  const results: Growth[] = []
  for (const [operation, jobOf] of Object.entries(OPERATIONS)) {
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
    path: `${API}${input.path}`,
  }
}

/** Moves the cursor of the first page forward: paging there would take 9,000 calls in the largest town. */
async function cursorAt({ service, token, lateMemberId }: GrownTown): Promise<string> {
  const { meta } = await service.call('GET', '/users?limit=100', token)
  const [epoch, filters] = JSON.parse(Buffer.from(meta.next_cursor, 'base64url').toString())
  return Buffer.from(JSON.stringify([epoch, filters, lateMemberId])).toString('base64url')
}
