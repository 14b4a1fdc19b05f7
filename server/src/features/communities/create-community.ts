import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { violatedConstraint } from '../../postgres/constraint.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { checkCommunityName, checkLanguage, checkTimeZone } from './check-community.ts'
import { checkSlug } from './slug.ts'
import { insertCommunity, type CommunityRow } from './queries.ts'

export interface NewCommunity {
  slug: string
  name: string
  test?: boolean
  timeZone?: string
  language?: string
}

export async function createCommunity(sql: Queries, actor: Actor, input: NewCommunity): Promise<CommunityRow> {
  const slug = checkSlug(input.slug)
  const name = checkCommunityName(input.name)
  const timeZone = await checkTimeZone(sql, input.timeZone ?? 'UTC')
  const language = checkLanguage(input.language ?? 'en')
  try {
    return await transaction(sql, async (tx) => {
      const community = await insertCommunity(tx, { slug, name, test: input.test ?? false, timeZone, language })
      await recordAudit(tx, community.id, actor, {
        action: 'community.created',
        subject: { kind: 'community', id: community.id },
        detail: { slug: community.slug, name },
      })
      return community
    })
  } catch (error) {
    if (violatedConstraint(error) === 'communities_slug_key') {
      throw new Refusal(because('community_taken', { slug }))
    }
    throw error
  }
}
