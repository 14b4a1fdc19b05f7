import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import type { Scope } from '../../core/scopes.ts'
import { addClient, type NewCredentials } from './create-client.ts'
import { BY_SECRET, type Authentication } from './check-authentication.ts'
import { checkPartner } from './check-partner.ts'
import { insertPartner } from './queries.ts'

export interface NewPartner {
  name: string
  contact?: string
  scopes: string[]
  rateLimitPerMinute?: number
  dailyLimitCentihours?: number
  allowedNetworks?: string[]
}

type CreatedPartner<Secret extends string | undefined> = NewCredentials<Secret> & { partnerId: number; scopes: Scope[] }

const DEFAULT_RATE_LIMIT_PER_MINUTE = 600
const DEFAULT_DAILY_LIMIT_CENTIHOURS = 200_000

/** Creates a partner and its first client, which has a secret unless told otherwise. */
export function createPartner(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: NewPartner,
): Promise<CreatedPartner<string>>
export function createPartner(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: NewPartner,
  authentication: Authentication,
): Promise<CreatedPartner<string | undefined>>
export async function createPartner(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: NewPartner,
  authentication = BY_SECRET,
): Promise<CreatedPartner<string | undefined>> {
  const properties = checkPartner({
    name: input.name,
    contact: input.contact ?? '',
    scopes: input.scopes,
    rate_limit_per_minute: input.rateLimitPerMinute ?? DEFAULT_RATE_LIMIT_PER_MINUTE,
    daily_limit_centihours: input.dailyLimitCentihours ?? DEFAULT_DAILY_LIMIT_CENTIHOURS,
    allowed_networks: input.allowedNetworks ?? [],
  })
  return transaction(sql, async (tx) => {
    const partner = await insertPartner(tx, communityId, properties)
    await recordAudit(tx, communityId, actor, {
      action: 'partner.created',
      subject: { kind: 'partner', id: partner.id },
      detail: properties,
    })
    const credentials = await addClient(tx, actor, communityId, partner, {
      name: '',
      scopes: partner.scopes,
      authentication,
    })
    return { ...credentials, partnerId: partner.id, scopes: partner.scopes }
  })
}
