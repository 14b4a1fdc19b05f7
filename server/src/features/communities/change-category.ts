import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { violatedConstraint } from '../../postgres/constraint.ts'
import { recordCategoryRename } from '../listings/follow-category.ts'
import { lockListings } from '../listings/queries.ts'
import { isCleanText } from '../../core/texts.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { insertCategory, lockCategory, renameCategory, setCategoryRetired } from './admin-settings-queries.ts'

const NAME_LENGTH_MAX = 100

export async function addCategory(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: { name: string },
): Promise<number> {
  const name = checkName(input.name)
  return rejectTakenName(name, () =>
    transaction(sql, async (tx) => {
      const { id } = await insertCategory(tx, communityId, name)
      const subject = { kind: 'category', id }
      await recordAudit(tx, communityId, actor, { action: 'category.added', subject, detail: { name } })
      return id
    }),
  )
}

/** A retired category stays on its listings but cannot be chosen for new ones. */
export async function changeCategory(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  input: { name?: string; retired?: boolean },
  checkBefore: (before: { name: string; retired_at: string | null }) => void = () => {},
): Promise<void> {
  const name = input.name === undefined ? undefined : checkName(input.name)
  await rejectTakenName(name, () =>
    transaction(sql, async (tx) => {
      const before = await lockCategory(tx, communityId, id)
      if (!before) throw new NotFound(because('no_such_category'))
      checkBefore(before)
      const subject = { kind: 'category', id }
      if (name !== undefined && name !== before.name) {
        await lockListings(tx, communityId, { category: before.name })
        await renameCategory(tx, communityId, id, name)
        const detail = { from: before.name, to: name }
        await recordCategoryRename(tx, communityId, detail)
        await recordAudit(tx, communityId, actor, { action: 'category.renamed', subject, detail })
      }
      if (input.retired !== undefined && input.retired !== (before.retired_at !== null)) {
        await setCategoryRetired(tx, communityId, id, input.retired)
        const action = input.retired ? 'category.retired' : 'category.restored'
        await recordAudit(tx, communityId, actor, { action, subject, detail: { name: name ?? before.name } })
      }
    }),
  )
}

function checkName(text: string): string {
  const name = text.trim()
  if (!name || [...name].length > NAME_LENGTH_MAX || !isCleanText(name)) {
    throw new Refusal(because('name_length', { max: NAME_LENGTH_MAX }), { field: 'name' })
  }
  return name
}

async function rejectTakenName<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (violatedConstraint(error) === 'categories_name_key') {
      throw new Refusal(because('category_taken', { name: name ?? '' }), { field: 'name' })
    }
    throw error
  }
}
