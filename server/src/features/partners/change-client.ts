import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { communityOfClientId, hashSecret, newClientSecret } from '../../crypto/secrets.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import type { Scope } from '../../core/scopes.ts'
import { SECRET_SUFFIX_LENGTH, type NewCredentials } from './create-client.ts'
import { requireKind } from './require-kind.ts'
import {
  dropPreviousSecret,
  findClientForChange,
  lockClient,
  markClientRevoked,
  overwriteSecret,
  replaceSecret,
  type ClientRow,
} from './queries.ts'

const HOUR_SECONDS = 60 * 60

/** How long the old secret stays valid after a rotation. */
export const GRACE_SECONDS = {
  none: 0,
  '1h': HOUR_SECONDS,
  '24h': 24 * HOUR_SECONDS,
  '7d': 7 * 24 * HOUR_SECONDS,
} as const
export type Grace = keyof typeof GRACE_SECONDS

export async function rotateSecret(
  sql: Queries,
  actor: Actor,
  publicId: string,
  grace: Grace,
  communityId = communityOfClientId(publicId),
): Promise<NewCredentials> {
  const clientSecret = newClientSecret()
  const subject = { publicId, communityId }
  const { id } = await changeClient(sql, actor, subject, 'client.rotated', { grace }, async (tx, client) => {
    requireKind(client, 'secret')
    await replaceSecret(tx, client, {
      hash: hashSecret(clientSecret),
      lastFour: clientSecret.slice(-SECRET_SUFFIX_LENGTH),
      graceSeconds: GRACE_SECONDS[grace],
    })
  })
  return { id, clientId: publicId, clientSecret }
}

/**
 * Replaces a secret whose response was lost: nobody has seen it. The secret before it keeps its grace period, which a
 * second rotation would end.
 */
export async function reissueSecret(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
): Promise<NewCredentials<string | undefined> & { partnerId: number; scopes: Scope[] }> {
  const found = await lockClient(sql, communityId, id)
  if (!found) throw new NotFound(because('no_such_client'))
  const { public_id: clientId, partner_id: partnerId, scopes } = found
  if (found.authentication !== 'secret') return { id, clientId, clientSecret: undefined, partnerId, scopes }
  const clientSecret = newClientSecret()
  await changeClient(sql, actor, { publicId: clientId, communityId }, 'client.reissued', {}, async (tx, client) => {
    requireKind(client, 'secret')
    await overwriteSecret(tx, client, {
      hash: hashSecret(clientSecret),
      lastFour: clientSecret.slice(-SECRET_SUFFIX_LENGTH),
    })
  })
  return { id, clientId, clientSecret, partnerId, scopes }
}

/** Invalidates the previous secret before the end of its grace period. */
export async function endGrace(
  sql: Queries,
  actor: Actor,
  publicId: string,
  communityId = communityOfClientId(publicId),
): Promise<void> {
  await changeClient(sql, actor, { publicId, communityId }, 'client.grace_ended', {}, async (tx, client) => {
    if (client.grace_until === null) throw new Refusal(because('grace_ended'))
    await dropPreviousSecret(tx, client)
  })
}

/** Revokes the client permanently and invalidates its tokens immediately. */
export async function revokeClient(
  sql: Queries,
  actor: Actor,
  publicId: string,
  communityId = communityOfClientId(publicId),
): Promise<void> {
  await changeClient(sql, actor, { publicId, communityId }, 'client.revoked', {}, async (tx, client) => {
    if (client.status === 'revoked') throw new Refusal(because('client_revoked_already', { client: publicId }))
    await markClientRevoked(tx, client)
  })
}

/** Records the change and announces it to every node. */
export async function changeClient(
  sql: Queries,
  actor: Actor,
  { publicId, communityId }: { publicId: string; communityId: number | undefined },
  action: string,
  detail: Record<string, string>,
  change: (tx: Queries, client: ClientRow) => Promise<void>,
): Promise<ClientRow> {
  return transaction(sql, async (tx) => {
    const client = communityId && (await findClientForChange(tx, communityId, publicId))
    if (!communityId || !client) throw new NotFound(because('no_client', { client: publicId }))
    await change(tx, client)
    await recordAudit(tx, communityId, actor, {
      action,
      subject: { kind: 'client', id: client.id },
      detail: { partner_id: client.partner_id, client_id: publicId, ...detail },
    })
    await announceAccessChange(tx, { communityId })
    return client
  })
}
