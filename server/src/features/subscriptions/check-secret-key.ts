import {
  replaceAppSecret,
  replaceSubscriptionSecrets,
  sealedApps,
  sealedSubscriptions,
} from '../../postgres/across-communities.ts'
import { transaction, type Queries, type Sql } from '../../postgres/connect.ts'
import type { SecretBox } from '../../crypto/secret-box.ts'
import { Refusal } from '../../core/refusal.ts'

const CHECK = 'hourbank'
const BATCH_MAX = 500

/** Runs at start: rejects a wrong key and encrypts again what the previous key had encrypted. */
export async function checkSecretKey(sql: Sql, box: SecretBox): Promise<void> {
  await transaction(sql, async (tx) => {
    const check = await lockCheck(tx)
    if (check === null) return storeCheck(tx, box)
    if (!opensCheck(box, check)) {
      throw new Refusal(
        'SECRET_KEY is not the one that the webhook secrets of this database were encrypted with.\n' +
          '  Changed it? Give the old one as SECRET_KEY_PREVIOUS for one start.\n' +
          '  Lost it? Give every subscription a new secret: npx hourbank webhooks reset-secrets',
      )
    }
    // Run this whenever a previous key is set: a node with the old key may have sealed something since the last start.
    if (box.hasPrevious) await resealSecrets(tx, box)
    if (box.isOutdated(check)) await storeCheck(tx, box)
  })
}

/** Null if the database was never used with a key. */
export async function readCheck(sql: Queries): Promise<Buffer | null> {
  const [row] = await sql<[{ secret_key_check: Buffer | null }]>`select secret_key_check from installation`
  return row.secret_key_check
}

/** Serializes the check between nodes that start at the same time. */
export async function lockCheck(tx: Queries): Promise<Buffer | null> {
  const [row] = await tx<[{ secret_key_check: Buffer | null }]>`
    select secret_key_check from installation for no key update`
  return row.secret_key_check
}

export async function storeCheck(tx: Queries, box: SecretBox): Promise<void> {
  await tx`update installation set secret_key_check = ${box.seal(CHECK)}`
}

async function resealSecrets(tx: Queries, box: SecretBox): Promise<void> {
  for await (const batch of sealedSubscriptions(tx, BATCH_MAX)) {
    for (const { community_id, id, secret, previous_secret } of batch) {
      if (!box.isOutdated(secret) && (previous_secret === null || !box.isOutdated(previous_secret))) continue
      await replaceSubscriptionSecrets(tx, {
        community_id,
        id,
        secret: box.seal(box.open(secret)),
        previous_secret: previous_secret && box.seal(box.open(previous_secret)),
      })
    }
  }
  for (const { admin_id, secret } of await sealedApps(tx)) {
    // Undefined after a lost key: recovery codes and resets help there, and the service must start.
    const text = box.isOutdated(secret) ? tryOpen(box, secret) : undefined
    if (text !== undefined) await replaceAppSecret(tx, admin_id, box.seal(text))
  }
}

export function opensCheck(box: SecretBox, check: Buffer): boolean {
  return tryOpen(box, check) === CHECK
}

function tryOpen(box: SecretBox, sealed: Buffer): string | undefined {
  try {
    return box.open(sealed)
  } catch {
    return undefined
  }
}
