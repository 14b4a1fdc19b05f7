import { recordAudit, type Actor } from '../audit/record.ts'
import { announceAccessChange } from '../db/channel.ts'
import { transaction, type Queries } from '../db/connect.ts'
import { communityOfClientId, hashSecret, newClientSecret } from '../http/secrets.ts'
import { Refusal } from '../refusal.ts'
import { LAST_SHOWN, type NewCredentials } from './create-client.ts'
import { findClientForChange, markClientRevoked, replaceSecret, type ClientRow } from './queries.ts'

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
): Promise<NewCredentials> {
  const clientSecret = newClientSecret()
  await changeClient(sql, actor, publicId, 'client.rotated', { grace }, async (tx, communityId, client) => {
    if (client.status === 'revoked') throw new Refusal(`The client ${publicId} is revoked; create a new one.`)
    await replaceSecret(tx, communityId, client.id, {
      hash: hashSecret(clientSecret),
      lastFour: clientSecret.slice(-LAST_SHOWN),
      graceSeconds: GRACE_SECONDS[grace],
    })
  })
  return { clientId: publicId, clientSecret }
}

/** For good: its tokens end with it, at once. */
export async function revokeClient(sql: Queries, actor: Actor, publicId: string): Promise<void> {
  await changeClient(sql, actor, publicId, 'client.revoked', {}, async (tx, communityId, client) => {
    if (client.status === 'revoked') throw new Refusal(`The client ${publicId} is revoked already.`)
    await markClientRevoked(tx, communityId, client.id)
  })
}

async function changeClient(
  sql: Queries,
  actor: Actor,
  publicId: string,
  action: string,
  detail: Record<string, string>,
  change: (tx: Queries, communityId: number, client: ClientRow) => Promise<void>,
): Promise<void> {
  const communityId = communityOfClientId(publicId)
  await transaction(sql, async (tx) => {
    const client = communityId && (await findClientForChange(tx, communityId, publicId))
    if (!communityId || !client) throw new Refusal(`There is no client ${publicId}.`)
    await change(tx, communityId, client)
    await recordAudit(tx, communityId, actor, {
      action,
      subject: { kind: 'client', id: client.id },
      detail: { client_id: publicId, ...detail },
    })
    await announceAccessChange(tx, { communityId })
  })
}
