import { startChild } from './children.ts'
import type { CreditJob } from './comparisons/driver-credits.ts'
import type { Contest, Side } from './contest.ts'
import type { Job, Measured } from './load/job.ts'
import type { Town } from './town.ts'

const API = '/api/partner/v1'
const ALL_CONNECTIONS = [1, 8, 64, 256]
/** The same number as the service uses for its requests. */
const DRIVER_CONNECTIONS_MAX = 10

export interface Contests {
  list: Contest[]
  stop(): Promise<void>
}

export const CREDIT_JOB = {
  path: `${API}/wallet/credit`,
  method: 'POST',
  body: '{"user_id":{member},"hours":0.01,"reference":"{unique}"}',
  expectedStatus: 201,
} satisfies Partial<Job>

const BATCH_SIZE = 1000
const BATCH_JOB = {
  path: `${API}/wallet/credits/batch`,
  method: 'POST',
  body: `{"credits":[${Array.from({ length: BATCH_SIZE }, () => CREDIT_JOB.body).join()}]}`,
  expectedStatus: 200,
} satisfies Partial<Job>
/** Few take as long as a round; in a fixed time, the last one would be cut off, and it is a large part of the whole. */
const BATCHES_PER_ROUND = 5
/** Only ends a run that hangs. */
const BATCHES_TIMEOUT_MS = 120_000

/** Counts credits, over the time that a number of batches takes. */
function batchSide(town: Town): Side {
  const warmUp = loadSide(town, BATCH_JOB)
  const measure = loadSide(town, { ...BATCH_JOB, requestsMax: BATCHES_PER_ROUND })
  return async (connections, times) => {
    if (times.measureMs === 0) return warmUp(connections, times)
    const measured = await measure(connections, { warmUpMs: 0, measureMs: BATCHES_TIMEOUT_MS })
    const { fromMs, untilMs } = measured.span!
    return { ...measured, perSecond: (BATCHES_PER_ROUND * BATCH_SIZE * 1000) / (untilMs - fromMs) }
  }
}

/** Puts load on a town's service, or on another port, with its partners' tokens. */
export function loadSide(town: Town, job: Partial<Job> & { path: string }): Side {
  return (connections, times) =>
    town.generator.ask({
      port: town.service.port,
      method: 'GET',
      authorizations: town.partners.map(({ token }) => `Bearer ${token}`),
      members: town.members,
      expectedStatus: 200,
      ...job,
      connections,
      ...times,
    })
}

/** Starts the comparisons and returns the contests. */
export async function prepareContests(town: Town): Promise<Contests> {
  const { service, partners } = town
  const [first] = partners
  const scopes = 'users.read wallet.write'
  const bare = await startChild<unknown, number>('comparisons/bare-routes.ts', {
    DATABASE_URL: service.databaseUrl,
    COMMUNITY_ID: `${town.communityId}`,
  })
  const driver = await startChild<CreditJob, Measured>('comparisons/driver-credits.ts', {
    DATABASE_URL: service.databaseUrl,
    CONNECTIONS_MAX: `${DRIVER_CONNECTIONS_MAX}`,
  })
  const provider = await startChild<unknown, number>('comparisons/oidc-provider.ts', {
    CLIENT_ID: first!.clientId,
    CLIENT_SECRET: first!.clientSecret,
    SCOPES: scopes,
  })
  const barePort = await bare.ask({})
  const providerPort = await provider.ask({})

  const load = (job: Partial<Job> & { path: string }) => loadSide(town, job)
  const ours = (path: string, job: Partial<Job> = {}) => load({ path: `${API}${path}`, ...job })
  const theirs = (path: string) => load({ port: barePort, path })
  const tokenBody = { grant_type: 'client_credentials', client_id: first!.clientId, client_secret: first!.clientSecret }

  const list: Contest[] = [
    {
      name: 'users-by-id',
      title: 'GET /users/{id}',
      against: 'bare Fastify route, same SQL',
      bars: { 1: 0.7, 8: 1.1, 64: 1.6 },
      connections: ALL_CONNECTIONS,
      ours: ours('/users/{member}'),
      theirs: theirs('/users/{member}'),
    },
    {
      name: 'credit',
      title: 'POST /wallet/credit',
      against: 'the driver without HTTP, same statement',
      bars: { 1: 0.6, 8: 1, 64: 3 },
      connections: ALL_CONNECTIONS,
      ours: load(CREDIT_JOB),
      theirs: (connections, times) =>
        driver.ask({
          communityId: town.communityId,
          partners: town.clients,
          members: town.members,
          callers: connections,
          ...times,
        }),
    },
    {
      name: 'batch',
      title: `POST /wallet/credits/batch of ${BATCH_SIZE}, credits`,
      against: 'POST /wallet/credit, one at a time',
      bars: { 1: 10 },
      connections: [1],
      ours: batchSide(town),
      theirs: load(CREDIT_JOB),
    },
    {
      name: 'token',
      title: 'POST /oauth/token, durable',
      against: 'oidc-provider 9, in memory',
      bars: { 64: 1.5 },
      connections: ALL_CONNECTIONS,
      ours: ours('/oauth/token', {
        method: 'POST',
        body: JSON.stringify({ ...tokenBody, scope: scopes }),
        authorizations: [],
      }),
      theirs: load({
        port: providerPort,
        path: '/token',
        method: 'POST',
        authorizations: [],
        contentType: 'application/x-www-form-urlencoded',
        body: `${new URLSearchParams({ ...tokenBody, scope: scopes })}`,
      }),
    },
    {
      name: 'users-page',
      title: 'GET /users?limit=100',
      against: 'bare Fastify route, same SQL',
      bars: { 8: 0.75, 64: 0.8 },
      connections: ALL_CONNECTIONS,
      ours: ours('/users?limit=100'),
      theirs: theirs('/users'),
    },
    {
      name: 'aggregates',
      title: 'GET /aggregates/community',
      against: 'static JSON route, same bytes',
      bars: { 64: 0.6 },
      connections: ALL_CONNECTIONS,
      ours: ours('/aggregates/community'),
      theirs: theirs('/static'),
    },
  ]
  return {
    list,
    async stop() {
      for (const child of [bare, driver, provider]) await child.stop()
    },
  }
}
