import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { API_PREFIX } from './frame.ts'
import { SCOPES, type Scope } from './scopes.ts'

const ERROR_RESPONSES: Record<number, string> = {
  400: 'The request is malformed.',
  401: 'Authentication failed or is missing.',
  403: 'The scope or the address does not allow this.',
  404: 'There is no such thing, or not for this partner.',
  422: 'The content is not acceptable; errors names each field.',
  429: 'Too many requests; see Retry-After.',
  503: 'Switched off, overloaded or without its database; see Retry-After.',
}

const ErrorBody = {
  $id: 'Error',
  type: 'object',
  required: ['error', 'error_description', 'request_id'],
  properties: {
    error: { type: 'string', description: 'A stable code' },
    error_description: { type: 'string', description: 'For people' },
    errors: {
      type: 'array',
      description: 'Every problem found',
      items: {
        type: 'object',
        required: ['code', 'field', 'message'],
        properties: { code: { type: 'string' }, field: { type: 'string' }, message: { type: 'string' } },
      },
    },
    data: { type: 'object', description: 'What a conflict is with, where there is such a thing' },
    request_id: { type: 'string', format: 'uuid' },
  },
} as const

/** OpenAPI 3.1 from the routes' own schemas; the file openapi.json in the repository is compared with it in a test. */
export async function describeApi(app: FastifyInstance, config: Config): Promise<void> {
  app.addSchema(ErrorBody)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Hourbank partner API',
        version: '2.0',
        description: 'Read members, listings, balances and community totals, credit hours, receive events.',
        license: { name: 'MIT' },
      },
      servers: [{ url: config.publicUrl }],
      components: {
        securitySchemes: {
          clientCredentials: {
            type: 'oauth2',
            flows: {
              clientCredentials: { tokenUrl: `${config.publicUrl}${API_PREFIX}/oauth/token`, scopes: { ...SCOPES } },
            },
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => (json.$id as string) ?? `schema${index}` },
    transform({ schema, url, route }) {
      const scopes = [route.config?.scope ?? []].flat() as Scope[]
      return {
        url,
        schema: {
          ...schema,
          // One of several scopes suffices: alternatives.
          security: scopes.map((scope) => ({ clientCredentials: [scope] })),
          response: { ...errorResponses(url, scopes.length > 0), ...(schema?.response as object) },
        },
      }
    },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

function errorResponses(url: string, isScoped: boolean): Record<string, object> {
  const isOAuth = url.includes('/oauth/')
  const isPossible: Record<number, boolean> = {
    400: isScoped || isOAuth,
    401: isScoped || isOAuth,
    403: isScoped || isOAuth,
    404: url.includes('/:'),
    422: isScoped,
    429: isScoped || isOAuth,
    503: true,
  }
  return Object.fromEntries(
    Object.entries(ERROR_RESPONSES)
      .filter(([status]) => isPossible[Number(status)])
      .map(([status, description]) => [
        status,
        { description, content: { 'application/json': { schema: { $ref: 'Error#' } } } },
      ]),
  )
}
