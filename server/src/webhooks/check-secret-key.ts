import type { Sql } from '../db/connect.ts'
import { Refusal } from '../refusal.ts'
import { replaceSubscriptionSecrets, subscriptionSecrets } from '../db/across-communities.ts'
import type { SecretBox } from '../http/secret-box.ts'

const CHECK = 'hourbank'

/** At start: a wrong key gives a clear error, not silent garbage. What the previous key sealed is sealed anew. */
export async function checkSecretKey(sql: Sql, box: SecretBox): Promise<void> {
  const [installation] = await sql<[{ secret_key_check: Buffer | null }]>`select secret_key_check from installation`
  const check = installation.secret_key_check
  if (check === null) {
    await storeCheck(sql, box)
    return
  }
  if (!opens(box, check)) {
    throw new Refusal(
      'SECRET_KEY is not the one that the webhook secrets of this database were encrypted with.\n' +
        '  Changed it? Give the old one as SECRET_KEY_PREVIOUS for one start.\n' +
        '  Lost it? Give every subscription a new secret: npx hourbank webhooks reset-secrets',
    )
  }
  if (!box.isOutdated(check)) return
  for (const { community_id, id, secret, previous_secret } of await subscriptionSecrets(sql)) {
    const again = (sealed: Buffer | null) => sealed && box.seal(box.open(sealed))
    await replaceSubscriptionSecrets(sql, {
      community_id,
      id,
      secret: again(secret)!,
      previous_secret: again(previous_secret),
    })
  }
  await storeCheck(sql, box)
}

export async function storeCheck(sql: Sql, box: SecretBox): Promise<void> {
  await sql`update installation set secret_key_check = ${box.seal(CHECK)}`
}

function opens(box: SecretBox, sealed: Buffer): boolean {
  try {
    return box.open(sealed) === CHECK
  } catch {
    return false
  }
}
