import type { FastifyReply } from 'fastify'
import type { Deps } from '../../http/deps.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { API_PREFIX, requireAddress, requireOpenApi } from '../../http/partner/frame.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { acceptForms } from '../../http/shared/read-body.ts'
import { SCOPE_NAMES } from '../../core/scopes.ts'
import { SIGNING_ALGORITHMS } from '../../crypto/public-keys.ts'
import { sendError, toApiError } from '../../http/shared/send-error.ts'
import { authenticateClient } from './authenticate-client.ts'
import { TOKEN_LIFETIME_SECONDS, createTokenIssuer } from './issue-token.ts'
import { revokeToken } from './revoke-token.ts'
import { AUTHENTICATION_METHODS, Metadata, RevokeRequest, TokenRequest, TokenResponse } from './schema.ts'
import { Type } from 'typebox'

const FORM = 'application/x-www-form-urlencoded'

export function oauthRoutes(api: PartnerApi, deps: Deps): void {
  const issueToken = createTokenIssuer(deps.sql)

  acceptForms(api, FORM)

  api.addHook('onRequest', async (_request, reply) => forbidCaching(reply))
  api.setErrorHandler((error, request, reply) => sendError(toAscii(toApiError(error)), request, reply))

  api.post('/oauth/token', {
    config: {
      public: true,
      errors: [
        'unsupported_grant_type',
        'invalid_scope',
        'invalid_client',
        'ip_not_allowed',
        'rate_limited',
        'partner_api_disabled',
      ],
    },
    attachValidation: true,
    schema: {
      operationId: 'issueToken',
      summary: 'Exchange client credentials for an access token',
      description:
        'The grant client_credentials of RFC 6749. The body can also be a form (`application/x-www-form-urlencoded`). Client id and secret go into the body or into HTTP Basic. A client with a key sends an assertion instead of a secret (RFC 7523). Scopes that the client does not have are left out of the grant.',
      tags: ['OAuth'],
      body: TokenRequest,
      response: { 200: TokenResponse },
    },
    handler: async (request, reply) => {
      const { grant_type, scope, ...credentials } = readParameters(request.body, request.validationError)
      if (grant_type === undefined) throw new ApiError('invalid_request', { description: 'grant_type is missing.' })
      const client = await authenticateClient(deps, request, reply, credentials)
      requireOpenApi(client)
      requireAddress(client, request.ip)
      if (grant_type !== 'client_credentials') throw new ApiError('unsupported_grant_type')
      const { token, scopes } = await issueToken(client, scope)
      return {
        access_token: token,
        token_type: 'Bearer' as const,
        expires_in: TOKEN_LIFETIME_SECONDS,
        scope: scopes.join(' '),
      }
    },
  })

  api.post('/oauth/revoke', {
    config: { public: true, errors: ['invalid_client', 'ip_not_allowed', 'rate_limited'] },
    attachValidation: true,
    schema: {
      operationId: 'revokeToken',
      summary: 'Revoke an access token (RFC 7009)',
      description:
        'With the client authentication of the token endpoint, and as JSON or as a form, as there. An unknown, expired or revoked token is not an error.',
      tags: ['OAuth'],
      body: RevokeRequest,
      response: { 200: Type.Object({}) },
    },
    handler: async (request, reply) => {
      const { token, ...credentials } = readParameters(request.body, request.validationError)
      const client = await authenticateClient(deps, request, reply, credentials)
      // Works even if the partner API is switched off: revoking access must always be possible.
      requireAddress(client, request.ip)
      if (token === undefined) throw new ApiError('invalid_request', { description: 'token is missing.' })
      await revokeToken(deps.sql, deps.access, client, token)
      return {}
    },
  })
}

export function oauthMetadataRoute(app: PartnerApi, deps: Deps): void {
  const base = `${deps.config.publicUrl}${API_PREFIX}`
  const algorithms = [...SIGNING_ALGORITHMS]
  app.get('/.well-known/oauth-authorization-server', {
    config: { public: true, errors: ['misdirected_request'] },
    schema: {
      operationId: 'getAuthorizationServerMetadata',
      summary: 'Authorization server metadata (RFC 8414)',
      description: 'For OAuth libraries that discover endpoints.',
      tags: ['OAuth'],
      response: { 200: Metadata },
    },
    handler: async () => ({
      issuer: deps.config.publicUrl,
      token_endpoint: `${base}/oauth/token`,
      token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint: `${base}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      scopes_supported: SCOPE_NAMES,
      service_documentation: `${deps.config.publicUrl}/docs/`,
    }),
  })
}

/** Required by RFC 6749 5.1. */
function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
}

/** RFC 6749 5.2 forbids quotes and backslashes, but an administrator's reason for switching off the API may have them. */
function toAscii(error: ApiError): ApiError {
  const description = error.description
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/["\p{Pi}\p{Pf}\u201a\u201e]/gu, "'")
    .replaceAll(/\p{Pd}/gu, '-')
    .replaceAll('\\', '/')
    .replaceAll(/[^\x20-\x7e]/gu, '?')
  const { code, errors, headers, cause } = error
  return new ApiError(code, { description, headers, cause, ...(errors && { errors }) })
}

/** An empty parameter counts as omitted (RFC 6749 3.2). Schema violations are answered with 400 here, not 422. */
function readParameters<T extends object>(body: T | null, problem: Error | undefined): T {
  if (problem || body === null) {
    throw new ApiError('invalid_request', { description: 'Send an object of text parameters.', cause: problem })
  }
  const parameters = Object.entries(body)
  const given = parameters.filter(([, value]) => value !== '')
  return given.length === parameters.length ? body : (Object.fromEntries(given) as T)
}
