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
import { deleteSetUpLinks, hasAdmins, insertAdmin, lockAdmins, consumeLink, type Entrant } from './queries.ts'

export interface SetUpInput {
  link: string
  name: string
  email: string
  password: string
  community_name?: string
  time_zone?: string
  language?: string
}

/** Tells the console which set-up steps are needed. */
export async function setUpState(sql: Queries): Promise<{ needed: boolean; community_needed: boolean }> {
  const needed = !(await hasAdmins(sql))
  return { needed, community_needed: needed && (await listCommunities(sql)).length === 0 }
}

/** Creates a link for the first administrator, unless there already is one. */
export async function offerSetUp(sql: Queries): Promise<NewLink | undefined> {
  return (await hasAdmins(sql)) ? undefined : makeLink(sql, 'set_up')
}

/** Creates the first administrator as owner of all communities, or of a new one. */
export async function setUp(sql: Queries, input: SetUpInput, isWanted?: () => boolean): Promise<Entrant> {
  const [email, name] = [checkEmail(input.email), checkName(input.name)]
  await checkPassword(input.password, { email, field: 'password' })
  const password_hash = await hashPassword(input.password, isWanted)
  return transaction(sql, async (tx) => {
    await lockAdmins(tx)
    const link = await consumeLink(tx, hashSecret(input.link))
    if (link?.purpose !== 'set_up' || (await hasAdmins(tx))) throw new ApiError('link_expired')
    const adminId = (await insertAdmin(tx, { email, name, password_hash, password_one_time: false }))!
    const actor = { kind: 'admin', id: adminId, name } as const
    for (const communityId of await communitiesToOwn(tx, actor, input)) {
      await addRole(tx, actor, communityId, adminId, 'owner', { name, email })
      await recordAudit(tx, communityId, actor, { action: 'admin.set_up', subject: { kind: 'admin', id: adminId } })
    }
    await deleteSetUpLinks(tx)
    return { id: adminId, password_hash }
  })
}

async function communitiesToOwn(
  tx: Queries,
  actor: { kind: 'admin'; id: number; name: string },
  input: SetUpInput,
): Promise<number[]> {
  const communities = await listCommunities(tx)
  if (communities.length > 0) return communities.map(({ id }) => id)
  const name = checkCommunityName(input.community_name ?? '', 'community_name')
  const timeZone = input.time_zone ?? 'UTC'
  const language = input.language ?? 'en'
  const community = await createCommunity(tx, actor, { slug: slugOf(name), name, timeZone, language })
  return [community.id]
}
