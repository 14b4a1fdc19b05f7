import { recordAudit } from '../audit/record.ts'
import { checkCommunityName } from '../communities/check-community.ts'
import { createCommunity } from '../communities/create-community.ts'
import { listCommunities } from '../communities/queries.ts'
import { slugOf } from '../communities/slug.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { ApiError } from '../../http/shared/errors.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { checkEmail, checkName } from './check-admin.ts'
import { addRole } from './create-admin.ts'
import { makeLink, type NewLink } from './links.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import { deleteSetUpLinks, hasAdmins, insertAdmin, lockAdmins, takeLink } from './queries.ts'

export interface SetUpWish {
  link: string
  name: string
  email: string
  password: string
  community_name?: string
  time_zone?: string
}

/** What the first visitor of the console has to be asked. */
export async function setUpState(sql: Queries): Promise<{ needed: boolean; community_needed: boolean }> {
  const needed = !(await hasAdmins(sql))
  return { needed, community_needed: needed && (await listCommunities(sql)).length === 0 }
}

/** A link that makes the first administrator, as long as there is none. */
export async function offerSetUp(sql: Queries): Promise<NewLink | undefined> {
  return (await hasAdmins(sql)) ? undefined : makeLink(sql, 'set_up')
}

/** The first administrator: owner of all there is, or of a community made for them. */
export async function setUp(sql: Queries, wish: SetUpWish): Promise<number> {
  const [email, name] = [checkEmail(wish.email), checkName(wish.name)]
  checkPassword(wish.password, { email, field: 'password' })
  const password_hash = await hashPassword(wish.password)
  return transaction(sql, async (tx) => {
    await lockAdmins(tx)
    const link = await takeLink(tx, hashSecret(wish.link))
    if (link?.purpose !== 'set_up' || (await hasAdmins(tx))) throw new ApiError('link_expired')
    const adminId = await insertAdmin(tx, { email, name, password_hash, password_one_time: false })
    const actor = { kind: 'admin', id: adminId, name } as const
    for (const communityId of await communitiesToOwn(tx, actor, wish)) {
      await addRole(tx, actor, communityId, adminId, 'owner')
      await recordAudit(tx, communityId, actor, { action: 'admin.set_up', subject: { kind: 'admin', id: adminId } })
    }
    await deleteSetUpLinks(tx)
    return adminId
  })
}

async function communitiesToOwn(
  tx: Queries,
  actor: { kind: 'admin'; id: number; name: string },
  wish: SetUpWish,
): Promise<number[]> {
  const communities = await listCommunities(tx)
  if (communities.length > 0) return communities.map(({ id }) => id)
  const name = checkCommunityName(wish.community_name ?? '', 'community_name')
  const timeZone = wish.time_zone ?? 'UTC'
  const community = await createCommunity(tx, actor, { slug: slugOf(name), name, timeZone })
  return [community.id]
}
