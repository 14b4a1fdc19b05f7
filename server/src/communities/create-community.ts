import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../db/connect.ts'
import { Refusal } from '../refusal.ts'
import { insertCommunity, type CommunityRow } from './queries.ts'

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/
const SLUG_LENGTH_MAX = 63
const NAME_LENGTH_MAX = 200

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
  const name = wish.name.trim()
  if (!name || name.length > NAME_LENGTH_MAX)
    throw new Refusal(`The name must have 1 to ${NAME_LENGTH_MAX} characters.`)
  const timeZone = wish.timeZone ?? 'UTC'
  if (!isTimeZone(timeZone)) throw new Refusal(`There is no time zone ${timeZone}; use a name like Europe/Vienna.`)
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

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
