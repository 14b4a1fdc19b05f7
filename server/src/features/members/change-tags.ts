import { recordAudits } from '../audit/record-many.ts'
import type { Actor } from '../audit/record.ts'
import { isLine } from '../../core/is-line.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { deleteTags, findKnownTags, hasMoreTags, insertTags, lockMembers } from './tag-queries.ts'

const TAG_LENGTH_MAX = 50
/** Up to this many per member, and per call. */
export const TAGS_MAX = 20
/** As many as the largest page of the list. */
export const TAGGED_MEMBERS_MAX = 500
/** Between the tags of a CSV field, so no tag may contain it. */
const SEPARATOR = ', '

export interface TagChange {
  memberIds: number[]
  add: string[]
  remove: string[]
}

/** Adds tags to members and removes others. Members without a difference are not audited. */
export async function changeTags(sql: Queries, actor: Actor, communityId: number, input: TagChange): Promise<void> {
  const [add, remove] = [readTags(input.add, 'add'), readTags(input.remove, 'remove')]
  await transaction(sql, async (tx) => {
    const memberIds = await lockMembers(tx, communityId, input.memberIds)
    const missing = input.memberIds.filter((id) => !memberIds.includes(id))
    if (missing.length > 0) {
      throw new Refusal(because('no_member', { id: missing.join(', ') }), { field: 'member_ids' })
    }
    const reduced = await deleteTags(tx, communityId, memberIds, await spellAsKnown(tx, communityId, remove))
    const extended = await insertTags(tx, communityId, memberIds, await spellAsKnown(tx, communityId, add))
    // Who has more from before keeps them, but gets none in addition.
    if (await hasMoreTags(tx, communityId, extended, TAGS_MAX)) {
      throw new Refusal(because('tags_max', { max: TAGS_MAX }), { field: 'add' })
    }
    const changed = new Set([...reduced, ...extended])
    // Without the tags themselves: erasing a member must not leave them in the audit log.
    const entries = [...changed].map((id) => ({
      action: 'member.changed',
      subject: { kind: 'member', id },
      detail: { fields: ['tags'] },
    }))
    if (entries.length > 0) await recordAudits(tx, communityId, actor, entries)
  })
}

/** 'Driver' and 'driver' are one tag, spelled as it was first. Imports used to add both: what is known as both stays both. */
async function spellAsKnown(sql: Queries, communityId: number, tags: string[]): Promise<string[]> {
  const known = await findKnownTags(sql, communityId, tags)
  const spell = (tag: string) => [...known, ...tags].find((first) => first.toLowerCase() === tag.toLowerCase())!
  return tags.map((tag) => (known.includes(tag) ? tag : spell(tag)))
}

function readTags(tags: string[], field: string): string[] {
  const trimmed = tags.map((tag) => tag.trim())
  const [problem] = trimmed.flatMap((tag) => tagProblem(tag) ?? [])
  if (problem) throw new Refusal(problem, { field })
  return trimmed
}

function tagProblem(tag: string): Reason | undefined {
  const isTag = tag !== '' && isLine(tag, TAG_LENGTH_MAX) && !/[,;]/.test(tag)
  return isTag ? undefined : because('tag_form', { max: TAG_LENGTH_MAX })
}

/**
 * The tags of a CSV field as one text, in the order in which an export writes them; null for none. How many there may be
 * depends on the member: see rejectMoreTags.
 */
export function readTagField(text: string, problems: Reason[]): string | null {
  const tags = text
    .split(/[,;]/)
    .map((tag) => tag.trim())
    .filter(Boolean)
  const [problem] = tags.flatMap((tag) => tagProblem(tag) ?? [])
  if (problem) problems.push(problem)
  return [...new Set(tags)].toSorted().join(SEPARATOR) || null
}
