import { pino, type Logger } from 'pino'
import { onTestFinished } from 'vitest'
import { TIMEOUTS, type Timeouts } from '../src/app.ts'
import type { Actor } from '../src/features/audit/record.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { readConfig, type Config } from '../src/config.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import type { KeySets } from '../src/http/partner/key-sets.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { startNode, type ServingNode } from '../src/process/node.ts'
import { createPartner, type NewPartner } from '../src/features/partners/create-partner.ts'
import type { Sender } from '../src/delivery/send.ts'
import { newDatabase } from './database.ts'
import { freePort } from './free-port.ts'
import { requireNoLeak } from './leaks.ts'
import { findOddTimes } from './response-times.ts'

export { freePort }
export const SECRET_KEY = 'a-secret-key-that-only-tests-use-0123'
export const TESTER: Actor = { kind: 'system', name: 'test' }

export interface Answer {
  status: number
  headers: Headers
  // Whatever the wire brought; each test says what it expects.
  body: any
}

export interface CallOptions {
  method?: string
  token?: string | undefined
  headers?: Record<string, string>
  /** Text and bytes are sent as they are, anything else as JSON. */
  body?: unknown
}

export interface TestPartner {
  partnerId: number
  clientId: string
  clientSecret: string
}

export interface Bank {
  url: string
  sql: Sql
  databaseUrl: string
  config: Config
  communityId: number
  /** A partner with all scopes, unless the test asked for others. */
  partner: TestPartner
  node: ServingNode
  call(path: string, options?: CallOptions): Promise<Answer>
  token(scope?: string, partner?: TestPartner): Promise<string>
  addPartner(input?: Partial<NewPartner>, communityId?: number): Promise<TestPartner>
  addCommunity(slug: string): Promise<number>
}

export interface BankOptions {
  databaseUrl?: string
  scopes?: string[]
  config?: Partial<Config>
  log?: Logger
  onStatement?: (statement: string) => void
  sender?: Sender
  keySets?: KeySets
  timeouts?: Partial<Timeouts>
  secretKey?: string
}

/** The production app on a database of the test's own, on a real port. */
export async function startBank(options: BankOptions = {}): Promise<Bank> {
  const databaseUrl = options.databaseUrl ?? (await newDatabase())
  const sql = connect(databaseUrl, { connectionsMax: 4, name: 'test' })
  const community = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const partner = await createPartner(sql, TESTER, community.id, {
    name: 'Bank',
    scopes: options.scopes ?? SCOPE_NAMES,
  })
  const { node, config } = await startTestNode(databaseUrl, options)
  onTestFinished(() => sql.end())

  const call = (path: string, callOptions?: CallOptions) => callNode(config.publicUrl, path, callOptions)
  return {
    url: config.publicUrl,
    sql,
    databaseUrl,
    config,
    communityId: community.id,
    partner,
    node,
    call,
    token: (scope, of = partner) => fetchToken(config.publicUrl, of, scope),
    addPartner: (input, communityId = community.id) =>
      createPartner(sql, TESTER, communityId, { name: 'Other bank', scopes: SCOPE_NAMES, ...input }),
    addCommunity: async (slug) => {
      const { id } = await createCommunity(sql, TESTER, { slug, name: slug })
      // Ids count within a community. Start elsewhere, so that an id of this one is unknown in the others.
      await sql`
        insert into id_counters (community_id, counted, last_id)
        select ${id}, counted, ${id * 10_000} from unnest(array['members', 'listings', 'subscriptions']) as c(counted)`
      return id
    },
  }
}

/** A machine that stands still for some seconds makes a test slow, not wrong. What is about limits sets its own. */
const PATIENT: Timeouts = { ...TIMEOUTS, handlerMs: 120_000, requestMs: 120_000 }

/** One more node, on whatever database. */
export async function startTestNode(
  databaseUrl: string,
  options: Omit<BankOptions, 'databaseUrl' | 'scopes'> = {},
): Promise<{ node: ServingNode; config: Config; url: string }> {
  const port = await freePort()
  const config = { ...readConfig({ PORT: `${port}` }), ...options.config }
  const log = options.log ?? pino({ level: 'silent' })
  const node = await startNode({
    config,
    databaseUrl,
    secretKey: options.secretKey ?? SECRET_KEY,
    log,
    sender: options.sender,
    keySets: options.keySets,
    ...(options.onStatement && { onStatement: options.onStatement }),
    timeouts: { ...PATIENT, ...options.timeouts },
  })
  onTestFinished(() => node.close())
  return { node, config, url: config.publicUrl }
}

/** `path` beginning with /oauth, /users …: under the prefix; a full path or address is taken as it is. */
export async function callNode(base: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { token, body, method = body === undefined ? 'GET' : 'POST' } = options
  const isBytes = body instanceof Uint8Array
  const headers: Record<string, string> = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(typeof body === 'object' && !isBytes && { 'content-type': 'application/json' }),
    ...options.headers,
  }
  const response = await fetch(addressOf(base, path), {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: typeof body === 'string' || isBytes ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  requireNoLeak(`${method} ${new URL(addressOf(base, path)).pathname}`, text)
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const answerBody = isJson && text ? JSON.parse(text) : text
  // Every response that any test gets is checked for this.
  const oddTimes = findOddTimes(answerBody)
  if (oddTimes.length > 0) throw new Error(`times without six fraction digits in ${path}: ${oddTimes.join(', ')}`)
  return { status: response.status, headers: response.headers, body: answerBody }
}

function addressOf(base: string, path: string): string {
  const isOutside = ['/api/', '/.well-known', '/healthz', '/readyz', '/metrics', '/openapi', '/console'].some((start) =>
    path.startsWith(start),
  )
  return `${base}${isOutside || path === '/' ? '' : API_PREFIX}${path}`
}

export async function fetchToken(
  base: string,
  { clientId, clientSecret }: TestPartner,
  scope?: string,
): Promise<string> {
  const { status, body } = await callNode(base, '/oauth/token', {
    body: {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      ...(scope && { scope }),
    },
  })
  if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(body)}`)
  return body.access_token
}

/** Long enough for a busy machine: only what never comes takes this long. */
const WAIT_MS = 120_000
const POLL_MS = 20

/** Asks again until it is so. */
export async function eventually<T>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  waitMs = WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > deadline) throw new Error(`not within ${waitMs} ms: ${ask}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
