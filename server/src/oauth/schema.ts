import { Type } from 'typebox'
import { SCOPE_NAMES } from '../http/scopes.ts'
import { TOKEN_LIFETIME_SECONDS } from './issue-token.ts'

const ClientAuthentication = {
  client_id: Type.Optional(Type.String({ description: 'Unless HTTP Basic is used' })),
  client_secret: Type.Optional(Type.String({ description: 'Unless HTTP Basic is used' })),
}

export const TokenRequest = Type.Object({
  grant_type: Type.Optional(Type.String({ description: 'client_credentials' })),
  ...ClientAuthentication,
  scope: Type.Optional(
    Type.String({
      description: `Separated by spaces; all that the client may have when omitted: ${SCOPE_NAMES.join(' ')}`,
    }),
  ),
})

export const TokenResponse = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: `Seconds: ${TOKEN_LIFETIME_SECONDS}` }),
  scope: Type.String({ description: 'What was granted' }),
})

export const RevokeRequest = Type.Object({
  token: Type.Optional(Type.String()),
  token_type_hint: Type.Optional(Type.String({ description: 'Ignored: there is only one kind of token' })),
  ...ClientAuthentication,
})

export const Metadata = Type.Object({
  issuer: Type.String(),
  token_endpoint: Type.String(),
  token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  revocation_endpoint: Type.String(),
  revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
  response_types_supported: Type.Array(Type.String()),
  grant_types_supported: Type.Array(Type.String()),
  scopes_supported: Type.Array(Type.String()),
  service_documentation: Type.String(),
})
