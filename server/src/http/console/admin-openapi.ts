import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Config } from '../../config.ts'
import type { AdminApi } from './admin-api.ts'
import type { RouteRole } from './admin-frame.ts'
import { REASONS } from '../../core/reasons.ts'
import { ConsoleError, contactOf } from '../shared/error-schema.ts'
import { ALL_ERRORS, type ErrorCode } from '../shared/errors.ts'
import { nameSchemas } from '../shared/name-schemas.ts'
import { makePortable } from '../shared/portable-schemas.ts'

declare module 'fastify' {
  interface FastifyInstance {
    describeAdmin(): object
  }
}

const ROLE_DESCRIPTIONS: Record<RouteRole, string> = {
  nobody: 'Needs no session.',
  session: 'Needs a session.',
  viewer: 'For everyone who administers the community.',
  manager: 'For managers and owners of the community.',
  owner: 'For owners of the community.',
}

const TAGS = {
  Sessions: 'Signing in and out, passwords, and where somebody is signed in.',
  'Second factor': 'Setting up, using and removing a second factor.',
  Overview: 'What happens in the community, and what needs attention.',
  Alerts: 'What administrators are told of when it happens, and what each of them wants to hear.',
  Administrators: 'Who administers the community, in which role, and how they are invited.',
  Members: 'The members with their wallets; import, export and erasure.',
  Listings: 'Services and requests of members.',
  Search: 'One search over members, partners and pages.',
  Partners: 'Who may use the partner API, for what and how much.',
  Credentials: 'The clients of a partner with their secrets and keys.',
  'Test communities': 'Communities with demo data for partners to try.',
  Community: 'The settings of the community.',
  Calls: 'What partners called, and what they got.',
  Exchanges: 'Hours that move between members, and corrections.',
  Webhooks: 'Subscriptions and their deliveries.',
  Audit: 'Who changed what, and when.',
}

/** Every reason of a rejection in English; the console's catalogues have the other languages. */
const SENTENCES = {
  ...Object.fromEntries(Object.entries(ALL_ERRORS).map(([code, [, sentence]]) => [code, sentence])),
  ...REASONS,
}

/** Separate from the partner API: partners have no use for it, and it may change with the console. */
export async function describeAdminApi(app: FastifyInstance, config: Config): Promise<void> {
  await app.register(swagger, {
    decorator: 'describeAdmin',
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Hourbank console API',
        version: '1',
        description: 'What the console is built on. It changes with the console; partners use the partner API.',
        contact: contactOf(config),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.publicUrl }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'hourbank_session' } },
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => (json.$id as string) ?? `schema${index}` },
    transform: ({ schema, url, route }) => ({
      url,
      // A route without a role belongs to the partner API, which has its own description.
      schema:
        schema?.hide || !route.config?.role
          ? { hide: true }
          : {
              ...schema,
              operationId: operationIdOf(route),
              description: [schema?.description, ROLE_DESCRIPTIONS[route.config.role]].filter(Boolean).join(' '),
              security: route.config.role === 'nobody' ? [] : [{ session: [] }],
              'x-role': route.config.role,
              ...(route.config.freshProof && { 'x-fresh-proof': true }),
              response: { ...(schema?.response ?? FILE), ...describeErrors(route) },
            },
    }),
    transformObject: (result) =>
      'openapiObject' in result
        ? { ...nameSchemas(makePortable(result.openapiObject, 'console')), 'x-sentences': SENTENCES }
        : result.swaggerObject,
  })
}

export function adminDescriptionRoute(api: AdminApi): void {
  api.get('/openapi.json', { config: { role: 'session' }, schema: { hide: true } }, async () => api.describeAdmin())
}

/** Routes without a response schema send a file. */
const FILE = { 200: { description: 'The file', content: { 'text/csv': { schema: { type: 'string' } } } } }

/** `GET …/communities/{slug}/members/{id}` is `getMembersById`. */
function operationIdOf({ method, url }: RouteOptions): string {
  const path = url.replace(/^\/api\/admin\/v1\//, '').replace(/^communities\/:slug\//, '')
  const words = path.split(/[/-]/).map((word) => word.replace(/^:/, 'by-').replaceAll(/(?:^|[-_])([a-z])/g, upperCase))
  return `${String(method).toLowerCase()}${words.join('')}`
}

const upperCase = (_: string, letter: string) => letter.toUpperCase()

const CHANGE_ERRORS: ErrorCode[] = ['origin_refused', 'payload_too_large', 'unsupported_media_type', 'refused']

function describeErrors({ config, method, schema }: RouteOptions): Record<string, object> {
  const role = config?.role
  const { properties } = (schema?.querystring ?? {}) as { properties?: Record<string, unknown> }
  const codes: ErrorCode[] = [
    'invalid_request',
    ...(role === 'nobody' ? [] : (['sign_in_required', 'password_change_required', 'not_found'] as const)),
    ...(role === 'nobody' || role === 'session' ? [] : (['second_factor_required'] as const)),
    ...(role === 'manager' || role === 'owner' ? (['role_insufficient'] as const) : []),
    ...(config?.freshProof ? (['proof_required'] as const) : []),
    ...(method === 'GET' ? [] : CHANGE_ERRORS),
    ...(schema?.body || schema?.querystring ? (['validation_failed'] as const) : []),
    ...(properties?.cursor ? (['resync_required'] as const) : []),
    ...(config?.errors ?? []).map((error) => (typeof error === 'string' ? error : error.code)),
    'overloaded',
    'unavailable',
  ]
  const statuses = [...new Set(codes.map((code) => ALL_ERRORS[code][0]))]
  return Object.fromEntries(
    statuses.map((status) => {
      const group = codes.filter((code) => ALL_ERRORS[code][0] === status)
      const description = group.map((code) => `\`${code}\`: ${ALL_ERRORS[code][1]}`).join('\n\n')
      return [status, { description, content: { 'application/json': { schema: ConsoleError } } }]
    }),
  )
}
