import swagger from '@fastify/swagger'
import type { ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../config.ts'
import { contactOf, partnerError } from '../shared/error-schema.ts'
import { ALL_ERRORS, ApiError, ERRORS, type ErrorCode, type PartnerErrorCode } from '../shared/errors.ts'
import { API_PREFIX, API_VERSION } from './frame.ts'
import { PROJECT } from '../../core/project.ts'
import { SCOPES, type Scope } from '../../core/scopes.ts'
import { nameSchemas } from '../shared/name-schemas.ts'
import { makePortable } from '../shared/portable-schemas.ts'
import { compileValidator, validationFailed } from '../shared/validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors of this route besides those of every route; an ApiError instead of a code serves as the example. */
    errors?: readonly (ErrorCode | ApiError)[]
    /** The route can also answer in CSV: an example of it. */
    csvExample?: string
  }
}

/** An event type as documented for partners. */
interface DescribedEvent {
  description: string
  scope: Scope | undefined
  data: object
  example: object
}

const INTRODUCTION = readFileSync(new URL('server/reference/introduction.md', PROJECT), 'utf8')

const TAGS = {
  OAuth: 'Access tokens by client credentials.',
  Members: 'The active members of the community, and those who no longer are.',
  Listings: 'Services and requests of members.',
  Wallet: 'Balances, and the hours that the partner credits.',
  Aggregates: 'Community totals, without personal data.',
  Webhooks: 'Subscriptions, deliveries, and the same events as a feed.',
  Events: 'What is sent to the `target_url` of a subscription, signed according to Standard Webhooks.',
}

/** Generates OpenAPI 3.1 from the routes' schemas; a test compares it with openapi.json in the repository. */
export async function describeApi(
  app: FastifyInstance,
  config: Config,
  events: Record<string, DescribedEvent>,
  /** What `data` is in the errors that have it. */
  errorData: Partial<Record<PartnerErrorCode, object>>,
): Promise<void> {
  const errorSchema = partnerError(errorData)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Hourbank partner API',
        version: API_VERSION,
        description: INTRODUCTION,
        contact: contactOf(config),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.publicUrl }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      webhooks: describeEvents(events) as Record<string, never>,
      components: {
        examples: ERROR_EXAMPLES,
        securitySchemes: {
          clientCredentials: {
            type: 'oauth2',
            description: 'The client id and secret that the administrator of the community hands out.',
            flows: {
              clientCredentials: { tokenUrl: `${config.publicUrl}${API_PREFIX}/oauth/token`, scopes: { ...SCOPES } },
            },
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => (json.$id as string) ?? `schema${index}` },
    transform: ({ schema, url, route }) => ({
      url,
      // The console API has its own description.
      schema:
        schema.hide || route.config?.role ? { hide: true } : describeRoute(schema as RouteSchema, route, errorSchema),
    }),
    transformObject: (result) =>
      'openapiObject' in result
        ? dropUnusedExamples(nameSchemas(makePortable(result.openapiObject, 'partners')))
        : result.swaggerObject,
  })
}

/** The part of JSON Schema that is used here. */
interface Schema {
  title?: string
  description?: string
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  examples?: unknown[]
}

interface RouteSchema extends FastifySchema {
  querystring?: Schema
  body?: Schema
  response: Record<string, Schema>
}

function describeRoute(schema: RouteSchema, route: RouteOptions, errorSchema: object): FastifySchema {
  const scopes = [route.config?.scope ?? []].flat() as Scope[]
  const isList = schema.querystring?.properties?.cursor !== undefined
  const answers = Object.entries(schema.response).map(([status, answer]) => {
    const header = status === '201' ? 'Location' : isList ? 'Link' : undefined
    const described = {
      ...answer,
      'x-response-description': answer.description ?? STATUS_CODES[status],
      examples: [exampleOf(answer)],
      ...(header && { headers: pick(header) }),
    }
    return [status, route.config?.csvExample ? withCsv(described, route.config.csvExample) : described]
  })
  return {
    ...schema,
    ...(schema.body && { body: { ...schema.body, examples: [exampleOf(schema.body)] } }),
    // Separate entries are alternatives: one of several scopes suffices.
    security: scopes.map((scope) => ({ clientCredentials: [scope] })),
    response: { ...Object.fromEntries(answers), ...describeErrors(errorsOf(schema, route), errorSchema) },
  }
}

/** Describes a success that comes as JSON or as CSV. */
function withCsv(described: Schema & { headers?: object; 'x-response-description'?: string | undefined }, csv: string) {
  const { headers, examples, 'x-response-description': description, ...schema } = described
  return {
    description,
    ...(headers && { headers }),
    content: {
      'application/json': { schema, example: examples?.[0] },
      'text/csv': { schema: { type: 'string' }, example: csv },
    },
  }
}

/** Returns the schema's example, or builds one from the examples of its parts. */
function exampleOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0]
  if (schema.items) return [exampleOf(schema.items)]
  if (!schema.properties) throw new Error(`no example for ${JSON.stringify(schema)}`)
  return Object.fromEntries(Object.entries(schema.properties).map(([name, value]) => [name, exampleOf(value)]))
}

const SCOPED_ROUTE_ERRORS: ErrorCode[] = [
  'invalid_request',
  'authentication_required',
  'invalid_token',
  'insufficient_scope',
  'ip_not_allowed',
  'rate_limited',
  'partner_api_disabled',
]
const BODY_ERRORS: ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type']
const COMMON_ERRORS: ErrorCode[] = ['internal_error', 'overloaded', 'unavailable']

/** Derives the common errors from the route's method, scope and schemas, and adds those that it declares itself. */
function errorsOf({ querystring, body }: RouteSchema, { config, method }: RouteOptions): ApiError[] {
  const all = [
    ...COMMON_ERRORS,
    ...(config?.scope ? SCOPED_ROUTE_ERRORS : []),
    ...(method === 'GET' ? [] : BODY_ERRORS),
    ...(querystring?.properties?.cursor ? (['resync_required'] as const) : []),
    ...(config?.scope
      ? [querystring && rejectionOf(querystring, 'querystring'), body && rejectionOf(body, 'body')]
      : []),
    ...(config?.errors ?? []),
  ].filter((error) => error !== undefined)
  const byCode = new Map(
    all.map((error) => (error instanceof ApiError ? [error.code, error] : [error, new ApiError(error)])),
  )
  return [...byCode.values()].toSorted((one, other) => one.status - other.status)
}

/** Returns the error that the route's own schema produces for invalid input. */
function rejectionOf(schema: Schema, httpPart: 'querystring' | 'body'): ApiError {
  const validate = compileValidator({ schema, httpPart, method: '', url: '' }) as ValidateFunction
  const invalidInputs = httpPart === 'body' ? [{}, null] : [{ limit: '0' }]
  invalidInputs.some((value) => !validate(value))
  return validationFailed(validate.errors!)
}

const REQUEST_ID = '5f0c9a52-6c1e-4b0e-9d7a-3f1b2c4d5e6f'

const HEADERS = {
  Location: { type: 'string', description: 'Address of the new resource' },
  Link: { type: 'string', description: 'The next page, rel="next", if there is one' },
  'WWW-Authenticate': { type: 'string', description: 'How to authenticate, and what is wrong with the token' },
  'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try' },
}
const ERROR_HEADERS: Record<number, keyof typeof HEADERS> = {
  401: 'WWW-Authenticate',
  403: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
}

function pick(name: keyof typeof HEADERS) {
  return { [name]: HEADERS[name] }
}

const ERROR_EXAMPLES = Object.fromEntries(
  (Object.keys(ERRORS) as ErrorCode[]).map((code) => [code, { value: new ApiError(code).body(REQUEST_ID) }]),
)

/** References the shared example, unless the error has its own description or data. */
function exampleOfError(error: ApiError) {
  const value = error.body(REQUEST_ID)
  const isShared = isDeepStrictEqual(value, ERROR_EXAMPLES[error.code]!.value)
  return isShared ? { $ref: `#/components/examples/${error.code}` } : { value }
}

/** The description of invalid input is about one example of it. */
function summaryOf({ code, description }: ApiError): string {
  return code === 'validation_failed' ? ALL_ERRORS[code][1] : description
}

/** Some errors have an example of their own wherever they occur. */
function dropUnusedExamples<Description extends { components?: { examples?: object } }>(document: Description) {
  const text = JSON.stringify(document)
  const used = Object.entries(document.components?.examples ?? {}).filter(([code]) =>
    text.includes(`"#/components/examples/${code}"`),
  )
  return { ...document, components: { ...document.components, examples: Object.fromEntries(used) } }
}

function describeErrors(errors: ApiError[], schema: object): Record<string, object> {
  const statuses = [...new Set(errors.map(({ status }) => status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const group = errors.filter((error) => error.status === status)
      const examples = group.map((error) => [error.code, exampleOfError(error)])
      const answer = {
        description: group.map((error) => `\`${error.code}\`: ${summaryOf(error)}`).join('\n\n'),
        ...(ERROR_HEADERS[status] && { headers: pick(ERROR_HEADERS[status]) }),
        content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
      }
      return [status, answer]
    }),
  )
}

const EVENT_ID = 'evt_0b0a2c7e-2c1f-4d53-9c0d-7f8f5a1e6b21'
const EVENT_AT = '2026-01-31T09:00:00.000000Z'

const EVENT_HEADERS = [
  [
    'webhook-id',
    EVENT_ID,
    'The id of the event, the same for retries, redeliveries and replays: ignore an id that you have seen',
  ],
  [
    'webhook-timestamp',
    `${Date.parse(EVENT_AT) / 1000}`,
    'Time of this attempt in seconds since 1970: reject old deliveries',
  ],
  [
    'webhook-signature',
    'v1,7lpOm+Wh3iBGNsKpbJIeHMm2i1vZ6TgQ3tRkqjMWuUM=',
    '`v1,` and, in base64, the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`; the key is what follows `whsec_` in the secret, in base64. Several, separated by spaces, while a secret is rotated: one has to match.',
  ],
] as const

function describeEvents(events: Record<string, DescribedEvent>) {
  return Object.fromEntries(Object.entries(events).map(([type, event]) => [type, describeEvent(type, event)]))
}

function describeEvent(type: string, { description, scope, data, example }: DescribedEvent) {
  const scopes = ['webhooks.manage', scope].filter((name) => name !== undefined)
  return {
    post: {
      operationId: `on${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
      summary: type,
      description: `${description}\n\nSent to clients with ${scopes.map((name) => `\`${name}\``).join(' and ')}.`,
      tags: ['Events'],
      // The signature proves where an event is from; there is no token.
      security: [],
      parameters: EVENT_HEADERS.map(([name, value, text]) => ({
        in: 'header',
        name,
        required: true,
        description: text,
        schema: { type: 'string' },
        example: value,
      })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['type', 'timestamp', 'data'],
              properties: {
                type: { type: 'string', const: type },
                timestamp: { type: 'string', format: 'date-time', description: 'When it happened' },
                data,
              },
            },
            example: { type, timestamp: EVENT_AT, data: example },
          },
        },
      },
      responses: {
        '2XX': { description: 'Any 2xx status within 15 seconds confirms the delivery.' },
        410: { description: 'Disables the subscription.' },
        default: {
          description: 'Anything else is retried: up to ten attempts over three days. `Retry-After` is honoured.',
        },
      },
    },
  }
}
