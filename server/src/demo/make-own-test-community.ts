import { addRole } from '../features/admins/create-admin.ts'
import { recordAudit, type Actor } from '../features/audit/record.ts'
import { slugOf } from '../features/communities/slug.ts'
import {
  countTestCommunities,
  findCommunityById,
  listSlugsLike,
  markTestOf,
} from '../features/communities/test-queries.ts'
import { reissueSecret } from '../features/partners/change-client.ts'
import { once } from '../http/console/request-once.ts'
import type { Sql, Transaction } from '../postgres/connect.ts'
import { because } from '../core/reasons.ts'
import { NotFound, Refusal } from '../core/refusal.ts'
import { closePastMonths, createTestCommunity, type MadeTestCommunity } from './make-demo.ts'

const TEST_COMMUNITIES_MAX = 10
const SLUG_PREFIX = 'test-'

interface From {
  id: number
  time_zone: string
}

/**
 * Creates a test community owned by the calling administrator, and audits it in the community it is created from. Sent
 * again under the same key, the request gets a new secret, because the first one was never seen.
 */
export async function makeOwnTestCommunity(
  sql: Sql,
  actor: Actor,
  owner: { id: number; email: string },
  from: From,
  { name, key }: { name: string; key: string | undefined },
): Promise<{ made: MadeTestCommunity; replayed: boolean }> {
  const keyed = { adminId: owner.id, key, input: { test_community: name } }
  const answer = await once<MadeTestCommunity>(sql, from.id, keyed, {
    make: (tx) => createFrom(tx, actor, owner, from, name),
    idsOf: ({ community, id }) => [community.id, id],
    find: (tx, [communityId, id]) => findAgain(tx, actor, communityId!, id!),
  })
  if (!answer.replayed) await closePastMonths(sql, answer.made.community)
  return answer
}

async function createFrom(
  tx: Transaction,
  actor: Actor,
  owner: { id: number; email: string },
  { id: communityId, time_zone: timeZone }: From,
  name: string,
): Promise<MadeTestCommunity> {
  if ((await findCommunityById(tx, communityId))?.test) {
    throw new Refusal(because('test_community_itself'))
  }
  if ((await countTestCommunities(tx, communityId)) >= TEST_COMMUNITIES_MAX) {
    throw new Refusal(because('test_communities_max', { max: TEST_COMMUNITIES_MAX }))
  }
  const base = `${SLUG_PREFIX}${slugOf(name)}`
  const slug = freeSlug(base, await listSlugsLike(tx, base))
  const made = await createTestCommunity(tx, actor, { slug, name, timeZone })
  const { community } = made
  await markTestOf(tx, community.id, communityId)
  await addRole(tx, actor, community.id, owner.id, 'owner', { name: actor.name, email: owner.email })
  await recordAudit(tx, communityId, actor, {
    action: 'test_community.created',
    subject: { kind: 'community', id: community.id },
    detail: { slug, name: community.name },
  })
  return made
}

async function findAgain(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  clientRowId: number,
): Promise<MadeTestCommunity> {
  const community = await findCommunityById(tx, communityId)
  if (!community) throw new NotFound(because('test_community_removed'))
  const { id, clientId, clientSecret } = await reissueSecret(tx, actor, communityId, clientRowId)
  return {
    community: { id: communityId, slug: community.slug, name: community.name },
    id,
    clientId,
    clientSecret: clientSecret!,
  }
}

function freeSlug(base: string, taken: string[]): string {
  let slug = base
  for (let n = 2; taken.includes(slug); n++) slug = `${base}-${n}`
  return slug
}
