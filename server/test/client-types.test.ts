import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Static } from 'typebox'
import { expect, onTestFinished, test } from 'vitest'
import type * as client from '../../client/src/index.ts'
import type { CommunityAggregates } from '../src/features/aggregates/schema.ts'
import { apiDescription } from '../src/cli/describe.ts'
import type { EVENT_TYPES } from '../src/features/events/event-types.ts'
import type { FieldError, PartnerErrorCode } from '../src/http/shared/errors.ts'
import type { PageMeta } from '../src/http/shared/paging.ts'
import type { Scope } from '../src/core/scopes.ts'
import type { Listing } from '../src/features/listings/schema.ts'
import type { Member } from '../src/features/members/schema.ts'
import type { TokenResponse } from '../src/features/oauth/schema.ts'
import type {
  Balance,
  Credit,
  CreditAnswer,
  CreditRequest,
  Reversal,
  ReverseRequest,
} from '../src/features/wallet/schema.ts'
import type {
  Delivery,
  NewSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionMeta,
  SubscriptionRequest,
} from '../src/features/subscriptions/schema.ts'

/** Written out: an interface that extends another is the same type as the object with all the properties. */
type Flat<T> = T extends (infer Item)[] ? Flat<Item>[] : T extends object ? { [Key in keyof T]: Flat<T[Key]> } : T

/** Identical, both ways; `any`, optional and readonly properties are told apart too. */
type Equal<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false

/** Compiles only for equal types: others need an argument that does not exist. */
export function same<A, B>(..._proof: Equal<A, B> extends true ? [] : ['these types differ', never]): void {}

type DataOfEvents = { -readonly [Name in keyof typeof EVENT_TYPES]: Static<(typeof EVENT_TYPES)[Name]['data']> }

test('the types of the SDK are the schemas of the server, by the judgement of the compiler', () => {
  same<client.Scope, Scope>()
  same<client.ErrorCode, PartnerErrorCode>()
  same<client.FieldError, FieldError>()
  same<client.TokenResponse, Static<typeof TokenResponse>>()
  same<client.PageMeta, Static<typeof PageMeta>>()
  same<client.Member, Static<typeof Member>>()
  same<client.Listing, Static<typeof Listing>>()
  same<client.Balance, Static<typeof Balance>>()
  same<client.CreditRequest, Static<typeof CreditRequest>>()
  same<client.Credit, Static<typeof Credit>>()
  same<{ data: client.CreditAnswer }, Static<typeof CreditAnswer>>()
  same<client.ReverseRequest, Static<typeof ReverseRequest>>()
  same<client.Reversal, Static<typeof Reversal>>()
  same<client.CommunityAggregates, CommunityAggregates>()
  same<client.SubscriptionRequest, Static<typeof SubscriptionRequest>>()
  same<client.SubscriptionChange, Static<typeof SubscriptionChange>>()
  same<client.Subscription, Static<typeof Subscription>>()
  same<client.NewSubscription, Static<typeof NewSubscription>>()
  same<client.SubscriptionMeta, Static<typeof SubscriptionMeta>>()
  same<client.Delivery, Static<typeof Delivery>>()
  same<client.EventDataByType, DataOfEvents>()

  // That a difference is found, whichever side has it.
  // @ts-expect-error a property more
  same<client.Member & { phone: string }, Member>()
  // @ts-expect-error a property less
  same<Omit<client.Member, 'joined_at'>, Member>()
  // @ts-expect-error required instead of optional
  same<Required<client.Member>, Member>()
  // @ts-expect-error a value more
  same<client.ErrorCode | 'teapot', PartnerErrorCode>()
  // @ts-expect-error null is left out, deep inside
  same<{ data: { note: string }[] }, { data: Pick<Credit, 'note'>[] }>()
})

interface Answers<Data, Meta = undefined> {
  query: unknown
  body: unknown
  success: Meta extends undefined ? { data: Data } : { data: Data; meta: Meta }
}
interface Asks<Query, Item, Meta = client.PageMeta> {
  query: Query
  body: unknown
  success: { data: Item[]; meta: Meta }
}
interface Takes<Body, Success> {
  query: unknown
  body: Body
  success: Success
}
interface Credentials {
  client_id?: string
  client_secret?: string
}
interface AnyEvent {
  id: string
  type: string
  timestamp: string
  data: unknown
}

/** What the SDK sends and expects, by the server's names of the operations; `unknown` where there is nothing. */
export interface OperationsOfClient {
  issueToken: Takes<Credentials & { grant_type?: string; scope?: string }, client.TokenResponse>
  revokeToken: Takes<Credentials & { token?: string; token_type_hint?: string }, object>
  listUsers: Asks<client.MembersQuery, client.Member>
  getUser: Answers<client.Member>
  listListings: Asks<client.ListingsQuery, client.Listing>
  getListing: Answers<client.Listing>
  listRemovals: Asks<client.RemovalsQuery, client.Removal>
  getBalance: Answers<client.Balance>
  creditWallet: Takes<client.CreditRequest, { data: client.CreditAnswer }>
  listCredits: Asks<client.CreditsQuery, client.Credit, client.CreditsMeta>
  reverseCredit: Takes<client.ReverseRequest, { data: client.Reversal }>
  getCommunityAggregates: Answers<client.CommunityAggregates>
  listSubscriptions: Asks<client.PageQuery, client.Subscription>
  createSubscription: Takes<client.SubscriptionRequest, { data: client.NewSubscription; meta: client.SubscriptionMeta }>
  getSubscription: Answers<client.Subscription>
  updateSubscription: Takes<client.SubscriptionChange, { data: client.Subscription; meta: client.SubscriptionMeta }>
  deleteSubscription: Answers<client.Subscription>
  testSubscription: Answers<client.TestSent>
  rotateSubscriptionSecret: Answers<client.NewSubscription>
  replaySubscription: Takes<client.ReplayRequest, { data: client.ReplayStarted }>
  listDeliveries: Asks<client.DeliveriesQuery, client.Delivery>
  redeliver: Answers<client.Delivery>
  listEventTypes: Answers<client.EventTypeEntry[]>
  listEvents: Asks<client.PageQuery, AnyEvent>
}

/** The catalogue tells the events apart; the feed's own schema leaves them open. */
export type KnownEventsAreEvents = client.KnownEvent extends AnyEvent ? true : false
same<KnownEventsAreEvents, true>()

interface JsonSchema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
}
interface Content {
  content: { 'application/json': { schema: JsonSchema } }
}
interface DescribedOperation {
  operationId: string
  parameters?: { in: string; name: string; required: boolean; schema: JsonSchema }[]
  requestBody?: Content
  responses: Record<string, Content>
}

const description = (await apiDescription()) as {
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, JsonSchema> }
}

const SIMPLE_TYPES: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function typeText(schema: JsonSchema): string {
  if (schema.$ref) return typeText(description.components.schemas[schema.$ref.split('/').at(-1)!]!)
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' | ')
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `(${typeText(schema.items!)})[]`
  if (schema.type === 'object') return objectText(schema.properties ?? {}, schema.required ?? [])
  if (schema.type === undefined) return 'unknown'
  const simple = SIMPLE_TYPES[schema.type]
  if (!simple) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return simple
}

function objectText(properties: Record<string, JsonSchema>, required: string[]): string {
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  )
  return lines.length > 0 ? `{ ${lines.join('; ')} }` : 'object'
}

function operationText({ operationId, parameters = [], requestBody, responses }: DescribedOperation): string {
  const asked = parameters.filter((one) => one.in === 'query')
  const names = asked.filter(({ required }) => required).map(({ name }) => name)
  const query = objectText(Object.fromEntries(asked.map(({ name, schema }) => [name, schema])), names)
  const successes = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => typeText(content['application/json'].schema))
  const body = requestBody ? typeText(requestBody.content['application/json'].schema) : 'unknown'
  return `${operationId}: {
    query: ${asked.length > 0 ? query : 'unknown'}
    body: ${body}
    success: ${[...new Set(successes)].join(' | ')}
  }`
}

/** A second or two, but on a machine that does much else. */
const COMPILE_TIMEOUT_MS = 120_000
/** Shows that the compiler was asked, and finds what differs. */
const DIFFERENCE = `same<OperationsOfClient['getUser'], OperationsOfServer['getListing']>()`
const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

test(
  'every operation that the server describes has its query, body and answer in the SDK, by the judgement of the compiler',
  async () => {
    const operations = Object.entries(description.paths)
      .filter(([path]) => path.startsWith('/api/partner/v1/'))
      .flatMap(([, methods]) => Object.values(methods))
    const dir = await mkdtemp(join(tmpdir(), 'hourbank-types-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    const names = operations.map(({ operationId }) => operationId)
    const check = `import { same, type OperationsOfClient } from ${JSON.stringify(fileURLToPath(import.meta.url))}
interface OperationsOfServer {
  ${operations.map(operationText).join('\n  ')}
}
same<keyof OperationsOfClient, keyof OperationsOfServer>()
${names.map((name) => `same<OperationsOfClient['${name}'], OperationsOfServer['${name}']>()`).join('\n')}
${DIFFERENCE}
`
    await writeFile(join(dir, 'check.mts'), check)
    await writeFile(
      join(dir, 'tsconfig.json'),
      JSON.stringify({
        extends: join(REPOSITORY, 'server/tsconfig.json'),
        compilerOptions: {
          typeRoots: [join(REPOSITORY, 'node_modules/@types')],
          rewriteRelativeImportExtensions: false,
        },
        include: [],
        files: ['check.mts'],
      }),
    )
    // What else the compiler finds in the sources is told by `npm run check`.
    const linesOfCheck = check.split('\n')
    const differences = [...(await compile(dir)).matchAll(/check\.mts\((\d+),\d+\): error/g)].map(
      ([, line]) => linesOfCheck[Number(line) - 1],
    )
    expect(differences).toEqual([DIFFERENCE])
  },
  COMPILE_TIMEOUT_MS,
)

function compile(dir: string): Promise<string> {
  const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', dir], { encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` || error.message : ''),
    )
  })
}
