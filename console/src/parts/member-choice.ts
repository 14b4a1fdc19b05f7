import type { ListedMember } from '../wire.ts'

/** What is chosen, and what is typed: text without an id is somebody who is still to be found. */
export interface MemberChoice {
  id: number | null
  text: string
  /** As of when the member was chosen. */
  balance_hours?: number
}

export const NO_MEMBER: MemberChoice = { id: null, text: '' }

/** A member as if chosen from the list. */
export function choiceOf(member: Pick<ListedMember, 'id' | 'name' | 'external_id' | 'balance_hours'>): MemberChoice {
  return { id: member.id, text: nameOf(member), balance_hours: member.balance_hours }
}

export function nameOf({ name, external_id }: Pick<ListedMember, 'name' | 'external_id'>): string {
  return external_id ? `${name} (${external_id})` : name
}
