import type { Actor } from '../audit/record.ts'
import type { Queries } from '../../postgres/connect.ts'
import { communityOfClientId } from '../../crypto/secrets.ts'
import type { PublicKey } from '../../crypto/public-keys.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { changeClient } from './change-client.ts'
import { deleteKey, insertKey, updateJwksUrl } from './key-queries.ts'
import { requireKind } from './require-kind.ts'

/** The current key and the next one. */
const KEYS_MAX = 2

/** Registers a further key; a rotation ends with the removal of the old one. */
export async function addKey(
  sql: Queries,
  actor: Actor,
  publicId: string,
  key: PublicKey,
  communityId = communityOfClientId(publicId),
): Promise<void> {
  const { thumbprint } = key
  await changeClient(sql, actor, { publicId, communityId }, 'client.key_added', { thumbprint }, async (tx, client) => {
    requireKind(client, 'keys')
    if (client.keys.some((known) => known.thumbprint === thumbprint)) {
      throw new Refusal(because('key_known'), { field: 'public_key' })
    }
    if (client.keys.length >= KEYS_MAX) {
      throw new Refusal(because('keys_max', { max: KEYS_MAX }))
    }
    await insertKey(tx, client, key)
  })
}

/** What this key signs is rejected from now on. Without any key, the client cannot get tokens. */
export async function removeKey(
  sql: Queries,
  actor: Actor,
  publicId: string,
  thumbprint: string,
  communityId = communityOfClientId(publicId),
): Promise<void> {
  await changeClient(
    sql,
    actor,
    { publicId, communityId },
    'client.key_removed',
    { thumbprint },
    async (tx, client) => {
      requireKind(client, 'keys')
      if (!client.keys.some((known) => known.thumbprint === thumbprint)) {
        throw new Refusal(because('no_key', { client: publicId, thumbprint }))
      }
      await deleteKey(tx, client, thumbprint)
    },
  )
}

/** Keys that are only at the old address are rejected from now on. */
export async function replaceJwksUrl(
  sql: Queries,
  actor: Actor,
  publicId: string,
  jwksUrl: string,
  communityId = communityOfClientId(publicId),
): Promise<void> {
  const detail = { jwks_url: jwksUrl }
  await changeClient(sql, actor, { publicId, communityId }, 'client.jwks_url_changed', detail, async (tx, client) => {
    requireKind(client, 'jwks')
    await updateJwksUrl(tx, client, jwksUrl)
  })
}
