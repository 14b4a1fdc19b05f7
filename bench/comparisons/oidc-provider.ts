import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
// The package has no types.
// @ts-expect-error
import { Provider } from 'oidc-provider'
import { serveParent } from '../children.ts'

/*
 * oidc-provider 9 with its own in-memory store, opaque tokens and one client with a secret. Nothing is written to disk,
 * and tokens are lost with the process.
 */

const provider = new Provider('http://127.0.0.1', {
  clients: [
    {
      client_id: process.env['CLIENT_ID'],
      client_secret: process.env['CLIENT_SECRET'],
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  scopes: process.env['SCOPES']!.split(' '),
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  ttl: { ClientCredentials: 3600 },
})

const server = createServer(provider.callback())
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
serveParent(async () => port)
