import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../db/connect.ts'
import { Refusal } from '../refusal.ts'
import { checkCommunityName, checkTimeZone } from './check-community.ts'
import { insertCommunity, type CommunityRow } from './queries.ts'

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/
const SLUG_LENGTH_MAX = 63
/** Addresses of the console itself, where a community of that name could not be reached. */
const RESERVED_SLUGS = new Set(['account', 'assets', 'link', 'password', 'set-up', 'sign-in'])

export interface NewCommunity {
  slug: string
  name: string
  test?: boolean
  timeZone?: string
}

export async function createCommunity(sql: Queries, actor: Actor, wish: NewCommunity): Promise<CommunityRow> {
  if (!SLUG.test(wish.slug) || wish.slug.length > SLUG_LENGTH_MAX) {
    throw new Refusal(`The slug must be lower-case letters and digits with single hyphens, like green-valley.`)
  }
  if (RESERVED_SLUGS.has(wish.slug)) throw new Refusal(`The slug ${wish.slug} is taken by the console; choose another.`)
  const name = checkCommunityName(wish.name)
  const timeZone = checkTimeZone(wish.timeZone ?? 'UTC')
  try {
    return await transaction(sql, async (tx) => {
      const community = await insertCommunity(tx, { slug: wish.slug, name, test: wish.test ?? false, timeZone })
      await recordAudit(tx, community.id, actor, {
        action: 'community.created',
        subject: { kind: 'community', id: community.id },
        detail: { slug: community.slug, name },
      })
      return community
    })
  } catch (error) {
    if ((error as { constraint_name?: string }).constraint_name === 'communities_slug_key') {
      throw new Refusal(`There is a community ${wish.slug} already.`)
    }
    throw error
  }
}
