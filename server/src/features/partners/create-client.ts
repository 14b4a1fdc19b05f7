import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import type { Scope } from '../../core/scopes.ts'
import { hashSecret, newClientId, newClientSecret } from '../../crypto/secrets.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { checkClientName, checkScopes } from './check-partner.ts'
import { countActiveClients, findPartnerForChange, insertClient, type PartnerRow } from './queries.ts'

export const SECRET_SUFFIX_LENGTH = 4
const ACTIVE_CLIENTS_MAX = 50

/** The secret is shown once. Only its hash is stored. */
export interface NewCredentials {
  /** Of the client's row. */
  id: number
  clientId: string
  clientSecret: string
}

/** Creates another pair of credentials for a partner. */
export async function createClient(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  input: { name: string; scopes?: string[] },
): Promise<NewCredentials & { scopes: Scope[] }> {
  const name = checkClientName(input.name)
  return transaction(sql, async (tx) => {
    const partner = await findPartnerForChange(tx, communityId, partnerId)
    if (!partner) throw new NotFound(`There is no partner ${partnerId} in this community.`)
    const scopes = input.scopes ? checkScopes(input.scopes) : partner.scopes
    const excess = scopes.filter((scope) => !partner.scopes.includes(scope))
    if (excess.length > 0) {
      throw new Refusal(`The partner itself does not have the scope ${excess.join(', ')}.`, { field: 'scopes' })
    }
    if ((await countActiveClients(tx, communityId, partnerId)) >= ACTIVE_CLIENTS_MAX) {
      throw new Refusal(`A partner can have at most ${ACTIVE_CLIENTS_MAX} credentials. Revoke one that is not used.`)
    }
    return { ...(await addClient(tx, actor, communityId, partner, { name, scopes })), scopes }
  })
}

export async function addClient(
  tx: Queries,
  actor: Actor,
  communityId: number,
  partner: PartnerRow,
  client: { name: string; scopes: Scope[] },
): Promise<NewCredentials> {
  const clientId = newClientId(communityId)
  const clientSecret = newClientSecret()
  const id = await insertClient(tx, communityId, {
    ...client,
    partner_id: partner.id,
    public_id: clientId,
    secret_hash: hashSecret(clientSecret),
    secret_last_four: clientSecret.slice(-SECRET_SUFFIX_LENGTH),
  })
  await recordAudit(tx, communityId, actor, {
    action: 'client.created',
    subject: { kind: 'client', id },
    detail: { partner_id: partner.id, client_id: clientId, scopes: client.scopes },
  })
  return { id, clientId, clientSecret }
}
