import { Type } from 'typebox'
import { SCOPE_NAMES } from '../../core/scopes.ts'
import { SIGNING_ALGORITHMS } from '../../crypto/public-keys.ts'
import { ASSERTION_TYPE } from './authenticate-client.ts'
import { TOKEN_LIFETIME_SECONDS } from './issue-token.ts'

const ClientAuthentication = {
  client_id: Type.Optional(Type.String({ description: 'Unless HTTP Basic or a client assertion is used' })),
  client_secret: Type.Optional(Type.String({ description: 'Unless HTTP Basic or a client assertion is used' })),
  client_assertion_type: Type.Optional(Type.String({ description: ASSERTION_TYPE })),
  client_assertion: Type.Optional(
    Type.String({ description: 'Instead of a secret: a JWT signed with the private key of the client (RFC 7523)' }),
  ),
}

const CREDENTIALS = { client_id: 'hbc_1_0123456789abcdef', client_secret: 'hbs_…' }
const TOKEN = 'hbt_1_…'

export const TokenRequest = Type.Object(
  {
    grant_type: Type.Optional(Type.String({ description: 'client_credentials' })),
    ...ClientAuthentication,
    scope: Type.Optional(
      Type.String({
        description: `Separated by spaces; if omitted, all scopes of the client. Known scopes: ${SCOPE_NAMES.join(' ')}`,
      }),
    ),
  },
  {
    title: 'TokenRequest',
    examples: [{ grant_type: 'client_credentials', ...CREDENTIALS, scope: 'users.read wallet.write' }],
  },
)

export const TokenResponse = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: `Seconds: ${TOKEN_LIFETIME_SECONDS}` }),
    scope: Type.String({ description: 'The granted scopes' }),
  },
  {
    title: 'Token',
    examples: [
      {
        access_token: TOKEN,
        token_type: 'Bearer',
        expires_in: TOKEN_LIFETIME_SECONDS,
        scope: 'users.read wallet.write',
      },
    ],
  },
)

export const RevokeRequest = Type.Object(
  {
    token: Type.Optional(Type.String()),
    token_type_hint: Type.Optional(Type.String({ description: 'Ignored: there is only one kind of token' })),
    ...ClientAuthentication,
  },
  { title: 'RevokeRequest', examples: [{ token: TOKEN, ...CREDENTIALS }] },
)

export const AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']

export const Metadata = Type.Object(
  {
    issuer: Type.String(),
    token_endpoint: Type.String(),
    token_endpoint_auth_methods_supported: Type.Array(Type.String()),
    token_endpoint_auth_signing_alg_values_supported: Type.Array(Type.String()),
    revocation_endpoint: Type.String(),
    revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
    revocation_endpoint_auth_signing_alg_values_supported: Type.Array(Type.String()),
    response_types_supported: Type.Array(Type.String()),
    grant_types_supported: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    service_documentation: Type.String(),
  },
  {
    examples: [
      {
        issuer: 'https://hours.example.org',
        token_endpoint: 'https://hours.example.org/api/partner/v1/oauth/token',
        token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
        token_endpoint_auth_signing_alg_values_supported: [...SIGNING_ALGORITHMS],
        revocation_endpoint: 'https://hours.example.org/api/partner/v1/oauth/revoke',
        revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
        revocation_endpoint_auth_signing_alg_values_supported: [...SIGNING_ALGORITHMS],
        response_types_supported: [],
        grant_types_supported: ['client_credentials'],
        scopes_supported: SCOPE_NAMES,
        service_documentation: 'https://hours.example.org/docs/',
      },
    ],
  },
)
