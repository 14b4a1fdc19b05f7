import { randomUUID } from 'node:crypto'
import { hashSecret } from '../src/crypto/secrets.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { insertSession } from '../src/http/console/session-queries.ts'
import { newSessionToken } from '../src/http/console/sessions.ts'
import type { AdminRole } from '../src/postgres/across-communities.ts'
import { addAdmin, PASSWORD, type TestAdmin } from './admin.ts'
import { callNode, fetchToken, type Bank, type CallOptions } from './bank.ts'
import { addKeyClient, assertionOf, present } from './key-clients.ts'

/** More calls than a round makes. */
const RATE_LIMIT = 1_000_000

/** One withdrawal on a node, and a call on another node that worked until then. */
export interface Withdrawal {
  use(): Promise<number>
  withdraw(): Promise<number>
  /** For what concerns the whole community. */
  undo?(): Promise<unknown>
}

export interface Nodes {
  bank: Bank
  /** Where access is withdrawn. */
  first: string
  /** Where it is used. */
  second: string
}

export async function describeWithdrawals(nodes: Nodes): Promise<Record<string, () => Promise<Withdrawal>>> {
  const { bank, first, second } = nodes
  const owner = await addAdmin(bank)
  // An owner who requires a second factor has one.
  await bank.sql`
    insert into admin_passkeys (id, admin_id, name, credential_id, public_key, counter, transports, rp_id)
    values (1, ${owner.id}, 'Key', '', '', 0, '{}', 'localhost')`
  const ownersToken = await newSession(bank, owner)
  const act = (path: string, options?: CallOptions) =>
    callConsole(first, ownersToken, `/communities/town${path}`, options)

  async function newPartner(
    withdraw: (partner: Awaited<ReturnType<Bank['addPartner']>>, token: string) => CallArguments,
  ) {
    const partner = await bank.addPartner({ rateLimitPerMinute: RATE_LIMIT, name: randomUUID() })
    const token = await fetchToken(second, partner)
    return {
      use: () => status(callNode(second, '/users', { token })),
      withdraw: () => status(act(...withdraw(partner, token))),
    }
  }
  const change = (body: object) => () =>
    newPartner(({ partnerId }) => [`/partners/${partnerId}`, { method: 'PATCH', body, headers: { 'if-match': '*' } }])

  async function newAdmin(
    role: AdminRole,
    used: CallArguments,
    withdraw: (admin: TestAdmin, token: string) => ReturnType<typeof callNode>,
  ) {
    const admin = await addAdmin(bank, role)
    const token = await newSession(bank, admin)
    return {
      use: () => status(callConsole(second, token, ...used)),
      withdraw: () => status(withdraw(admin, token)),
    }
  }
  const members: CallArguments = ['/communities/town/members']

  return {
    'token revoked': async () => {
      const partner = await bank.addPartner({ rateLimitPerMinute: RATE_LIMIT })
      const token = await fetchToken(second, partner)
      const body = { token, client_id: partner.clientId, client_secret: partner.clientSecret }
      return {
        use: () => status(callNode(second, '/users', { token })),
        withdraw: () => status(callNode(first, '/oauth/revoke', { body })),
      }
    },
    'client revoked': () => newPartner(({ clientId }) => [`/clients/${clientId}/revoke`, { method: 'POST' }]),
    'secret rotated': async () => {
      const partner = await bank.addPartner({ rateLimitPerMinute: RATE_LIMIT })
      const body = {
        grant_type: 'client_credentials',
        client_id: partner.clientId,
        client_secret: partner.clientSecret,
      }
      return {
        use: () => status(callNode(second, '/oauth/token', { body })),
        withdraw: () => status(act(`/clients/${partner.clientId}/rotate`, { body: { grace: 'none' } })),
      }
    },
    'key of a client removed': async () => {
      const client = await addKeyClient(bank)
      const { clientId } = client
      const [row] = await bank.sql<[{ thumbprint: string }]>`
        select k.thumbprint from client_keys k join clients c on c.community_id = k.community_id and c.id = k.client_id
        where c.public_id = ${clientId}`
      await act(`/clients/${clientId}/keys`, { body: { public_key: (await addKeyClient(bank)).key.pem } })
      return {
        use: async () => status(present(second, await assertionOf(second, client))),
        withdraw: () => status(act(`/clients/${clientId}/keys/${row.thumbprint}`, { method: 'DELETE' })),
      }
    },
    'partner suspended': change({ status: 'suspended' }),
    'scope of a partner removed': change({ scopes: ['wallet.read'] }),
    'addresses narrowed': change({ allowed_addresses: ['192.0.2.1'] }),
    'partner API switched off': async () => ({
      ...(await newPartner(() => ['/partner-api', { body: { enabled: false, reason: 'Leak' } }])),
      undo: () => act('/partner-api', { body: { enabled: true } }),
    }),
    'administrator removed': () =>
      newAdmin('manager', members, ({ id }) => act(`/administrators/${id}`, { method: 'DELETE' })),
    'role lowered': () =>
      newAdmin('manager', ['/communities/town/members', { body: { name: 'Ada', confirm_duplicate: true } }], ({ id }) =>
        act(`/administrators/${id}`, { method: 'PATCH', body: { role: 'viewer' }, headers: { 'if-match': '*' } }),
      ),
    'session ended': () =>
      newAdmin('viewer', ['/session'], (_admin, token) => callConsole(first, token, '/session', { method: 'DELETE' })),
    'password changed': () =>
      newAdmin('viewer', ['/session'], (_admin, token) =>
        callConsole(first, token, '/password', {
          body: { current_password: PASSWORD, new_password: 'lantern orbit mustard' },
        }),
      ),
    'second factor required': async () => ({
      ...(await newAdmin('viewer', members, () =>
        act('', { method: 'PATCH', body: { second_factor_required: true }, headers: { 'if-match': '*' } }),
      )),
      undo: () => bank.sql`update communities set second_factor_required = false where id = ${bank.communityId}`,
    }),
  }
}

async function status(answer: ReturnType<typeof callNode>): Promise<number> {
  return (await answer).status
}

type CallArguments = [path: string, options?: CallOptions]

function callConsole(node: string, token: string, path: string, options: CallOptions = {}) {
  const headers = { origin: node, cookie: `hourbank_session=${token}`, ...options.headers }
  return callNode(node, `${ADMIN_PREFIX}${path}`, { ...options, headers })
}

async function newSession(bank: Bank, { id }: TestAdmin): Promise<string> {
  const token = newSessionToken()
  await insertSession(bank.sql, id, hashSecret(token), { address: undefined, userAgent: undefined })
  return token
}
