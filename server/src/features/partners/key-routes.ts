import { Type } from 'typebox'
import type { Config } from '../../config.ts'
import { Done } from '../../http/console/admin-shapes.ts'
import type { AdminApi } from '../../http/console/admin-api.ts'
import type { Deps } from '../../http/deps.ts'
import { readPublicKey } from '../../crypto/public-keys.ts'
import { adminActor } from '../audit/admin-actor.ts'
import { JwksUrlBody, NewKeyBody } from './admin-schema.ts'
import { addKey, removeKey, replaceJwksUrl } from './change-keys.ts'
import { checkAuthentication, checkJwksUrl, type Authentication } from './check-authentication.ts'

const CREDENTIALS = ['Credentials']
const ClientParams = Type.Object({ slug: Type.String(), client_id: Type.String() })
const KeyParams = Type.Object({ ...ClientParams.properties, thumbprint: Type.String() })

/** The keys of clients that have no secret. */
export function keyRoutes(api: AdminApi, { sql, config }: Deps): void {
  api.post('/communities/:slug/clients/:client_id/keys', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Register a further key of a client',
      description: 'Both keys work until one is removed.',
      tags: CREDENTIALS,
      params: ClientParams,
      body: NewKeyBody,
      response: { 200: Done },
    },
    handler: async (request) => {
      const { params, body, community } = request
      await addKey(sql, adminActor(request), params.client_id, await readPublicKey(body.public_key), community.id)
      return { data: {} }
    },
  })

  api.delete('/communities/:slug/clients/:client_id/keys/:thumbprint', {
    config: { role: 'owner' },
    schema: {
      summary: 'Remove a key of a client; what it signs is rejected immediately',
      tags: CREDENTIALS,
      params: KeyParams,
      response: { 200: Done },
    },
    handler: async (request) => {
      const { params, community } = request
      await removeKey(sql, adminActor(request), params.client_id, params.thumbprint, community.id)
      return { data: {} }
    },
  })

  api.post('/communities/:slug/clients/:client_id/jwks-url', {
    config: { role: 'owner', freshProof: true },
    schema: {
      summary: 'Replace the address where a client publishes its keys',
      tags: CREDENTIALS,
      params: ClientParams,
      body: JwksUrlBody,
      response: { 200: Done },
    },
    handler: async (request) => {
      const { params, body, community } = request
      const jwksUrl = checkJwksUrl(body.jwks_url, config.webhookAllowPrivateTargets)
      await replaceJwksUrl(sql, adminActor(request), params.client_id, jwksUrl, community.id)
      return { data: {} }
    },
  })
}

export function readAuthentication(
  config: Config,
  { public_key, jwks_url }: { public_key?: string; jwks_url?: string },
): Promise<Authentication> {
  return checkAuthentication({ publicKey: public_key, jwksUrl: jwks_url }, config.webhookAllowPrivateTargets)
}
