import { recordAudit, type Actor } from '../audit/record.ts'
import type { Transaction } from '../../postgres/connect.ts'
import { Refusal } from '../../core/refusal.ts'
import { hideMember } from '../members/change-member.ts'
import {
  moveKeyAddresses,
  requireFactorsAgain,
  restorePasskeys,
  restoreSecondFactors,
  withdrawKeys,
  type Credentials,
} from './credential-queries.ts'
import {
  listShownMembers,
  matchCommunities,
  restorePasswords,
  switchOffAgain,
  withdrawClients,
  withdrawPartners,
  withdrawRoles,
  withdrawSubscriptions,
  type Access,
} from './queries.ts'

/**
 * Withdraws from a restored database all access that the database it replaces no longer grants. Nothing is granted:
 * where the two differ, the narrower one wins. Returns the number of changes.
 */
export async function withdrawAgain(
  tx: Transaction,
  actor: Actor,
  { access: replaced, credentials }: { access: Access; credentials: Credentials | undefined },
  backupMadeAt: string,
): Promise<number> {
  const { shared, restored } = await matchCommunities(tx, replaced.communities)
  if (restored.length > 0 && shared.size === 0) {
    throw new Refusal(
      'The database that --replacing names has no community in common with this backup. Name the one that you replace.',
    )
  }
  const ofShared = <T extends { community_id: number }>(rows: T[]) =>
    rows.filter(({ community_id }) => shared.has(community_id))
  const communities = replaced.communities.filter(({ id }) => shared.has(id))
  const changes: Record<string, number[]> = {
    partner_api: await switchOffAgain(tx, communities),
    partners: await withdrawPartners(tx, ofShared(replaced.partners)),
    clients: await withdrawClients(tx, ofShared(replaced.clients)),
    administrators: await withdrawRoles(tx, ofShared(replaced.roles)),
    webhooks: await withdrawSubscriptions(tx, ofShared(replaced.subscriptions)),
    members_hidden: await hideMembers(tx, actor, ofShared(replaced.hidden_members)),
  }
  let people = await restorePasswords(tx, replaced.passwords)
  if (credentials) {
    changes['client_keys'] = [
      ...(await withdrawKeys(tx, [...shared], credentials.client_keys)),
      ...(await moveKeyAddresses(tx, ofShared(credentials.key_addresses))),
    ]
    changes['second_factor_required'] = await requireFactorsAgain(tx, ofShared(credentials.second_factor_required))
    people += (await restoreSecondFactors(tx, credentials)) + (await restorePasskeys(tx, credentials))
  }
  for (const communityId of restored) {
    const counts = Object.entries(changes).map(([kind, ids]) => [kind, ids.filter((id) => id === communityId).length])
    await recordRestore(tx, actor, communityId, { backup_made_at: backupMadeAt, ...Object.fromEntries(counts) })
  }
  return Object.values(changes).reduce((sum, ids) => sum + ids.length, people)
}

async function hideMembers(tx: Transaction, actor: Actor, hidden: Access['hidden_members']): Promise<number[]> {
  const shown = await listShownMembers(tx, hidden)
  for (const { community_id, id } of shown) await hideMember(tx, actor, community_id, id)
  return shown.map(({ community_id }) => community_id)
}

export async function recordRestore(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  detail: Record<string, string | number>,
): Promise<void> {
  const subject = { kind: 'community', id: communityId }
  await recordAudit(tx, communityId, actor, { action: 'community.restored', subject, detail })
}
