import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import type { Scope } from '../../core/scopes.ts'
import { hashSecret, newClientId, newClientSecret } from '../../crypto/secrets.ts'
import { BY_SECRET, type Authentication } from './check-authentication.ts'
import { insertKey } from './key-queries.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { checkExpiry } from './check-expiry.ts'
import { checkClientName, checkScopes } from './check-partner.ts'
import { countActiveClients, findPartnerForChange, insertClient, type PartnerRow } from './queries.ts'

export const SECRET_SUFFIX_LENGTH = 4
const ACTIVE_CLIENTS_MAX = 50

/** The secret is shown once. Only its hash is stored. A client with keys has none. */
export interface NewCredentials<Secret extends string | undefined = string> {
  /** Of the client's row. */
  id: number
  clientId: string
  clientSecret: Secret
}

type NewClient<Secret extends string | undefined> = NewCredentials<Secret> & { scopes: Scope[] }

interface ClientInput {
  name: string
  scopes?: string[]
  /** It never expires without. */
  expiresAt?: string | undefined
}

/** Creates another client for a partner, with a secret unless told otherwise. */
export function createClient(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  input: ClientInput,
): Promise<NewClient<string>>
export function createClient(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  input: ClientInput,
  authentication: Authentication,
): Promise<NewClient<string | undefined>>
export async function createClient(
  sql: Queries,
  actor: Actor,
  communityId: number,
  partnerId: number,
  input: ClientInput,
  authentication = BY_SECRET,
): Promise<NewClient<string | undefined>> {
  const name = checkClientName(input.name)
  return transaction(sql, async (tx) => {
    const partner = await findPartnerForChange(tx, communityId, partnerId)
    if (!partner) throw new NotFound(because('no_partner', { id: partnerId }))
    const scopes = input.scopes ? checkScopes(input.scopes) : partner.scopes
    const excess = scopes.filter((scope) => !partner.scopes.includes(scope))
    if (excess.length > 0) {
      throw new Refusal(because('scopes_beyond_partner', { scopes: excess.join(', ') }), { field: 'scopes' })
    }
    if ((await countActiveClients(tx, communityId, partnerId)) >= ACTIVE_CLIENTS_MAX) {
      throw new Refusal(because('credentials_max', { max: ACTIVE_CLIENTS_MAX }))
    }
    const expiresAt = await checkExpiry(tx, input.expiresAt ?? null)
    const client = { name, scopes, authentication, expiresAt }
    return { ...(await addClient(tx, actor, communityId, partner, client)), scopes }
  })
}

export async function addClient(
  tx: Queries,
  actor: Actor,
  communityId: number,
  partner: PartnerRow,
  {
    name,
    scopes,
    authentication,
    expiresAt = null,
  }: { name: string; scopes: Scope[]; authentication: Authentication; expiresAt?: string | null },
): Promise<NewCredentials<string | undefined>> {
  const clientId = newClientId(communityId)
  // secret_hash is not null. A client with keys gets the hash of a secret that nobody has seen.
  const secret = newClientSecret()
  const hasSecret = authentication.kind === 'secret'
  const id = await insertClient(tx, communityId, {
    name,
    scopes,
    partner_id: partner.id,
    public_id: clientId,
    authentication: authentication.kind,
    secret_hash: hashSecret(secret),
    secret_last_four: hasSecret ? secret.slice(-SECRET_SUFFIX_LENGTH) : '',
    ...(expiresAt !== null && { expires_at: expiresAt }),
    ...(authentication.kind === 'jwks' && { jwks_url: authentication.jwksUrl, jwks_url_set_at: new Date() }),
  })
  if (authentication.kind === 'keys') await insertKey(tx, { community_id: communityId, id }, authentication.key)
  await recordAudit(tx, communityId, actor, {
    action: 'client.created',
    subject: { kind: 'client', id },
    detail: {
      partner_id: partner.id,
      client_id: clientId,
      scopes,
      ...describeKeys(authentication),
      ...(expiresAt && { expires_at: expiresAt }),
    },
  })
  return { id, clientId, clientSecret: hasSecret ? secret : undefined }
}

/** For the audit log and for scripts. */
export function describeKeys(authentication: Authentication): { thumbprint?: string; jwks_url?: string } {
  if (authentication.kind === 'keys') return { thumbprint: authentication.key.thumbprint }
  return authentication.kind === 'jwks' ? { jwks_url: authentication.jwksUrl } : {}
}
