import type { Queries } from '../../postgres/connect.ts'
import { insertCategories, lockCategories, type LockedCategory } from './queries.ts'

/** Another attempt is needed only if a category is renamed right after it was found missing or created elsewhere. */
const ATTEMPTS_MAX = 100

/**
 * Creates the categories that do not exist, and keeps all of them from being renamed or retired until the commit. Call
 * it after locking members and before locking listings: renaming locks the category, then its listings. Those that exist
 * are locked first, because renaming waits for a new name only after it has locked the old one.
 */
export async function ensureCategories(sql: Queries, communityId: number, names: string[]): Promise<LockedCategory[]> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const locked = await lockCategories(sql, communityId, names)
    const known = new Set(locked.map(({ name }) => name))
    const missing = names.filter((name) => !known.has(name))
    if (missing.length === 0) return locked
    await insertCategories(sql, communityId, missing)
  }
  throw new Error('The categories were renamed again and again.')
}
