import { addRole } from '../features/admins/create-admin.ts'
import { recordAudit, type Actor } from '../features/audit/record.ts'
import { slugOf } from '../features/communities/slug.ts'
import {
  countTestCommunities,
  findCommunityById,
  listSlugsLike,
  markTestOf,
} from '../features/communities/test-queries.ts'
import type { Sql } from '../postgres/connect.ts'
import { Refusal } from '../core/refusal.ts'
import { makeTestCommunity } from './make-demo.ts'

const TEST_COMMUNITIES_MAX = 10
const SLUG_PREFIX = 'test-'

/** Creates a test community owned by the calling administrator, and audits it in the community it is created from. */
export async function makeOwnTestCommunity(
  sql: Sql,
  actor: Actor,
  owner: { id: number; email: string },
  { id: communityId, time_zone: timeZone }: { id: number; time_zone: string },
  name: string,
) {
  if ((await findCommunityById(sql, communityId))?.test) {
    throw new Refusal('This is a test community itself. Make another one from your own community.')
  }
  if ((await countTestCommunities(sql, communityId)) >= TEST_COMMUNITIES_MAX) {
    throw new Refusal(`There are ${TEST_COMMUNITIES_MAX} test communities already. Remove one that is no longer used.`)
  }
  const base = `${SLUG_PREFIX}${slugOf(name)}`
  const slug = freeSlug(base, await listSlugsLike(sql, base))
  return makeTestCommunity(sql, actor, { slug, name, timeZone }, {}, async (tx, community) => {
    await markTestOf(tx, community.id, communityId)
    await addRole(tx, actor, community.id, owner.id, 'owner', { name: actor.name, email: owner.email })
    await recordAudit(tx, communityId, actor, {
      action: 'test_community.created',
      subject: { kind: 'community', id: community.id },
      detail: { slug, name: community.name },
    })
  })
}

function freeSlug(base: string, taken: string[]): string {
  let slug = base
  for (let n = 2; taken.includes(slug); n++) slug = `${base}-${n}`
  return slug
}
